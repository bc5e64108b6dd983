#include "blocks/lower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "syntax/parse.h"

namespace tenon::blocks {
namespace {

using diagnostics::Diagnostics;

constexpr std::string_view desk = R"(
fn outside(scratchpad: i32) -> i32 { scratchpad }

/// Answers.
agent Desk {
    state { topics: List<String> = [] }
    scratchpad { note: String = "" }
    next_turn smart
    pre_turn { block before: code { scratchpad.note = input } }
    block plan: request {
        prompt: "Plan {{ scratchpad.note }}"
        into: state.topics
        -> sort
    }
    block sort: route {
        when judged("it is late") -> end
        else -> loop
    }
    block loop: core_loop {
        tools: tools { outside }
        write: [scratchpad.note]
        called outside -> end
    }
    block end: emit { text: "so {{ scratchpad.note }}" }
}
)";

struct Result {
  source::SourceFile file;
  Diagnostics diagnostics;
  std::optional<Lowered> lowered;

  explicit Result(std::string_view text) : file(source::FileId{0}, "desk.tn", std::string(text)) {
    const syntax::SyntaxTree tree = syntax::parse(file, diagnostics);
    lowered = lower(tree, file, diagnostics);
  }
  [[nodiscard]] std::vector<std::string> codes() const {
    std::vector<std::string> found;
    for (const diagnostics::Diagnostic& at : diagnostics.all()) found.push_back(at.code.text());
    return found;
  }
};

TEST(Lower, LeavesFilesWithoutBlocksAlone) {
  const Result result("agent A { fn turn(ctx: Context, input: String) -> String { input } }");
  EXPECT_FALSE(result.lowered);
}

TEST(Lower, GivesEachCopiedTokenThePlaceWhereItWasWritten) {
  const Result result(desk);
  ASSERT_TRUE(result.lowered);
  EXPECT_THAT(result.codes(), testing::IsEmpty());
  const syntax::SyntaxTree& tree = result.lowered->tree;
  std::size_t written = 0;
  for (syntax::TokenIndex at = 0; at < tree.tokens.size(); ++at) {
    const source::Span span = tree.span(at);
    ASSERT_LE(span.end(), result.file.text().size()) << tree.text(at);
    if (tree.tokens[at].offset >= result.file.text().size()) continue;  // glue
    EXPECT_EQ(result.file.text(span), tree.text(at));
    ++written;
  }
  EXPECT_GT(written, 90u);
  for (std::uint32_t node = 0; node < tree.nodes.size(); ++node) {
    EXPECT_LE(tree.span(syntax::NodeId{node}).end(), result.file.text().size());
  }
}

TEST(Lower, LetsGlueStandForItsBlock) {
  const Result result(desk);
  ASSERT_TRUE(result.lowered);
  const syntax::SyntaxTree& tree = result.lowered->tree;
  for (syntax::TokenIndex at = 0; at < tree.tokens.size(); ++at) {
    if (tree.text(at) != "called outside") continue;
    EXPECT_EQ(result.file.text(tree.span(at)), "loop");
  }
}

TEST(Lower, MakesTheScratchpadAnEntryOfTheStateWithinTheAgentAlone) {
  const Result result(desk);
  ASSERT_TRUE(result.lowered);
  const std::string& text = result.lowered->text;
  EXPECT_THAT(text, testing::HasSubstr("fn outside(scratchpad: i32) -> i32 { scratchpad }"));
  EXPECT_THAT(text, testing::HasSubstr("\"so {{ state.scratchpad.note }}\""));
  EXPECT_THAT(text, testing::HasSubstr("judged(ctx, \"it is late\")"));
}

TEST(Lower, TellsOfManyMistakesAtOnce) {
  const Result result(R"(
agent A {
    next_turn resume
    block one: emit { txt: "a", -> two }
    block two: emitt { -> three }
    block three: route { when true -> nowhere }
    block four: request { prompt: "" }
}
)");
  EXPECT_THAT(result.codes(),
              testing::UnorderedElementsAre("E2233", "E2234", "E2234", "E2230", "E2231", "E2232", "E2234"));
}

TEST(Lower, TakesDamagedBlocks) {
  for (std::size_t length = 0; length < desk.size(); ++length) {
    const Result result(desk.substr(0, length));
    if (!result.lowered) continue;
    for (const syntax::Token& token : result.lowered->tree.tokens) {
      ASSERT_LE(token.offset + token.length, result.file.text().size() + result.lowered->text.size());
    }
  }
}

}  // namespace
}  // namespace tenon::blocks
