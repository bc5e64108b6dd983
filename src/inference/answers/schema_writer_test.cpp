#include "inference/answers/schema_writer.h"

#include <gtest/gtest.h>

#include "inference/answers/answer_shape.h"
#include "inference/answers/constraints.h"
#include "inference/answers/key_words.h"
#include "inference/answers/named_types.h"
#include "inference/answers/value_reader.h"
#include "inference/decoding/constraint.h"
#include "json/json.h"
#include "json/reader.h"
#include "tests/support/json_schema/json_schema.h"
#include "types/table/type_parts.h"
#include "vm/values/render.h"

namespace tenon::inference::answers {
namespace {

using types::TypeId;
using types::TypeTable;

class SchemaWriterTest : public testing::Test {
 protected:
  std::string schema(TypeId type) const { return make_schema(types_, type); }

  TypeId refine(TypeId base, types::Refinement refinement) { return types_.refined(base, std::move(refinement)); }

  TypeTable types_;
};

TEST_F(SchemaWriterTest, BoundsEveryNumber) {
  EXPECT_EQ(schema(TypeTable::i32), R"({"type":"integer","minimum":-2147483648,"maximum":2147483647})");
  EXPECT_EQ(schema(TypeTable::i64),
            R"({"type":"integer","minimum":-9223372036854774784,"maximum":9223372036854774784})");
  EXPECT_EQ(schema(TypeTable::f64),
            R"({"type":"number","minimum":-9223372036854774784,"maximum":9223372036854774784})");
}

TEST_F(SchemaWriterTest, HasAllNumbersWhereAskedTo) {
  const auto all = [this](TypeId type) { return make_schema(types_, type, UnlimitedNumbers::All); };
  EXPECT_EQ(all(TypeTable::i32), R"({"type":"integer","minimum":-2147483648,"maximum":2147483647})");
  EXPECT_EQ(all(TypeTable::i64), R"({"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807})");
  EXPECT_EQ(all(TypeTable::f64), R"({"type":"number"})");
  EXPECT_EQ(all(types_.list(TypeTable::f64)), R"({"type":"array","items":{"type":"number"}})");
  // A person can answer with each of them, and decide so about an interrupted call.
  EXPECT_EQ(make_question_schema(types_, TypeTable::i64), all(TypeTable::i64));
  EXPECT_NE(make_verdict_schema(types_, TypeTable::i64).find(all(TypeTable::i64)), std::string::npos);
}

TEST_F(SchemaWriterTest, TheBoundsAreExactAsDoubles) {
  EXPECT_EQ(static_cast<std::int64_t>(static_cast<double>(schema_number_max)), schema_number_max);
}

TEST_F(SchemaWriterTest, WritesPlainTypes) {
  EXPECT_EQ(schema(TypeTable::boolean), R"({"type":"boolean"})");
  EXPECT_EQ(schema(TypeTable::unit), R"({"type":"null"})");
  EXPECT_EQ(schema(TypeTable::string), R"({"type":"string"})");
  EXPECT_EQ(schema(types_.text("Analysis")), R"({"type":"string"})");
  EXPECT_EQ(schema(types_.list(TypeTable::boolean)), R"({"type":"array","items":{"type":"boolean"}})");
  EXPECT_EQ(schema(types_.map(TypeTable::string)), R"({"type":"object","additionalProperties":{"type":"string"}})");
}

TEST_F(SchemaWriterTest, WritesATupleWithItsExactLength) {
  EXPECT_EQ(
      schema(types_.tuple({TypeTable::string, TypeTable::boolean})),
      R"({"type":"array","prefixItems":[{"type":"string"},{"type":"boolean"}],"items":false,"minItems":2,"maxItems":2})");
}

TEST_F(SchemaWriterTest, WritesAnOptionAsTheValueOrNull) {
  const TypeId option = types_.option(TypeTable::string);
  EXPECT_EQ(schema(option), R"({"anyOf":[{"type":"string"},{"type":"null"}]})");
  EXPECT_EQ(schema(types_.option(option)), schema(option));
  EXPECT_EQ(schema(types_.option(TypeTable::unit)), R"({"type":"null"})");
}

TEST_F(SchemaWriterTest, WritesUnionsOfLiterals) {
  EXPECT_EQ(schema(types_.make_union({"Area", std::vector<std::string>{"billing", "tech"}})),
            R"({"type":"string","enum":["billing","tech"]})");
  EXPECT_EQ(schema(types_.make_union({"", std::vector<std::int64_t>{1, -2}})), R"({"type":"integer","enum":[1,-2]})");
}

TEST_F(SchemaWriterTest, WritesRefinements) {
  EXPECT_EQ(schema(refine(TypeTable::i32, {.name = {},
                                           .low = std::int64_t{1},
                                           .high = std::int64_t{5},
                                           .length_low = {},
                                           .length_high = {},
                                           .pattern = {}})),
            R"({"type":"integer","minimum":1,"maximum":5})");
  EXPECT_EQ(schema(refine(TypeTable::f64, {.name = {},
                                           .low = 0.0,
                                           .high = 1.0,
                                           .high_is_exclusive = true,
                                           .length_low = {},
                                           .length_high = {},
                                           .pattern = {}})),
            R"({"type":"number","minimum":0,"exclusiveMaximum":1})");
  const TypeId word =
      refine(TypeTable::string,
             {.name = {}, .low = {}, .high = {}, .length_low = 1, .length_high = 80, .pattern = "[a-z]+|x"});
  EXPECT_EQ(schema(word), R"({"type":"string","minLength":1,"maxLength":80,"pattern":"^(?:[a-z]+|x)$"})");
  EXPECT_EQ(schema(refine(types_.list(word),
                          {.name = {}, .low = {}, .high = {}, .length_low = 0, .length_high = 3, .pattern = {}})),
            R"({"type":"array","items":)" + schema(word) + R"(,"maxItems":3})");
}

TEST_F(SchemaWriterTest, JoinsRefinementsOfRefinements) {
  const TypeId word = refine(
      TypeTable::string, {.name = "Word", .low = {}, .high = {}, .length_low = 2, .length_high = 9, .pattern = "a.*"});
  EXPECT_EQ(
      schema(refine(word, {.name = {}, .low = {}, .high = {}, .length_low = 1, .length_high = 5, .pattern = ".*b"})),
      R"({"type":"string","minLength":2,"maxLength":5,"pattern":"^(?:.*b)$",)"
      R"("allOf":[{"type":"string","pattern":"^(?:a.*)$"}]})");
}

TEST_F(SchemaWriterTest, ARangeBeyondWhatSchemasCarryKeepsItsOwnBounds) {
  const std::int64_t low = INT64_MAX - 5;
  EXPECT_EQ(schema(refine(TypeTable::i64,
                          {.name = {}, .low = low, .high = {}, .length_low = {}, .length_high = {}, .pattern = {}})),
            R"({"type":"integer","minimum":9223372036854775802,"maximum":9223372036854775807})");
}

TEST_F(SchemaWriterTest, WritesAStructWithItsWords) {
  const TypeId area = types_.add_enum({"Area", "Where it hurts.", {{"Billing", "", {}}, {"Tech", "", {}}}});
  const TypeId ticket = types_.add_struct(
      {"Ticket",
       "One request.",
       {{"title", TypeTable::string, "In a few words."}, {"area", area, "The team."}, {"other", area, ""}}});
  EXPECT_EQ(schema(ticket),
            R"({"type":"object","properties":{"title":{"type":"string","description":"In a few words."},)"
            R"("area":{"anyOf":[{"$ref":"#/$defs/Area"}],"description":"The team."},"other":{"$ref":"#/$defs/Area"}},)"
            R"("required":["title","area","other"],"additionalProperties":false,"description":"One request.",)"
            R"("$defs":{"Area":{"type":"string","enum":["Billing","Tech"],"description":"Where it hurts."}}})");
}

TEST_F(SchemaWriterTest, AFieldsWordsStandForItsTypesWords) {
  const TypeId area = types_.add_enum({"Area", "Where it hurts.", {{"Billing", "", {}}}});
  const TypeId ticket = types_.add_struct({"Ticket", "", {{"area", area, "The team."}}});
  EXPECT_EQ(schema(ticket),
            R"({"type":"object","properties":{"area":{"type":"string","enum":["Billing"],"description":"The team."}},)"
            R"("required":["area"],"additionalProperties":false})");
}

TEST_F(SchemaWriterTest, DocCommentsOfNamedTypesAndAlternativesAreDescriptions) {
  const TypeId team =
      types_.make_union({"Team", std::vector<std::string>{"billing", "tech"}, "Who.", {"", "Machines."}});
  EXPECT_EQ(schema(team), R"({"anyOf":[{"type":"string","enum":["billing"]},)"
                          R"({"type":"string","const":"tech","description":"Machines."}],"description":"Who."})");
  const TypeId level = types_.make_union({"Level", std::vector<std::int64_t>{1, 2}, "How much.", {}});
  EXPECT_EQ(schema(level), R"({"type":"integer","enum":[1,2],"description":"How much."})");
  types::Refinement range;
  range.name = "Urgency";
  range.low = std::int64_t{1};
  range.high = std::int64_t{3};
  range.documentation = "How urgent.";
  const TypeId urgency = refine(TypeTable::i32, range);
  EXPECT_EQ(schema(urgency), R"({"type":"integer","minimum":1,"maximum":3,"description":"How urgent."})");
  EXPECT_EQ(make_schema(types_, urgency, UnlimitedNumbers::Bounded, "Of the ticket."),
            R"({"type":"integer","minimum":1,"maximum":3,"description":"Of the ticket."})");
}

/// Two parameters may list the same literals and mean different things by them.
TEST_F(SchemaWriterTest, AlternativesWithOtherDocCommentsAreOtherTypes) {
  const TypeId plain = types_.make_union({"", std::vector<std::int64_t>{1, 2}});
  const TypeId documented = types_.make_union({"", std::vector<std::int64_t>{1, 2}, "", {"Low.", "High."}});
  EXPECT_NE(plain, documented);
  EXPECT_EQ(schema(plain), R"({"type":"integer","enum":[1,2]})");
}

TEST_F(SchemaWriterTest, WritesAnEnumsPayloadsUnderTheirCase) {
  const TypeId mood = types_.add_enum({"Mood",
                                       "",
                                       {{"Good", "", {}},
                                        {"Bad", "With the reason.", {TypeTable::string}},
                                        {"Fine", "", {}},
                                        {"Mixed", "", {TypeTable::boolean, TypeTable::string}},
                                        {"Odd", "Neither.", {}}}});
  EXPECT_EQ(
      schema(mood),
      R"({"anyOf":[{"type":"string","enum":["Good","Fine"]},)"
      R"({"type":"object","properties":{"Bad":{"type":"string"}},"required":["Bad"],"additionalProperties":false,)"
      R"("description":"With the reason."},)"
      R"({"type":"object","properties":{"Mixed":{"type":"array","prefixItems":[{"type":"boolean"},{"type":"string"}],)"
      R"("items":false,"minItems":2,"maxItems":2}},"required":["Mixed"],"additionalProperties":false},)"
      R"({"type":"string","const":"Odd","description":"Neither."}]})");
}

TEST_F(SchemaWriterTest, AnEnumWithoutCasesHasNoValues) {
  EXPECT_EQ(schema(types_.add_enum({"Nothing", "", {}})), R"({"not":{}})");
  EXPECT_EQ(schema(types_.add_enum({"Never", "Cannot be.", {}})), R"({"not":{},"description":"Cannot be."})");
}

TEST_F(SchemaWriterTest, AResultIsAsToJsonWritesIt) {
  for (const TypeId success : {TypeTable::i32, TypeTable::unit, types_.option(types_.result(TypeTable::boolean))}) {
    const Json written = *parse_json(schema(types_.result(success)));
    const auto& alternatives = written.find("anyOf")->items();
    ASSERT_EQ(alternatives.size(), 2U);
    EXPECT_EQ(alternatives[0].dump(JsonForm::Shortest), R"({"type":"object","properties":{"Ok":)" + schema(success) +
                                                            R"(},"required":["Ok"],"additionalProperties":false})");
    EXPECT_EQ(alternatives[1].dump(JsonForm::Shortest), R"({"type":"object","properties":{"Err":)" +
                                                            schema(TypeTable::failure) +
                                                            R"(},"required":["Err"],"additionalProperties":false})");
  }
}

TEST_F(SchemaWriterTest, AResultsSchemaAcceptsItsValues) {
  const auto checked = test::Schema::compile(*parse_json(schema(types_.list(types_.result(TypeTable::i32)))));
  ASSERT_TRUE(checked.has_value()) << checked.error().message;
  std::string text;
  const vm::Value values =
      vm::Value::list({vm::Value::ok(vm::Value::integer(2)),
                       vm::Value::err(vm::Value::failure(types::FailureKind::Arithmetic, "m", "p", "b"))});
  ASSERT_TRUE(vm::to_json(values, types_, text).has_value());
  EXPECT_TRUE(checked->validate(*parse_json(text)).has_value()) << text;
  EXPECT_FALSE(checked->validate(*parse_json("[2]")).has_value());
}

TEST_F(SchemaWriterTest, WritesARecursiveTypeThroughItsName) {
  const TypeId node = types_.add_struct({"Node", "", {}});
  types_.mutable_struct(node).fields = {{"name", TypeTable::string, ""}, {"children", types_.list(node), ""}};
  const std::string body =
      R"("type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/Node"}}},)"
      R"("required":["name","children"],"additionalProperties":false)";
  EXPECT_EQ(schema(node), "{" + body + R"(,"$defs":{"Node":{)" + body + "}}}");
}

TEST_F(SchemaWriterTest, TypesOfOneNameGetDifferentNames) {
  const TypeId a = types_.add_struct({"Pair<i32>", "", {{"a", TypeTable::i32, ""}}});
  const TypeId b = types_.add_struct({"Pair_i32_", "", {{"b", TypeTable::boolean, ""}}});
  const std::string text = schema(types_.tuple({a, b, a, b}));
  EXPECT_NE(text.find(R"("Pair_i32_":{)"), std::string::npos);
  EXPECT_NE(text.find(R"("Pair_i32__2":{)"), std::string::npos);
}

// Each level uses the one below twice: written out, the schema would have 2^60 parts.
TEST_F(SchemaWriterTest, StaysLinearWhereTypesRepeat) {
  TypeId type = TypeTable::boolean;
  for (int level = 0; level < 60; ++level) type = types_.tuple({type, type});
  EXPECT_LT(schema(type).size(), 20'000U);
}

TEST_F(SchemaWriterTest, StaysFlatHoweverDeepATypeIs) {
  TypeId type = TypeTable::boolean;
  for (int level = 0; level < 2'000; ++level) {
    type = level % 2 == 0 ? types_.add_struct({"Level", "", {{"inner", type, ""}}}) : types_.list(type);
  }
  Result<Json, JsonError> parsed = parse_json(schema(type));
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
}

TEST_F(SchemaWriterTest, FindsWhatNoModelCanGive) {
  const TypeId inner = types_.add_struct({"Inner", "", {{"context", TypeTable::context, ""}}});
  EXPECT_EQ(types::find_unanswerable(types_, types_.list(inner)), TypeTable::context);
  EXPECT_FALSE(types::find_unanswerable(types_, TypeTable::failure).exists());
  const TypeId empty = types_.add_enum({"Nothing", "", {}});
  EXPECT_EQ(types::find_unanswerable(types_, types_.option(empty)), empty);
}

class AnswerShapeTest : public testing::Test {
 protected:
  AnswerShapeTest() {
    bytecode::Function function;
    function.name = "is_ready<Invoice>";
    program_.functions.push_back(function);
  }

  bytecode::Site completion(TypeId type) const {
    bytecode::Site site;
    site.result = type;
    return site;
  }

  static bytecode::CallShape call(std::string name) {
    return {.name = name,
            .documentation = "Adds.",
            .signature = name + "(x: i32, y: Boolean) -> i32",
            .parameter_names = {"ctx", "x", "y"},
            .parameters = {TypeTable::context, TypeTable::i32, TypeTable::boolean},
            .holes = {1, 2}};
  }

  bytecode::Program program_;
};

TEST_F(AnswerShapeTest, TextsAreAskedForAsText) {
  const TypeId text = program_.types.text("Analysis");
  for (const TypeId type :
       {TypeTable::string, text,
        program_.types.refined(
            text, {.name = {}, .low = {}, .high = {}, .length_low = 1, .length_high = {}, .pattern = {}})}) {
    const AnswerShape shape = make_answer_shape(program_, completion(type));
    EXPECT_EQ(shape.form, AnswerForm::Text);
    EXPECT_EQ(shape.schema, nullptr);
  }
}

TEST_F(AnswerShapeTest, WrapsValuesThatAreNotObjects) {
  const AnswerShape shape = make_answer_shape(program_, completion(TypeTable::boolean));
  EXPECT_EQ(shape.wrapping, Wrapping::Wrapped);
  EXPECT_EQ(
      shape.schema->json_schema,
      R"({"type":"object","properties":{"value":{"type":"boolean"}},"required":["value"],"additionalProperties":false})");
  EXPECT_EQ(shape.outline, R"({"value": true or false})");
  EXPECT_EQ(shape.schema->name.substr(0, 18), "is_ready_Invoice__");
  EXPECT_EQ(shape.schema->name.size(), 26U);
}

TEST_F(AnswerShapeTest, DescribesTheResultWithTheWordsOfItsTypesName) {
  program_.functions[0].result_documentation = "How long.";
  const AnswerShape shape = make_answer_shape(program_, completion(TypeTable::boolean));
  EXPECT_NE(shape.schema->json_schema.find(R"("value":{"type":"boolean","description":"How long."})"),
            std::string::npos);
  EXPECT_EQ(shape.outline, "{\n  \"value\": true or false  // How long.\n}");
  EXPECT_EQ(list_key_words(program_.types, shape), (std::vector<KeyWords>{{"", "How long."}}));
  const TypeId type = program_.types.add_struct({"Point", "A point.", {{"x", TypeTable::boolean, ""}}});
  const AnswerShape bare = make_answer_shape(program_, completion(type));
  EXPECT_NE(bare.schema->json_schema.find(R"("description":"How long.")"), std::string::npos);
}

TEST_F(AnswerShapeTest, AStructIsTheObjectItself) {
  const TypeId type = program_.types.add_struct({"Point", "", {{"x", TypeTable::boolean, ""}}});
  const AnswerShape shape = make_answer_shape(program_, completion(type));
  EXPECT_EQ(shape.wrapping, Wrapping::Bare);
  EXPECT_EQ(shape.schema->json_schema, make_schema(program_.types, type));
}

TEST_F(AnswerShapeTest, AFillIsAnObjectOfTheMissingArguments) {
  bytecode::Site site;
  site.kind = bytecode::SiteKind::Fill;
  site.call = call("add");
  site.call.holes = {2};
  const AnswerShape shape = make_answer_shape(program_, site);
  EXPECT_EQ(shape.schema->json_schema,
            R"({"type":"object","properties":{"y":{"type":"boolean"}},"required":["y"],"additionalProperties":false,)"
            R"("description":"Adds."})");
  EXPECT_EQ(shape.outline, R"({"y": true or false})");
}

TEST_F(AnswerShapeTest, ASelectIsOneCallOfSeveral) {
  bytecode::Site site;
  site.kind = bytecode::SiteKind::Select;
  site.is_short = true;
  site.clauses = {{call("add"), "sum", false}, {{}, "", true}};
  site.clauses[0].call.holes = {2};
  const AnswerShape shape = make_answer_shape(program_, site);
  EXPECT_EQ(
      shape.schema->json_schema,
      R"({"type":"object","properties":{"call":{"anyOf":[)"
      R"({"type":"object","properties":{"function":{"type":"string","const":"add"},)"
      R"("arguments":{"type":"object","properties":{"y":{"type":"boolean"}},"required":["y"],"additionalProperties":false}},)"
      R"("required":["function","arguments"],"additionalProperties":false,"description":"Adds."},)"
      R"({"type":"object","properties":{"function":{"type":"string","const":"else"}},)"
      R"("required":["function"],"additionalProperties":false}]}},)"
      R"("required":["call"],"additionalProperties":false})");
  EXPECT_EQ(shape.outline,
            "{\"call\": {\"function\": \"add\", \"arguments\": {\"y\": true or false}}}\n"
            "or {\"call\": {\"function\": \"else\"}}");
}

TEST_F(AnswerShapeTest, AnOlderProgramsSelectKeepsItsForm) {
  bytecode::Site site;
  site.kind = bytecode::SiteKind::Select;
  site.clauses = {{call("add"), "sum", false}, {{}, "", true}};
  site.clauses[0].call.holes = {2};
  const AnswerShape shape = make_answer_shape(program_, site);
  EXPECT_EQ(
      shape.schema->json_schema,
      R"({"type":"object","properties":{"call":{"anyOf":[)"
      R"({"type":"object","properties":{"function":{"type":"string","const":"add"},"choice":{"type":"integer","const":0},)"
      R"("arguments":{"type":"object","properties":{"y":{"type":"boolean"}},"required":["y"],"additionalProperties":false}},)"
      R"("required":["function","choice","arguments"],"additionalProperties":false,"description":"Adds."},)"
      R"({"type":"object","properties":{"function":{"type":"string","const":"else"},"choice":{"type":"integer","const":1},)"
      R"("arguments":{"type":"object","properties":{},"required":[],"additionalProperties":false}},)"
      R"("required":["function","choice","arguments"],"additionalProperties":false}]}},)"
      R"("required":["call"],"additionalProperties":false})");
  EXPECT_EQ(shape.outline,
            "{\"call\": {\"function\": \"add\", \"choice\": 0, \"arguments\": {\"y\": true or false}}}\n"
            "or {\"call\": {\"function\": \"else\", \"choice\": 1, \"arguments\": {}}}");
}

TEST_F(AnswerShapeTest, TwoClausesOfOneFunctionHaveNumbers) {
  bytecode::Site site;
  site.kind = bytecode::SiteKind::Select;
  site.is_short = true;
  site.clauses = {{call("add"), "a", false}, {call("subtract"), "b", false}, {call("add"), "c", false}};
  for (auto& clause : site.clauses) clause.call.holes.clear();
  EXPECT_EQ(make_answer_shape(program_, site).outline,
            "{\"call\": {\"function\": \"add\", \"choice\": 0}}\n"
            "or {\"call\": {\"function\": \"subtract\"}}\n"
            "or {\"call\": {\"function\": \"add\", \"choice\": 2}}");
}

/// A vocabulary of the 256 bytes and an end.
decoding::Vocabulary make_byte_vocabulary() {
  decoding::Vocabulary vocabulary;
  for (int byte = 0; byte < 256; ++byte) vocabulary.tokens.emplace_back(1, static_cast<char>(byte));
  vocabulary.tokens.emplace_back("\xff<end>");
  vocabulary.end = 256;
  vocabulary.tokenize = [](std::string_view text) {
    std::vector<decoding::Token> tokens;
    for (const char character : text) tokens.push_back(static_cast<unsigned char>(character));
    return tokens;
  };
  return vocabulary;
}

/// Three readings of one type must agree: the schema's, the reader's, and that of the mask over the model's tokens.
class AgreementTest : public testing::Test {
 protected:
  AgreementTest() : compiler_(std::move(*decoding::ConstraintCompiler::open(make_byte_vocabulary()))) {
    types::Refinement small;
    small.low = std::int64_t{-3};
    small.high = std::int64_t{7};
    types::Refinement share;
    share.low = 0.0;
    share.high = 1.0;
    share.high_is_exclusive = true;
    types::Refinement word;
    word.length_low = 1;
    word.length_high = 3;
    word.pattern = "[a-zé]*";
    types::Refinement few;
    few.length_low = 1;
    few.length_high = 2;
    const TypeId mood = types_.add_enum(
        {"Mood",
         "",
         {{"Good", "", {}}, {"Bad", "Why.", {TypeTable::string}}, {"Both", "", {TypeTable::i32, TypeTable::boolean}}}});
    const TypeId node = types_.add_struct({"Node", "", {}});
    types_.mutable_struct(node).fields = {{"a", TypeTable::i32, ""}, {"next", types_.option(node), "The next."}};
    const TypeId refined_word = types_.refined(TypeTable::string, word);
    checked_ = {TypeTable::unit,
                TypeTable::boolean,
                TypeTable::i32,
                TypeTable::i64,
                TypeTable::f64,
                TypeTable::string,
                types_.refined(TypeTable::i32, small),
                types_.refined(TypeTable::f64, share),
                refined_word,
                types_.list(refined_word),
                types_.refined(types_.list(TypeTable::boolean), few),
                types_.map(TypeTable::i32),
                types_.option(TypeTable::f64),
                types_.tuple({TypeTable::i32, TypeTable::string}),
                types_.make_union({"", std::vector<std::string>{"a", "abc"}}),
                types_.make_union({"", std::vector<std::int64_t>{-3, 7}}),
                mood,
                node,
                types_.list(types_.option(mood))};
  }

  /// Whether the text can be written under the mask, as a whole answer.
  bool admits(decoding::Constraint constraint, std::string_view text) const {
    for (const char character : text) {
      const auto token = static_cast<decoding::Token>(static_cast<unsigned char>(character));
      const auto mask = constraint.compute_mask();
      if (!mask || ((((*mask)[static_cast<std::size_t>(token) / 32] >> (token % 32)) & 1U) == 0)) return false;
      if (!constraint.accept({{token}})) return false;
    }
    return constraint.may_end();
  }

  TypeTable types_;
  std::vector<TypeId> checked_;
  std::unique_ptr<decoding::ConstraintCompiler> compiler_;
};

TEST_F(AgreementTest, SchemaReaderAndMaskTakeTheSameInstances) {
  const std::vector<std::string_view> instances = {"null",
                                                   "true",
                                                   "false",
                                                   "0",
                                                   "-3",
                                                   "7",
                                                   "8",
                                                   "2147483647",
                                                   "2147483648",
                                                   "-9223372036854774784",
                                                   "9223372036854774784",
                                                   "0.5",
                                                   "0.999",
                                                   "1",
                                                   "-0.5",
                                                   "\"\"",
                                                   "\"a\"",
                                                   "\"abc\"",
                                                   "\"éé\"",
                                                   "\"abcd\"",
                                                   "\"A\"",
                                                   "\"Good\"",
                                                   "\"Bad\"",
                                                   "\"good\"",
                                                   "[]",
                                                   "[true]",
                                                   "[true,false]",
                                                   "[true,false,true]",
                                                   "[\"a\",\"abc\"]",
                                                   "[\"abcd\"]",
                                                   "[1,\"a\"]",
                                                   "[1]",
                                                   "[1,\"a\",1]",
                                                   "[null,\"Good\"]",
                                                   "{}",
                                                   "{\"a\":1}",
                                                   "{\"a\":1,\"b\":2}",
                                                   "{\"a\":\"x\"}",
                                                   "{\"Bad\":\"x\"}",
                                                   "{\"Bad\":1}",
                                                   "{\"Both\":[1,true]}",
                                                   "{\"Both\":[1]}",
                                                   "{\"Good\":null}",
                                                   "{\"a\":1,\"next\":null}",
                                                   "{\"a\":1,\"next\":{\"a\":2,\"next\":null}}",
                                                   "{\"a\":1,\"next\":5}",
                                                   "{\"a\":1,\"next\":null,\"b\":1}",
                                                   "[{\"Bad\":\"x\"},null]"};
  const vm::Refinements refinements(types_);
  const ValueReader reader(refinements);
  std::size_t accepted = 0;
  for (const TypeId type : checked_) {
    const std::string text = make_schema(types_, type);
    const auto schema = test::Schema::compile(std::string_view(text));
    ASSERT_TRUE(schema.has_value()) << text << ": " << schema.error().message;
    const auto constraint = compiler_->compile(text);
    ASSERT_TRUE(constraint.has_value()) << text << ": " << constraint.error().message;
    for (const std::string_view instance : instances) {
      const Json json = *parse_json(instance);
      const bool is_read = reader.read(type, json).has_value();
      // The one liberty of the reader: an absent key of an Option is None.
      const bool lacks_option = instance == "{\"a\":1}" && types_.kind(type) == types::TypeKind::Struct;
      EXPECT_EQ(schema->validate(json).has_value(), is_read && !lacks_option) << text << " with " << instance;
      EXPECT_EQ(admits(constraint->clone(), instance), is_read && !lacks_option) << text << " with " << instance;
      accepted += is_read ? 1U : 0U;
    }
  }
  EXPECT_GT(accepted, 60U);
}

TEST_F(AnswerShapeTest, TheMaskAcceptsEachKindOfAnswer) {
  const auto compiler = decoding::ConstraintCompiler::open(make_byte_vocabulary());
  bytecode::Site select;
  select.kind = bytecode::SiteKind::Select;
  select.is_short = true;
  select.clauses = {{call("add"), "sum", false}, {call("subtract"), "difference", false}, {{}, "", true}};
  auto constraint = (*compiler)->compile(make_answer_shape(program_, select).schema->json_schema);
  ASSERT_TRUE(constraint.has_value()) << constraint.error().message;
  // The first that the model decides is the function; the keys follow from it.
  const auto forced_text = [&] {
    std::string text;
    const auto forced = constraint->compute_forced();
    if (!forced) return forced.error().message;
    for (const decoding::Token token : *forced) {
      text += static_cast<char>(static_cast<unsigned char>(token));
    }
    return text;
  };
  const auto write = [&](std::string_view text) {
    const std::vector<decoding::Token> tokens = make_byte_vocabulary().tokenize(text);
    return constraint->accept(tokens).has_value();
  };
  EXPECT_EQ(forced_text(), R"({"call":{"function":")");
  ASSERT_TRUE(write(R"({"call":{"function":"s)"));
  EXPECT_EQ(forced_text(), R"(ubtract","arguments":{"x":)");
}

}  // namespace
}  // namespace tenon::inference::answers
