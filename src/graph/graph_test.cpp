#include "graph/graph.h"

#include <gtest/gtest.h>

#include "syntax/parse.h"

namespace tenon::graph {
namespace {

struct GraphOf {
  source::SourceFile file;
  diagnostics::Diagnostics diagnostics;
  syntax::SyntaxTree tree;
  Graph graph;

  explicit GraphOf(std::string text)
      : file({0}, "test.tn", std::move(text)), tree(syntax::parse(file, diagnostics)), graph(make_graph(tree)) {}
};

constexpr const char* desk = R"(/// Helps.
agent Desk {
    state { customer: Customer? = None, intent: String = "" }
    scratchpad { notes: List<String> = [] }
    start route
    next_turn smart
    post_turn { block guard: code { check() } }
    pre_turn { block recall: code {} }

    /// Looks up.
    block look_up: code {
        let x = 1
        f(x)
        -> route
    }
    block route: route {
        when state.customer.is_none() -> look_up
        to help: "questions about {{ state.intent }}"
        on state.intent { "tech" | "it" -> help, else -> look_up }
        else -> help
    }
    block help: core_loop {
        limit: 25
        called refund -> research
    }
    block research: for_each {
        item topic: String in scratchpad.notes
        parallel: 8
        block find: request { -> sum }
        block sum: parallel {
            branch pro { block a: code {} }
            branch con {}
        }
    }
}
agent Plain { fn turn(ctx: Context) {} }
)";

TEST(ReadGraph, Agents) {
  const GraphOf read(desk);
  ASSERT_FALSE(read.diagnostics.has_errors());
  ASSERT_EQ(read.graph.agents.size(), 2U);
  const Agent& agent = read.graph.agents.front();
  EXPECT_EQ(agent.documentation, "Helps.");
  EXPECT_EQ(agent.start, "route");
  EXPECT_EQ(agent.first_block(), "route");
  EXPECT_EQ(agent.next_turn, "smart");
  ASSERT_EQ(agent.state.size(), 2U);
  EXPECT_EQ(agent.state[1].name + agent.state[1].type + agent.state[1].value, "intentString\"\"");
  ASSERT_EQ(agent.sequences.size(), 3U);
  EXPECT_EQ(agent.sequences[1].path, "pre_turn");
  EXPECT_EQ(agent.sequences[2].blocks.front().path, "post_turn/guard");
  EXPECT_EQ(read.graph.find("Plain")->main().blocks.size(), 0U);
  EXPECT_EQ(read.graph.find("Plain")->first_block(), "");
  EXPECT_EQ(read.graph.find("Other"), nullptr);
}

TEST(ReadGraph, Blocks) {
  const GraphOf read(desk);
  const Agent& agent = read.graph.agents.front();
  const Block* const look_up = agent.find_block("look_up");
  ASSERT_NE(look_up, nullptr);
  EXPECT_EQ(look_up->documentation, "Looks up.");
  EXPECT_EQ(look_up->kind, "code");
  EXPECT_EQ(look_up->statements, "let x = 1\nf(x)");
  const Block* const research = agent.find_block("research");
  ASSERT_TRUE(research->item.has_value());
  EXPECT_EQ(research->item->name + ' ' + research->item->type + ' ' + research->item->list,
            "topic String scratchpad.notes");
  ASSERT_EQ(research->options.size(), 1U);
  EXPECT_EQ(research->options.front().value, "8");
  EXPECT_EQ(agent.find_block("research/sum/pro/a")->name, "a");
  EXPECT_EQ(agent.find_sequence("research/sum/con")->blocks.size(), 0U);
  EXPECT_EQ(agent.find_block("research/nothing"), nullptr);
  EXPECT_EQ(agent.find_block("find"), nullptr);
}

TEST(ReadGraph, Edges) {
  const GraphOf read(desk);
  std::string edges;
  for (const Block& block : read.graph.agents.front().main().blocks) {
    for (const Edge& edge : block.edges) {
      edges += block.name + ' ' + std::string(name_of(edge.kind)) + " [" + edge.on + "] [" + edge.label + "] " +
               edge.target + '\n';
    }
  }
  EXPECT_EQ(edges,
            "look_up next [] [] route\n"
            "route when [] [state.customer.is_none()] look_up\n"
            "route to [] [\"questions about {{ state.intent }}\"] help\n"
            "route case [state.intent] [\"tech\" | \"it\"] help\n"
            "route case [state.intent] [else] look_up\n"
            "route else [] [] help\n"
            "help called [] [refund] research\n");
}

TEST(ReadGraph, DamagedText) {
  for (const char* text : {"agent A { block", "agent A { block a: route { when -> \n on x { -> } to", "agent { start",
                           "agent A { block a: for_each { item block b: } branch }"}) {
    const GraphOf read(text);
    EXPECT_TRUE(read.diagnostics.has_errors());
    EXPECT_EQ(read.graph.agents.size(), 1U) << text;
  }
}

TEST(ReadGraph, Paths) {
  EXPECT_EQ(sequence_of("a/b/c"), "a/b");
  EXPECT_EQ(name_in("a/b/c"), "c");
  EXPECT_EQ(sequence_of("a"), "");
  EXPECT_EQ(name_in("a"), "a");
  for (const char* kind : {"next", "when", "to", "case", "else", "called"})
    EXPECT_EQ(name_of(*find_edge_kind(kind)), kind);
  EXPECT_FALSE(find_edge_kind("on").has_value());
}

}  // namespace
}  // namespace tenon::graph
