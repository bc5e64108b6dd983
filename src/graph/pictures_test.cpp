#include "graph/pictures.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "graph/graph_json.h"
#include "syntax/parse.h"

namespace tenon::graph {
namespace {

struct Drawn {
  source::SourceFile file;
  diagnostics::Diagnostics diagnostics;
  syntax::SyntaxTree tree;
  Graph graph;

  explicit Drawn(std::string text)
      : file({0}, "test.tn", std::move(text)), tree(syntax::parse(file, diagnostics)), graph(make_graph(tree)) {}
};

constexpr const char* agent_text =
    "agent A {\n    start b\n    pre_turn { block p: code {} }\n    /// Says <\"&\">.\n    block a: route { when x < 1 "
    "&& \"<b>\" == y -> b }\n"
    "    block b: for_each { item x: String in xs, block c: code {} -> a }\n}\n";

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Pictures, Dot) {
  EXPECT_EQ(
      to_dot(Drawn("agent A { block a: route { when x == \"y\" -> a } }").graph),
      "digraph tenon {\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n"
      "  edge [fontname=\"sans-serif\", fontsize=10];\n  compound=true;\n  subgraph cluster_0 {\n    label=\"A\";\n"
      "    \"A/a\" [label=\"a\\nroute\", penwidth=2];\n    \"A/a\" -> \"A/a\" [label=\"x == \\\"y\\\"\"];\n  }\n}\n");
}

TEST(Pictures, SvgHoldsEachBlockAndEdgeOnce) {
  const std::string svg = to_svg(Drawn(agent_text).graph);
  for (const char* path : {"a", "b", "b/c", "pre_turn/p"}) {
    EXPECT_EQ(count(svg, "data-block=\"" + std::string(path) + "\""), 1U) << path;
  }
  EXPECT_EQ(count(svg, "class=\"line\""), 2U + 3U);  // edges, and to the first block of three sequences
  EXPECT_EQ(count(svg, "<b>"), 0U);
  EXPECT_EQ(count(svg, "x &lt; 1 &amp;&amp; &quot;&lt;b&gt;&quot;"), 1U) << svg;
  EXPECT_EQ(count(svg, "<title>Says &lt;&quot;&amp;&quot;&gt;.</title>"), 1U);
  EXPECT_EQ(count(svg, "<g"), count(svg, "</g>"));
  EXPECT_EQ(count(svg, "var("), 0U);  // black for all but browsers
}

TEST(Pictures, NothingToDraw) {
  EXPECT_EQ(count(to_svg(Graph{}), "<svg"), 1U);
  EXPECT_EQ(count(to_svg(Drawn("agent A {}").graph), "class=\"area\""), 1U);
}

TEST(GraphAsJson, WhatItSays) {
  const Drawn drawn(agent_text);
  const auto json = nlohmann::json::parse(to_json(drawn.graph, drawn.tree));
  EXPECT_EQ(json["version"], version_of(agent_text));
  const auto& agent = json["agents"][0];
  EXPECT_EQ(agent["start"], "b");
  EXPECT_EQ(agent["sequences"].size(), 2U);
  const auto& block = agent["sequences"][0]["blocks"][1];
  EXPECT_EQ(block["path"], "b");
  EXPECT_EQ(block["item"]["list"], "xs");
  EXPECT_EQ(block["edges"][0], (nlohmann::json{{"kind", "next"}, {"target", "a"}}));
  EXPECT_EQ(block["sequences"][0]["blocks"][0]["path"], "b/c");
  const std::size_t offset = block["range"]["offset"];
  const std::size_t length = block["range"]["length"];
  EXPECT_EQ(std::string(agent_text).substr(offset, 8), "block b:");
  EXPECT_EQ(agent_text[offset + length - 1], '}');
}

}  // namespace
}  // namespace tenon::graph
