#include "inference/answers/outline.h"

#include <gtest/gtest.h>

namespace tenon::inference::answers {
namespace {

using types::TypeId;
using types::TypeTable;

TEST(OutlineTest, NamesPlainTypes) {
  TypeTable types;
  EXPECT_EQ(make_outline(types, TypeTable::i64), "integer");
  EXPECT_EQ(make_outline(types, types.option(types.list(TypeTable::f64))), "[number, …] or null");
  EXPECT_EQ(make_outline(types, types.map(types.tuple({TypeTable::string, TypeTable::unit}))),
            "{\"(key)\": [string, null], …}");
  EXPECT_EQ(make_outline(types, types.make_union({"", std::vector<std::string>{"a\"", "b"}})), "\"a\\\"\" or \"b\"");
}

TEST(OutlineTest, NamesRefinements) {
  TypeTable types;
  types::Refinement range;
  range.low = std::int64_t{1};
  EXPECT_EQ(make_outline(types, types.refined(TypeTable::i32, range)), "integer of at least 1");
  range.high = std::int64_t{5};
  EXPECT_EQ(make_outline(types, types.refined(TypeTable::i32, range)), "integer from 1 to 5");
  range.high_is_exclusive = true;
  EXPECT_EQ(make_outline(types, types.refined(TypeTable::f64, range)), "number from 1 to below 5");
  types::Refinement text;
  text.length_low = 2;
  text.length_high = 4;
  text.pattern = "a+";
  EXPECT_EQ(make_outline(types, types.refined(TypeTable::string, text)), "string of 2 to 4 characters matching /a+/");
  text.pattern.reset();
  EXPECT_EQ(make_outline(types, types.refined(types.list(TypeTable::boolean), text)),
            "[true or false, …] of 2 to 4 items");
}

TEST(OutlineTest, ACountOfOneIsSingular) {
  TypeTable types;
  types::Refinement one;
  one.length_low = 1;
  const auto outline = [&](TypeId base, MessageVersion version = newest_messages) {
    AnswerShape shape;
    shape.result = types.refined(base, one);
    return make_outline(types, shape, version);
  };
  EXPECT_EQ(outline(types.list(TypeTable::boolean)), "[true or false, …] of at least 1 item");
  one.length_high = 1;
  EXPECT_EQ(outline(types.list(TypeTable::boolean)), "[true or false, …] of 1 item");
  // Runs of older programs send the request that is recorded.
  EXPECT_EQ(outline(types.list(TypeTable::boolean), MessageVersion::Second), "[true or false, …] of 1 items");
  one.length_low = 0;
  EXPECT_EQ(outline(TypeTable::string), "string of at most 1 character");
}

TEST(OutlineTest, ShowsWhatTheNameOfTheResultsTypeSays) {
  TypeTable types;
  const TypeId order = types.add_struct({"Order", "An order.", {{"id", TypeTable::string, ""}}});
  AnswerShape shape;
  shape.documentation = "An order's\n number.";
  shape.result = types.list(TypeTable::string);
  shape.wrapping = Wrapping::Wrapped;
  EXPECT_EQ(make_outline(types, shape), "{\n  \"value\": [string, …]  // An order's number.\n}");
  shape.result = order;
  shape.wrapping = Wrapping::Bare;
  EXPECT_EQ(make_outline(types, shape), "{  // An order's number.\n  \"id\": string\n}");
  shape.documentation = "";
  EXPECT_EQ(make_outline(types, shape), "{  // An order.\n  \"id\": string\n}");
}

TEST(OutlineTest, ShowsDocCommentsBesideTheirFields) {
  TypeTable types;
  const TypeId inner = types.add_struct({"Inner", "", {{"ok", TypeTable::boolean, "Whether\n it works."}}});
  const TypeId outer =
      types.add_struct({"Outer", "All of it.", {{"name", TypeTable::string, "Who."}, {"inner", inner, ""}}});
  EXPECT_EQ(make_outline(types, outer),
            "{  // All of it.\n"
            "  \"name\": string,  // Who.\n"
            "  \"inner\": {\n"
            "    \"ok\": true or false  // Whether it works.\n"
            "  }\n"
            "}");
}

TEST(OutlineTest, ShowsDocCommentsOfNamedTypesAndParameters) {
  TypeTable types;
  const TypeId team = types.make_union({"Team", std::vector<std::string>{"billing", "tech"}, "Who.", {"Money.", ""}});
  types::Refinement range;
  range.name = "Urgency";
  range.low = std::int64_t{1};
  range.documentation = "How urgent.";
  const TypeId urgency = types.refined(TypeTable::i32, range);
  AnswerShape shape;
  shape.kind = bytecode::SiteKind::Fill;
  shape.clauses.push_back({"file", {{"name", TypeTable::string, "Of the customer."}, {"team", team}}});
  shape.clauses[0].items.push_back({"urgency", types.option(urgency)});
  EXPECT_EQ(make_outline(types, shape),
            "{\n"
            "  \"name\": string,  // Of the customer.\n"
            "  \"team\": \"billing\" (Money.) or \"tech\",  // Who.\n"
            "  \"urgency\": integer of at least 1 or null  // How urgent.\n"
            "}");
  AnswerShape completion;
  completion.wrapping = Wrapping::Wrapped;
  completion.result = urgency;
  EXPECT_EQ(make_outline(types, completion), "{\n  \"value\": integer of at least 1  // How urgent.\n}");
}

/// Journals have the hashes of such requests.
TEST(OutlineTest, AnEnumsDocCommentIsNotBesideAParameter) {
  TypeTable types;
  AnswerShape shape;
  shape.kind = bytecode::SiteKind::Fill;
  shape.clauses.push_back({"file", {{"mood", types.add_enum({"Mood", "How it is.", {{"Good", "", {}}}})}}});
  EXPECT_EQ(make_outline(types, shape), "{\"mood\": \"Good\"}");
  AnswerShape completion;
  completion.wrapping = Wrapping::Wrapped;
  completion.result = shape.clauses[0].items[0].type;
  EXPECT_EQ(make_outline(types, completion), "{\"value\": \"Good\"}");
}

TEST(OutlineTest, NamesWhatRepeats) {
  TypeTable types;
  const TypeId node = types.add_struct({"Node", "", {}});
  types.mutable_struct(node).fields = {{"next", types.option(node), ""}};
  EXPECT_EQ(make_outline(types, node), "{\"next\": Node or null}\nNode is {\"next\": Node or null}");
}

TEST(OutlineTest, ShowsTheCasesOfAnEnum) {
  TypeTable types;
  const TypeId mood = types.add_enum({"Mood", "", {{"Good", "", {}}, {"Bad", "With why.", {TypeTable::string}}}});
  EXPECT_EQ(make_outline(types, mood), "\"Good\" or {\"Bad\": string} (With why.)");
  types.mutable_enum(mood).documentation = "How it is.";
  const TypeId day = types.add_struct({"Day", "", {{"mood", mood, ""}, {"count", TypeTable::i32, ""}}});
  EXPECT_EQ(make_outline(types, day),
            "{\n"
            "  \"mood\": \"Good\" or {\"Bad\": string} (With why.),  // How it is.\n"
            "  \"count\": integer\n"
            "}");
}

}  // namespace
}  // namespace tenon::inference::answers
