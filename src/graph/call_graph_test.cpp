#include "graph/call_graph.h"

#include <gtest/gtest.h>

#include "graph/graph_json.h"
#include "syntax/parse.h"

namespace tenon::graph {
namespace {

std::string calls_of(std::string text) {
  const source::SourceFile file({0}, "test.tn", std::move(text));
  diagnostics::Diagnostics diagnostics;
  const syntax::SyntaxTree tree = syntax::parse(file, diagnostics);
  std::string out;
  const Agent calls = make_call_graph(tree);
  for (const Block& block : calls.main().blocks) {
    out += block.kind + " " + block.name + " " + block.statements + ":";
    for (const Edge& edge : block.edges) out += " " + edge.target + (edge.label.empty() ? "" : " (" + edge.label + ")");
    out += "\n";
  }
  return out;
}

TEST(CallGraph, FunctionsExternsAndMethods) {
  EXPECT_EQ(calls_of("use std::report\n"
                     "extern fn fetch(url: String) -> String\n"
                     "struct Order { price: i64 }\n"
                     "impl Order { fn total(self) -> i64 { tax(self.price) } }\n"
                     "fn tax(n: i64) -> i64 { n }\n"
                     "fn page(order: Order, tax: i64) -> String { \"{{ fetch(\"x\") }} {{ order.total() }} {{ tax }} "
                     "{{ page(order, 1) }}\" }\n"
                     "test \"x\" { page(Order { price: 1 }, 2) }\n"),
            "extern fetch (url: String) -> String:\n"
            "method Order::total (self) -> i64: tax\n"
            "function tax (n: i64) -> i64:\n"
            "function page (order: Order, tax: i64) -> String: fetch Order::total page\n");
}

TEST(CallGraph, Agents) {
  EXPECT_EQ(calls_of("agent Desk {\n    instructions { \"{{ rules() }}\"! }\n"
                     "    fn turn(ctx: Context, input: String) -> String {\n"
                     "        if is_bill(input) { Billing::handoff(input) }\n        Helper::run(input)\n    }\n"
                     "    fn is_bill(input: String) -> Boolean { rules() == input }\n}\n"
                     "agent Billing {\n    block one: delegate { agent: Helper }\n    block two: delegate { agent: "
                     "Desk, handoff: true }\n}\n"
                     "agent Helper {\n    block only: call { call: rules() }\n}\n"
                     "fn rules() -> String { \"x\" }\n"),
            "agent Desk : rules Desk::is_bill Billing (hands off) Helper\n"
            "function Desk::is_bill (input: String) -> Boolean: rules\n"
            "agent Billing : Helper Desk (hands off)\n"
            "agent Helper : rules\n"
            "function rules () -> String:\n");
}

TEST(CallGraph, TooManyAreNotDrawn) {
  std::string text;
  for (std::size_t number = 0; number <= drawn_calls_max; ++number) text += "fn f" + std::to_string(number) + "() {}\n";
  const auto drawn = [](const std::string& of) {
    const source::SourceFile file({0}, "test.tn", of);
    diagnostics::Diagnostics diagnostics;
    const syntax::SyntaxTree tree = syntax::parse(file, diagnostics);
    Places places;
    return placed_calls(tree, places);
  };
  EXPECT_EQ(drawn(text).get("left_out").as_count(), drawn_calls_max + 1);
  EXPECT_EQ(drawn(text).get("sequences").items().front().get("blocks").size(), 0U);
  const Json all = drawn(text.substr(text.find('\n') + 1));
  EXPECT_FALSE(all.contains("left_out"));
  EXPECT_EQ(all.get("sequences").items().front().get("blocks").size(), drawn_calls_max);
}

TEST(CallGraph, DamagedText) {
  EXPECT_EQ(calls_of("fn g() { 1 }\nfn f() { g("), "function g ():\nfunction f (): g\n");
  EXPECT_EQ(calls_of("struct"), "");
}

}  // namespace
}  // namespace tenon::graph
