#include "server/request_fields.h"

#include <gmock/gmock.h>

#include "json/reader.h"

namespace tenon::server {
namespace {

using Use = RequestField::Use;

Json parsed(std::string_view text) {
  auto json = parse_json(text);
  EXPECT_TRUE(json.has_value()) << text;
  return json ? std::move(*json) : Json();
}

constexpr RequestField fields[] = {
    {"model", Use::Read},
    {"user", Use::Ignored},
    {"n", Use::Neutral, "[1]", "a run has one answer"},
    {"stop", Use::Neutral},
    {"text", Use::Neutral, R"([{},{"format":{"type":"text"}}])"},
};

/// `param: code` of the problem; empty when there is none.
std::string problem_with(std::string_view body) {
  const auto problem = find_field_problem(parsed(body), fields);
  return problem ? problem->param + ": " + problem->code : "";
}

TEST(RequestFieldsTest, EachFieldIsReadIgnoredNeutralOrRefused) {
  for (const std::string_view body :
       {R"({})", R"({"model":3})", R"({"user":{"a":[1]}})", R"({"n":1})", R"({"n":1.0})", R"({"n":null,"stop":null})",
        R"({"text":{}})", R"({"text":{"format":{"type":"text","name":null},"verbosity":null}})"}) {
    EXPECT_EQ(problem_with(body), "") << body;
  }
  EXPECT_EQ(problem_with(R"({"n":2})"), "n: unsupported_value");
  EXPECT_EQ(problem_with(R"({"n":"1"})"), "n: unsupported_value");
  EXPECT_EQ(problem_with(R"({"model":1,"stop":[]})"), "stop: unsupported_parameter");
  EXPECT_EQ(problem_with(R"({"text":{"format":{"type":"json_object"}}})"), "text: unsupported_value");
  EXPECT_EQ(problem_with(R"({"modle":1})"), "modle: unknown_parameter");
  EXPECT_THAT(find_field_problem(parsed(R"({"modle":1})"), fields)->message, testing::HasSubstr("mean `model`"));
  EXPECT_EQ(find_field_problem(parsed(R"({"n":2})"), fields, "options.")->message,
            "this value of `options.n` is not supported: a run has one answer");
}

TEST(RequestFieldsTest, FlagsAndStringsHaveTheirType) {
  const Json body = parsed(R"({"yes":true,"none":null,"text":"a","number":1})");
  EXPECT_TRUE(*read_flag(body, "yes"));
  EXPECT_FALSE(*read_flag(body, "none"));
  EXPECT_FALSE(*read_flag(body, "missing"));
  EXPECT_EQ(read_flag(body, "text").error().param, "text");
  EXPECT_EQ(*read_string(body, "text"), "a");
  EXPECT_EQ(*read_string(body, "none"), "");
  EXPECT_EQ(read_string(body, "number").error().status, 422);
}

/// The text, or `param` of the problem.
std::string said(std::string_view messages, const MessageFormat& format = {"messages"}) {
  const Json list = parsed(messages);
  const auto text = read_user_text(&list, format);
  return text ? *text : "! " + text.error().param;
}

TEST(RequestFieldsTest, TheLastUserMessageIsTheInput) {
  EXPECT_EQ(said(R"([{"role":"user","content":"a"}])"), "a");
  EXPECT_EQ(said(R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}])"), "ab");
  EXPECT_EQ(said(R"([])"), "! messages");
  EXPECT_EQ(said(R"({})"), "! messages");
  EXPECT_EQ(said(R"([{"role":"user"}])"), "! messages[0].content");
  EXPECT_EQ(said(R"([{"role":"user","content":[]}])"), "! messages[0].content");
  EXPECT_EQ(said(R"([3])"), "! messages[0]");
  EXPECT_EQ(said(R"([{"role":"user","content":"a"},{"role":"tool","content":"b"}])"), "! messages[1]");
  EXPECT_EQ(said(R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{}}]}])"),
            "! messages[0].content[1]");
}

TEST(RequestFieldsTest, NothingIsDroppedInSilence) {
  const std::string whole =
      R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}])";
  EXPECT_EQ(said(whole), "! messages[0]");
  EXPECT_EQ(said(whole, {.field = "messages", .has_conversation = true}), "c");
  for (const auto* role : {"system", "developer"}) {
    const std::string first =
        R"([{"role":")" + std::string(role) + R"(","content":"b"},{"role":"user","content":"a"}])";
    const std::string last =
        R"([{"role":"user","content":"a"},{"role":")" + std::string(role) + R"(","content":[{"type":"text"}]}])";
    EXPECT_EQ(said(first), "! messages[0]");
    EXPECT_EQ(said(last), "! messages[1]");
    EXPECT_EQ(said(first, {.field = "messages", .has_conversation = true}), "! messages[0]");
    EXPECT_EQ(said(first, {.field = "messages", .ignores_instructions = true}), "a");
    for (const auto* empty : {R"("")", "null", "[]"}) {
      EXPECT_EQ(
          said(R"([{"role":")" + std::string(role) + R"(","content":)" + empty + R"(},{"role":"user","content":"a"}])"),
          "a");
    }
  }
}

TEST(RequestFieldsTest, ItemsHaveTypes) {
  const MessageFormat items{
      .field = "input", .text_part = "input_text", .has_item_types = true, .has_conversation = true};
  EXPECT_EQ(said(R"([{"type":"function_call"},{"role":"user","content":"a"}])", items), "a");
  EXPECT_EQ(said(R"([{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}])", items), "a");
  EXPECT_EQ(said(R"([{"role":"user","content":"a"},{"type":"function_call_output","output":"b"}])", items),
            "! input[1]");
  EXPECT_EQ(said(R"([{"role":"user","content":[{"type":"text","text":"a"}]}])", items), "! input[0].content[0]");
}

}  // namespace
}  // namespace tenon::server
