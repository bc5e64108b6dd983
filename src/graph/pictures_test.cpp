#include "graph/pictures.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "graph/graph_json.h"
#include "graph/text_size.h"
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

TEST(Pictures, SvgContainsEachBlockAndEdgeOnce) {
  const std::string svg = to_svg(Drawn(agent_text).graph);
  for (const char* path : {"a", "b", "b/c", "pre_turn/p"}) {
    EXPECT_EQ(count(svg, "data-block=\"" + std::string(path) + "\""), 1U) << path;
  }
  EXPECT_EQ(count(svg, "class=\"line\""), 2U + 3U);  // edges, and to the first block of three sequences
  EXPECT_EQ(count(svg, "<b>"), 0U);
  EXPECT_EQ(count(svg, "x &lt; 1 &amp;&amp; &quot;&lt;b&gt;&quot;"), 1U) << svg;
  EXPECT_EQ(count(svg, "<title>Says &lt;&quot;&amp;&quot;&gt;.</title>"), 1U);
  EXPECT_EQ(count(svg, "<g"), count(svg, "</g>"));
  EXPECT_EQ(count(svg, "var("), 0U);  // not supported outside of browsers
}

/// The numeric values of an attribute, in the order of the text.
std::vector<double> values(const std::string& svg, const std::string& before, const std::string& attribute) {
  std::vector<double> found;
  for (std::size_t at = svg.find(before); at != std::string::npos; at = svg.find(before, at + 1)) {
    const std::size_t value = svg.find(attribute + "=\"", at) + attribute.size() + 2;
    found.push_back(std::stod(svg.substr(value)));
  }
  return found;
}

TEST(Pictures, NamesFitTheirBoxes) {
  const std::string wide = "WWWWWWWWMMMMMMMM";
  const std::string narrow = "illilliilliillil";
  const std::string long_name(90, 'm');
  const std::string svg =
      to_svg(Drawn("agent A {\n    block " + wide + ": code { -> " + narrow + " }\n    block " + narrow +
                   ": code { -> " + long_name + " }\n    block " + long_name + ": code {}\n}\n")
                 .graph);
  const std::vector<double> boxes = values(svg, "<rect class=\"box\"", "width");
  ASSERT_EQ(boxes.size(), 3U);
  EXPECT_GE(boxes[0], 12 + text_width(wide, Face::Name)) << "of the widest letters";
  EXPECT_LT(boxes[1], boxes[0] / 2) << "of the narrowest";
  EXPECT_GE(boxes[2], 12 + text_width(fit_text(long_name, Face::Name, 260), Face::Name));
  EXPECT_LE(boxes[2], 290);
  EXPECT_EQ(count(svg, "<title>" + long_name + "</title>"), 1U) << "the whole name is a tooltip";
  EXPECT_EQ(count(svg, ">" + wide + "</text>"), 1U);
  EXPECT_EQ(count(svg, "…</text>"), 1U);
}

TEST(Pictures, LabelsFitTheirGaps) {
  const std::string label = "\"会社の請求書についての質問で、急いでいる場合にはすぐに答える必要がある場合\"";
  const std::string svg = to_svg(Drawn("agent A {\n    block a: route {\n        to b: " + label +
                                       "\n        else -> b\n    }\n    block b: code {}\n}\n")
                                     .graph);
  const std::vector<double> gaps = values(svg, "<rect class=\"gap\"", "width");
  ASSERT_EQ(gaps.size(), 2U);
  EXPECT_GT(gaps[0], 200);
  EXPECT_LE(gaps[0], 260);
  EXPECT_EQ(count(svg, "答"), 1U) << "only in the tooltip";
}

TEST(TextSize, TruncatesBetweenCharacters) {
  EXPECT_EQ(fit_text("hello", Face::Name, 100), "hello");
  EXPECT_EQ(fit_text("日本語日本語", Face::Label, 50), "日本…");
  EXPECT_EQ(fit_text("hello", Face::Name, 0), "…");
  EXPECT_EQ(fit_text("", Face::Name, 0), "");
  EXPECT_GT(text_width("W", Face::Name), text_width("W", Face::Label));
  EXPECT_EQ(text_width("e\u0301", Face::Label), text_width("e", Face::Label));
}

TEST(Pictures, WithoutBlocks) {
  EXPECT_EQ(count(to_svg(Graph{}), "<svg"), 1U);
  EXPECT_EQ(count(to_svg(Drawn("agent A {}").graph), "class=\"area\""), 1U);
}

TEST(GraphAsJson, Fields) {
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
