#include "protocol/event_schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "protocol/record_events.h"
#include "tests/support/folders.h"

namespace tenon::protocol {
namespace {

void expect_kept(const std::string& file, const std::string& text) {
  const std::filesystem::path path = test::source_folder() / "docs/protocol" / file;
  const char* update = std::getenv("TENON_UPDATE");
  if (update != nullptr && std::string_view(update) == "1") std::ofstream(path) << text;
  std::ifstream stream(path);
  const std::string kept{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(kept, text) << file << " differs from the table; TENON_UPDATE=1 writes it";
}

TEST(EventSchemaTest, TheDocumentsMatchTheTable) {
  expect_kept("events.schema.json", make_event_schema());
  expect_kept("events.md", make_event_reference());
}

TEST(EventSchemaTest, ReadersAcceptFurtherFieldsAndTypes) {
  const auto schema = nlohmann::json::parse(make_event_schema());
  EXPECT_EQ(schema["oneOf"].size(), schema["$defs"].size());
  for (const auto& [name, definition] : schema["$defs"].items()) {
    EXPECT_FALSE(definition.contains("additionalProperties")) << name;
    if (name == unrecognized_event) continue;
    // Exactly one definition applies to each event.
    EXPECT_EQ(definition["properties"]["type"]["const"], name);
    const auto& others = schema["$defs"][unrecognized_event]["properties"]["type"]["not"]["enum"];
    EXPECT_EQ(std::count(others.begin(), others.end(), name), 1) << name;
  }
}

TEST(EventSchemaTest, EachFieldIsDocumentedAndNamedOnce) {
  for (const EventType& type : event_types()) {
    EXPECT_FALSE(type.meaning.empty()) << type.name;
    for (const EventField& field : type.fields) {
      EXPECT_FALSE(field.meaning.empty()) << type.name << "." << field.name;
      for (const EventField& other : common_fields()) EXPECT_NE(field.name, other.name) << type.name;
      EXPECT_EQ(std::count_if(type.fields.begin(), type.fields.end(),
                              [&](const EventField& other) { return other.name == field.name; }),
                1)
          << type.name << "." << field.name;
    }
    EXPECT_EQ(find_event_kind(type.name), type.kind);
  }
}

}  // namespace
}  // namespace tenon::protocol
