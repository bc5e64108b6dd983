#include "tests/support/json_schema/json_schema.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/reader.h"

namespace tenon::test {
namespace {

/// The mismatches, a line each; empty when the instance fits.
std::string check(std::string_view schema, std::string_view instance) {
  const Result<Schema, SchemaError> compiled = Schema::compile(schema);
  if (!compiled) return "schema: " + compiled.error().message;
  const Result<void, std::vector<Mismatch>> result = compiled->validate(*parse_json(instance));
  std::string out;
  if (result) return out;
  for (const Mismatch& mismatch : result.error()) out += (out.empty() ? "" : "\n") + describe(mismatch, "it");
  return out.empty() ? "no mismatch" : out;
}

SchemaError refusal(std::string_view schema) {
  const Result<Schema, SchemaError> compiled = Schema::compile(schema);
  EXPECT_FALSE(compiled.has_value()) << schema;
  return compiled ? SchemaError{} : compiled.error();
}

TEST(JsonSchemaTest, ReportsEveryMismatchWithItsLocation) {
  EXPECT_EQ(
      check(
          R"({"type":"object","properties":{"n":{"type":"integer","minimum":1},"tags":{"type":"array","items":{"enum":["a","b"]}}},)"
          R"("required":["n","who"],"additionalProperties":false})",
          R"({"n":0,"tags":["a","c"],"x":1})"),
      "n: expected a number of at least 1, found the number 0\n"
      "tags[1]: is the string \"c\", which is none of the 2 that are allowed\n"
      "x: is an unknown key\n"
      "who: is missing");
}

TEST(JsonSchemaTest, ReportsTheAlternativeThatMatchedFurthest) {
  constexpr std::string_view schema =
      R"({"anyOf":[{"type":"null"},{"type":"object","properties":{"at":{"type":"object","properties":{"x":{"type":"integer"}}}}}]})";
  EXPECT_EQ(check(schema, R"({"at":{"x":"1"}})"), "at.x: expected an integer, found the string \"1\"");
  EXPECT_EQ(check(R"({"anyOf":[{"type":"null"},{"type":"string"}]})", "1"),
            "it: is the number 1, which fits none of 2 alternatives");
  EXPECT_EQ(check(R"({"oneOf":[{"type":"number"},{"type":"integer"}]})", "1"),
            "it: is the number 1, which fits 2 of 2 alternatives instead of one");
}

TEST(JsonSchemaTest, RefusesByNameWhatItDoesNotUnderstand) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {R"({"unevaluatedProperties":false})", "unevaluatedProperties"},
      {R"({"properties":{"a":{"$dynamicRef":"#a"}}})", "$dynamicRef"},
      {R"({"minimun":1})", "minimun"},
      {R"({"$ref":"other.json"})", "$ref"},
      {R"({"$ref":"#/$defs/a"})", "$ref"},
      {R"({"$defs":{"a":{"$id":"b"}}})", "$id"},
      {R"({"$schema":"http://json-schema.org/draft-07/schema#"})", "$schema"},
      {R"j({"pattern":"(?=a)"})j", "pattern"},
      {R"({"pattern":"a{2000}"})", "pattern"},
      {R"({"$ref":"#"})", "$ref"},
      {R"({"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}})",
       "$ref"},
  };
  for (const auto& [schema, keyword] : cases) {
    const SchemaError error = refusal(schema);
    EXPECT_EQ(error.kind, SchemaError::Kind::Unsupported) << schema;
    EXPECT_EQ(error.keyword, keyword) << schema;
  }
  EXPECT_EQ(refusal(R"({"properties":{"a":{"items":{"$dynamicRef":"#a"}}}})").pointer, "/properties/a/items");
}

TEST(JsonSchemaTest, RejectsWhatIsNotASchema) {
  for (const std::string_view schema :
       {"1", "[]", R"({"type":"text"})", R"({"type":[]})", R"({"minimum":"1"})", R"({"maxLength":-1})",
        R"({"maxLength":1.5})", R"({"multipleOf":0})", R"({"anyOf":[]})", R"({"anyOf":{}})", R"({"properties":[]})",
        R"({"required":[1]})", R"({"enum":1})", R"({"items":[true]})"}) {
    EXPECT_EQ(refusal(schema).kind, SchemaError::Kind::Malformed) << schema;
  }
  EXPECT_EQ(refusal("{").kind, SchemaError::Kind::NotJson);
}

TEST(JsonSchemaTest, FollowsReferencesInEveryForm) {
  EXPECT_EQ(check(R"({"$defs":{"a/b~c d":{"type":"null"}},"$ref":"#/$defs/a~1b~0c%20d"})", "null"), "");
  EXPECT_EQ(check(R"({"$defs":{"x":{"$anchor":"there","type":"null"}},"items":{"$ref":"#there"}})", "[1]"),
            "[0]: expected null, found the number 1");
  EXPECT_EQ(check(R"({"type":"object","additionalProperties":{"$ref":"#"}})", R"({"a":{"b":{"c":1}}})"),
            "a.b.c: expected an object, found the number 1");
}

TEST(JsonSchemaTest, ComparesIntegersOf64BitsExactly) {
  EXPECT_EQ(check(R"({"maximum":9007199254740992})", "9007199254740992"), "");
  EXPECT_NE(check(R"({"maximum":9007199254740992})", "9007199254740993"), "");
  EXPECT_NE(check(R"({"const":9223372036854775807})", "9223372036854775806"), "");
}

// Each level tries the next one twice: 2^40 steps without a limit.
TEST(JsonSchemaTest, GivesUpWhereAlternativesMultiply) {
  std::string definitions = R"("$defs":{)";
  for (int level = 0; level < 40; ++level) {
    definitions += fmt::format(R"("a{}":{{"anyOf":[{{"$ref":"#/$defs/a{}"}},{{"$ref":"#/$defs/a{}"}}]}},)", level,
                               level + 1, level + 1);
  }
  definitions += R"("a40":{"not":{"type":"null"}}}})";
  const std::string schema = R"({"$ref":"#/$defs/a0",)" + definitions;
  EXPECT_NE(check(schema, "null").find("takes more than"), std::string::npos);
  EXPECT_EQ(check(schema, "1"), "");
  // A check that is given up inside of `not` accepts nothing either.
  EXPECT_NE(check(R"({"not":{"$ref":"#/$defs/a0"},)" + definitions, "null").find("takes more than"), std::string::npos);
}

TEST(JsonSchemaTest, ALongChainOfReferencesEndsAtItsLimit) {
  std::string schema = R"({"$ref":"#/$defs/a0","$defs":{)";
  constexpr int length = 20'000;
  for (int level = 0; level < length; ++level)
    schema += fmt::format(R"("a{}":{{"$ref":"#/$defs/a{}"}},)", level, level + 1);
  schema += fmt::format(R"("a{}":true}}}})", length);
  EXPECT_NE(check(schema, "null").find("nests deeper"), std::string::npos);
}

TEST(JsonSchemaTest, ManyItemsAreComparedInTime) {
  std::string items = "[0";
  for (int item = 1; item < 200'000; ++item) items += "," + std::to_string(item);
  EXPECT_EQ(check(R"({"uniqueItems":true})", items + "]"), "");
  EXPECT_EQ(check(R"({"uniqueItems":true})", R"([{"a":1,"b":2},{"b":2.0,"a":1}])"),
            "it: has equal items, 0 and 1, where all must differ");
}

}  // namespace
}  // namespace tenon::test
