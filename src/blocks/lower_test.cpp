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

TEST(Lower, IgnoresFilesWithoutBlocks) {
  const Result result("agent A { fn turn(ctx: Context, input: String) -> String { input } }");
  EXPECT_FALSE(result.lowered);
}

TEST(Lower, CopiedTokensHaveTheirLocationsInTheSource) {
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

TEST(Lower, GlueHasTheLocationOfItsBlock) {
  const Result result(desk);
  ASSERT_TRUE(result.lowered);
  const syntax::SyntaxTree& tree = result.lowered->tree;
  int found = 0;
  for (syntax::TokenIndex at = 0; at < tree.tokens.size(); ++at) {
    if (tree.text(at) != "25") continue;  // the loop's limit, which is not in the source
    EXPECT_EQ(result.file.text(tree.span(at)), "loop");
    ++found;
  }
  EXPECT_EQ(found, 1);
}

TEST(Lower, MakesTheScratchpadAFieldOfTheStateOnlyInTheAgent) {
  const Result result(desk);
  ASSERT_TRUE(result.lowered);
  const std::string& text = result.lowered->text;
  EXPECT_THAT(text, testing::HasSubstr("fn outside(scratchpad: i32) -> i32 { scratchpad }"));
  EXPECT_THAT(text, testing::HasSubstr("\"so {{ state.scratchpad.note }}\""));
  EXPECT_THAT(text, testing::HasSubstr("judged(ctx, \"it is late\")"));
}

TEST(Lower, ReportsManyErrorsAtOnce) {
  const Result result(R"(
agent A {
    next_turn resume
    block one: emit { txt: "a", -> two }
    block two: emitt { -> three }
    block three: route { when true -> nowhere }
    block four: request { prompt: "" }
}
)");
  EXPECT_THAT(result.codes(), testing::UnorderedElementsAre("E2233", "E2234", "E2230", "E2231", "E2258"));
}

TEST(Lower, ReportsABlockThatNothingLeadsToUnlessAnEdgeMayBeMeantFor) {
  const auto codes = [](std::string_view edge) {
    return Result("agent A {\nblock b: emit { text: \"x\"\n" + std::string(edge) +
                  "\n}\nblock c: emit { text: \"y\" }\n}\n")
        .codes();
  };
  EXPECT_THAT(codes(""), testing::ElementsAre("E2232"));
  EXPECT_THAT(codes("-> nowhere"), testing::ElementsAre("E2231"));
  EXPECT_THAT(codes("-> c"), testing::ElementsAre());
}

TEST(Lower, RejectsNamesThatHaveAMeaningInBlocks) {
  const Result result(R"(
fn emit(text: String) { }
agent A {
    fn judged(text: String) -> Boolean { true }
    block each: for_each {
        item input: String in ["a"]
        block one: emit { text: "a" }
    }
}
)");
  EXPECT_THAT(result.codes(), testing::ElementsAre("E2286", "E2286", "E2286"));
  EXPECT_THAT(
      Result("fn say(ctx: Context, text: String) { }\nfn entries(text: String) { }\nagent A { block b: code { } }")
          .codes(),
      testing::ElementsAre("E2286"));
}

TEST(Lower, AvoidsNamesOfTheSource) {
  const Result result(R"(
fn round(tool: i32) -> i32 { tool }
agent A {
    fn talk_answer(limit: i32) -> i32 { limit }
    block talk: core_loop { limit: round(talk_answer(2)) }
}
struct ABlocks { answer: String }
)");
  const std::string& text = result.lowered->text;
  EXPECT_THAT(text, testing::HasSubstr("for round_2 in 0..most"));
  EXPECT_THAT(text, testing::HasSubstr("fn talk_answer_2(ctx: Context, input: String)"));
  EXPECT_THAT(text, testing::HasSubstr("blocks: ABlocks_2 = ABlocks_2 {"));
}

TEST(Lower, ReportsWhatWouldBeSurprisingAtRuntime) {
  const auto codes = [](std::string_view blocks) {
    return Result("fn add(a: i32, b: i32) -> i32 { a }\nagent B { }\nagent A {\n" + std::string(blocks) + "\n}\n")
        .codes();
  };
  using testing::ElementsAre;
  for (const auto& [code, wrong] : std::initializer_list<std::pair<const char*, const char*>>{
           {"E2125", "post_turn { block p: code { break } }\nblock b: code { }"},
           {"E2266", "block b: core_loop { tools: tools { add as plus }, called add -> c }\nblock c: code { }"},
           {"E2266", "block b: core_loop { called add -> c }\nblock c: code { }"},
           {"E2274", "block b: tool_call { call: add(1, 2) }"},
           {"E2273", "block b: tool_call { call: 3 + 4 }"},
           {"E2275", "block b: call { call: add(1, _) }"},
           {"E2259", "block b: core_loop { limit: -5 }"},
           {"E2259", "block b: core_loop { limit: 0 }"},
           {"E2258", "block b: request { prompt: \"  \" }"},
           {"E2258", "block b: request { prompt: \"\"\"\n\"\"\" }"},
           {"E2258", "block b: route { when \"\" -> c, else -> c }\nblock c: code { }"},
           {"E2258", "block b: route { to c: \"\", else -> c }\nblock c: code { }"},
           {"E2263", "block b: route { to c: \"x\", to c: \"y\" }\nblock c: code { }"},
           {"E2264", "block b: route { to c: \"x\"\non input { else -> c } }\nblock c: code { }"},
           {"E2261", "block b: reflect { mode: improve, prompt: \"x\", count: 2 }"},
           {"E2257",
            "block b: code { -> e }\nblock e: for_each { item i: i32 in [1]\nblock c: code { }\nbranch x { block d: "
            "code { } } }"},
           {"E2257", "block b: parallel { branch x { block c: code { } }\nblock d: code { } }"},
           {"E2272", "block b: delegate { agent: B, handoff: true, -> c }\nblock c: code { }"},
       }) {
    EXPECT_THAT(codes(wrong), ElementsAre(code)) << wrong;
  }
  EXPECT_THAT(codes("state { all: Option<List<i32>> = None }\nblock b: for_each { item i: i32 in [1]\n"
                    "block c: code { }\ngather: i\ninto: state.all }"),
              ElementsAre());
  EXPECT_THAT(codes("post_turn { block p: code { for n in [1] { break } } }\nblock b: code { }"), ElementsAre());
  EXPECT_THAT(
      codes("block b: core_loop { write: [state.n], called write_n -> c }\nblock c: code { }\nstate { n: i32 = 0 }"),
      ElementsAre());
  EXPECT_THAT(codes("block b: code { }\npost_turn { }\npost_turn { }"), ElementsAre("E2280"));
  EXPECT_THAT(codes("state { n: i32 = 0 }\nstate { m: i32 = 0 }\nblock b: code { }"), ElementsAre("E2280"));
  EXPECT_THAT(codes("next_turn resume\nblock b: core_loop { -> c }\nblock c: code { }"), ElementsAre("E2233"));
  EXPECT_THAT(codes("block b: parallel { branch x { block c: code { } }\nbranch x { block d: code { } } }"),
              ElementsAre("E2002"));
  EXPECT_THAT(codes("block b: parallel { branch x { block c: compress { } } }"), ElementsAre("E2278"));
}

TEST(Lower, ReportsAValueOfTheWrongFormOnce) {
  const auto shown = [](std::string_view options) {
    const Result result(
        "struct S { a: i32 }\ntype T = String\nenum E { A }\nfn add(a: i32) -> i32 { a }\nagent B { }\nagent A {\n" +
        std::string("state { n: String = \"\" }\nscratchpad { m: String = \"\" }\nblock b: ") + std::string(options) +
        "\n}\n");
    std::string text;
    for (const diagnostics::Diagnostic& at : result.diagnostics.all())
      text += at.code.text() + " " + at.message + ": " + at.hints.at(0) + (at.fix ? " -> " + at.fix->replacement : "");
    return text;
  };
  const std::string no_agent = "E2260 `agent` must be the name of an agent: ";
  EXPECT_EQ(shown("delegate { agent: \"B\" }"), no_agent + "remove the quotation marks: `B` -> B");
  EXPECT_EQ(shown("delegate { agent: \"m::C\" }"), no_agent + "remove the quotation marks: `m::C` -> m::C");
  for (const std::string wrong : {"(B)", "[B]", "B()", "B {}", "B::run", "B::run(input)"})
    EXPECT_EQ(shown("delegate { agent: " + wrong + " }"), no_agent + "write only its name: `B` -> B") << wrong;
  for (const std::string wrong : {"3", "state.n", "S", "T", "i32", "String", "E::A", "add", "_", "\"Some words.\""})
    EXPECT_EQ(shown("delegate { agent: " + wrong + ", handoff: true }"),
              no_agent + "write `agent: NAME`, where `agent NAME { … }` declares the agent")
        << wrong;
  const std::string no_field = "E2267 `into` must name a field of `state` or `scratchpad`: ";
  for (const std::string wrong : {"n", "\"n\"", "\"state.n\""})
    EXPECT_EQ(shown("delegate { agent: B, into: " + wrong + " }"), no_field + "write `into: state.n` -> state.n")
        << wrong;
  EXPECT_EQ(shown("request { prompt: \"x\", into: m }"), no_field + "write `into: scratchpad.m` -> scratchpad.m");
  EXPECT_EQ(shown("request { prompt: \"x\", into: 3 }"), no_field + "write `into: state.NAME`");
  EXPECT_EQ(shown("delegate { agent: m::B }"), "");
  const std::string loop = "for_each { item i: String in [\"\"], block c: code { }, gather: i, into: state.k }";
  EXPECT_EQ(shown(loop), "E2004 `state` has no field `k`: declare it in `state { … }`");
}

TEST(Lower, ReportsARouteThatMayTakeNoEdge) {
  const auto codes = [](std::string_view edges) {
    return Result("agent A {\nblock b: route {\n" + std::string(edges) + "\n}\nblock c: code { }\n}\n").codes();
  };
  using testing::ElementsAre;
  EXPECT_THAT(codes("when input == \"\" -> c"), ElementsAre("E2290"));
  EXPECT_THAT(codes("when input == \"\" -> c\nwhen !(input == \"a\") -> c"), ElementsAre("E2290"));
  EXPECT_THAT(codes("when \"it is late\" -> c\nwhen \"it is early\" -> c"), ElementsAre("E2290"));
  for (const std::string_view covered :
       {"when input == \"\" -> c\nelse -> c", "when input == \"\" -> c\nwhen !(input == \"\") -> c",
        "when input.is_empty() -> c\nwhen !input.is_empty() -> c", "when true -> c",
        "when input == \"\" -> c\nto c: \"all else\"", "on input { else -> c }"}) {
    EXPECT_THAT(codes(covered), ElementsAre()) << covered;
  }
}

TEST(Lower, ReportsToolsWithNamesOfTheLoopsOwnTools) {
  const auto codes = [](std::string_view options) {
    return Result(
               "fn answer(text: String) -> String { text }\nfn write_name(text: String) -> String { text }\nagent A {\n"
               "state { name: String = \"\" }\nscratchpad { note: String = \"\" }\nblock b: core_loop {\n" +
               std::string(options) + "\n}\n}\n")
        .codes();
  };
  using testing::ElementsAre;
  EXPECT_THAT(codes("tools: tools { answer }"), ElementsAre("E2291"));
  EXPECT_THAT(codes("tools: tools { answer(_) }"), ElementsAre("E2291"));
  EXPECT_THAT(codes("tools: tools { write_name as answer }"), ElementsAre("E2291"));
  EXPECT_THAT(codes("tools: tools { write_name }\nwrite: [state.name]"), ElementsAre("E2291"));
  EXPECT_THAT(codes("tools: tools { answer as read_scratchpad_note }\nread: [scratchpad.note]"), ElementsAre("E2291"));
  EXPECT_THAT(codes("tools: tools { write_name, answer as find }\nread: [state.name]"), ElementsAre());
}

TEST(Lower, FindsReservedToolsInSumsAndInFunctions) {
  const auto codes = [](std::string_view tools) {
    return Result(
               "fn look(text: String) -> String { text }\nfn some() -> Tools { tools { look } }\n"
               "fn all() -> Tools { tools { look as answer } }\nfn more() -> Tools { some() + (all()) }\n"
               "fn around() -> Tools { around() + tools { look } }\nagent A {\nstate { name: String = \"\" }\n"
               "fn own() -> Tools { tools { look as write_name } }\nblock b: core_loop {\nwrite: [state.name]\n"
               "tools: " +
               std::string(tools) + "\n}\n}\n")
        .codes();
  };
  using testing::ElementsAre;
  EXPECT_THAT(codes("tools { look } + tools { look as answer, look as write_name }"), ElementsAre("E2291", "E2291"));
  EXPECT_THAT(codes("all()"), ElementsAre("E2291"));
  EXPECT_THAT(codes("more()"), ElementsAre("E2291"));
  EXPECT_THAT(codes("own()"), ElementsAre("E2291"));
  EXPECT_THAT(codes("around()"), ElementsAre());
  EXPECT_THAT(codes("some() + tools { look as find }"), ElementsAre());
}

TEST(Lower, AllowsAnyFieldOfTheState) {
  const Result result(R"(
agent A {
    state { blocks: i32 = 0, scratchpad: String = "", blocks_2: i32 = 0 }
    scratchpad { note: String = "" }
    block b: code { scratchpad.note = "{{ state.blocks }} {{ state.scratchpad }}" }
}
agent B { scratchpad { note: String = "" }
    block b: code { scratchpad.note = "" } }
)");
  EXPECT_THAT(result.codes(), testing::ElementsAre());
  const std::string& text = result.lowered->text;
  EXPECT_THAT(text, testing::HasSubstr("state.scratchpad_2.note = \"{{ state.blocks }} {{ state.scratchpad }}\""));
  EXPECT_THAT(text, testing::HasSubstr("state.blocks_3.said"));
  EXPECT_THAT(text, testing::HasSubstr("state.scratchpad.note = \"\""));
  EXPECT_THAT(text, testing::HasSubstr("state.blocks.said"));
}

TEST(Lower, FindsWritesInNamedFunctions) {
  const auto codes = [](std::string_view blocks) {
    return Result(
               "agent A {\nstate { n: List<i32> = [] }\nscratchpad { m: i32 = 0 }\nfn note(x: i32) { state.n.push(x) "
               "}\n"
               "fn is_late() -> Boolean { state.n.push(1)\ntrue }\n" +
               std::string(blocks) + "\n}\n")
        .codes();
  };
  using testing::ElementsAre;
  EXPECT_THAT(codes("block p: parallel {\nbranch x { block a: core_loop { tools: tools { note } } }\n"
                    "branch y { block b: core_loop { tools: tools { note as say } } }\n}"),
              ElementsAre("E2235"));
  EXPECT_THAT(codes("block e: for_each {\nitem i: i32 in [1]\nblock a: route { when is_late() -> c, else -> c }\n"
                    "block c: code { }\n}"),
              ElementsAre("E2235"));
  EXPECT_THAT(codes("block p: parallel {\n"
                    "branch x { block a: for_each { item i: i32 in [1]\nblock c: set { scratchpad.m = i } } }\n"
                    "branch y { block b: for_each { item i: i32 in [1]\nblock d: set { scratchpad.m = i } } }\n}"),
              ElementsAre());
}

TEST(Lower, AcceptsDamagedBlocks) {
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
