#include "server/openapi.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/support/folders.h"

namespace tenon::server {
namespace {

/// The names of all schemas to which a part of the document refers.
void collect_references(const Json& json, std::set<std::string>& names) {
  static constexpr std::string_view start = "#/components/schemas/";
  if (json.is_object()) {
    for (const JsonMember& member : json.members()) {
      if (member.name == "$ref") names.insert(member.value.as_string().substr(start.size()));
      collect_references(member.value, names);
    }
  }
  for (const Json& item : json.items_or_none()) collect_references(item, names);
}

TEST(OpenapiTest, TheKeptDocumentIsThatOfTheTables) {
  const std::string text = make_openapi(StudioRoutes::Listed).dump(JsonForm::Pretty) + "\n";
  const auto path = test::source_folder() / "docs/protocol/openapi.json";
  const char* const update = std::getenv("TENON_UPDATE");
  if (update != nullptr && std::string_view(update) == "1") std::ofstream(path) << text;
  std::ifstream stream(path);
  const std::string kept{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_TRUE(kept == text) << path << " differs from the tables; TENON_UPDATE=1 writes it";
}

TEST(OpenapiTest, EachReferenceLeadsToASchemaAndEachSchemaIsUsed) {
  const Json document = make_openapi(StudioRoutes::Listed);
  std::set<std::string> names;
  collect_references(document, names);
  const Json& schemas = document.get("components").get("schemas");
  for (const std::string& name : names) EXPECT_TRUE(schemas.contains(name)) << name;
  for (const JsonMember& schema : schemas.members()) EXPECT_TRUE(names.contains(schema.name)) << schema.name;
}

TEST(OpenapiTest, OnlyAStudioHasTheRoutesOfItsPage) {
  EXPECT_TRUE(make_openapi(StudioRoutes::Listed).get("paths").contains("/assets/{file}"));
  EXPECT_FALSE(make_openapi(StudioRoutes::LeftOut).get("paths").contains("/assets/{file}"));
}

}  // namespace
}  // namespace tenon::server
