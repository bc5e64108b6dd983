// Edits of agents and declarations beyond blocks.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/edit.h"
#include "graph/edit_json.h"

namespace tenon::graph {
namespace {

/// The text after the edits of a draft, or why they were rejected. Also undoes them.
std::string changed(const std::string& text, std::string_view json) {
  const auto edits = read_edits(json);
  if (!edits) return "unreadable: " + edits.error().reason;
  const auto after = edit_draft(text, *edits);
  if (!after) return "refused: " + after.error().reason;
  const auto back = edit_draft(after->text, after->inverse);
  EXPECT_EQ(back ? back->text : "", text) << json;
  EXPECT_EQ(patched(text, after->patches), after->text) << json;
  const auto again = read_edits(to_json(*edits));
  EXPECT_TRUE(again.has_value() && again->size() == edits->size()) << json;
  return after->text;
}

constexpr const char* shop =
    "/// A shop.\n"
    "agent Shop {\n"
    "    state {\n"
    "        /// What it is about.\n"
    "        topic: String = \"\" // short\n"
    "        count: i32 = 0\n"
    "    }\n"
    "\n"
    "    instructions { \"Be brief about {{ state.topic }}.\"! }\n"
    "\n"
    "    block find: request {\n"
    "        prompt: \"topic? {{ state.topic }}\"\n"
    "        into: state.topic\n"
    "        -> choose\n"
    "    }\n"
    "    block choose: route {\n"
    "        when state.topic == \"topic\" -> find // first\n"
    "        to find: \"again\"\n"
    "        else -> find\n"
    "    }\n"
    "\n"
    "    fn price(topic: String) -> i64 { total(topic) + state.count as i64 }\n"
    "}\n"
    "\n"
    "/// The total.\n"
    "fn total(order: String) -> i64 { 1 }\n"
    "\n"
    "fn twice(order: String) -> i64 { total(order) + total(order) }\n";

std::string with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string carriage_returns(const std::string& text) {
  std::string out;
  for (const char byte : text) out += byte == '\n' ? "\r\n" : std::string(1, byte);
  return out;
}

TEST(EditAgent, Fields) {
  EXPECT_EQ(changed(shop, R"([{"op":"add_field","agent":"Shop","section":"state","name":"name","type":"String",
                              "value":"\"\"","documentation":"Whose."}])"),
            with(shop, "count: i32 = 0\n", "count: i32 = 0\n        /// Whose.\n        name: String = \"\"\n"));
  EXPECT_EQ(changed(shop, R"([{"op":"add_field","agent":"Shop","section":"state","name":"name","type":"String",
                              "value":"\"\"","after":"topic"}])"),
            with(shop, "// short\n", "// short\n        name: String = \"\"\n"));
  EXPECT_EQ(changed(shop, R"([{"op":"add_field","agent":"Shop","section":"scratchpad","name":"note","type":"String",
                              "value":"\"\""}])"),
            with(shop, "    }\n\n    instructions",
                 "    }\n    scratchpad {\n        note: String = \"\"\n    }\n\n    instructions"));
  EXPECT_EQ(changed("agent A { state { a: i32 = 1 } }\n",
                    R"([{"op":"add_field","agent":"A","section":"state","name":"b","type":"i32","value":"2"}])"),
            "agent A { state { a: i32 = 1, b: i32 = 2 } }\n");
  EXPECT_EQ(changed(shop, R"([{"op":"set_field","agent":"Shop","section":"state","field":"count","type":"i64",
                              "value":"7"}])"),
            with(shop, "count: i32 = 0", "count: i64 = 7"));
  EXPECT_EQ(changed(shop, R"([{"op":"remove_field","agent":"Shop","section":"state","field":"topic"}])"),
            with(shop, "        /// What it is about.\n        topic: String = \"\" // short\n", "        // short\n"));
  EXPECT_EQ(changed("agent A {\n    state { a: i32 = 1 }\n\n    fn f() { }\n}\n",
                    R"([{"op":"remove_field","agent":"A","section":"state","field":"a"}])"),
            "agent A {\n    fn f() { }\n}\n");
}

TEST(EditAgent, AFieldIsRenamedEverywhere) {
  std::string wanted = shop;
  for (std::size_t at = wanted.find("state.topic"); at != std::string::npos; at = wanted.find("state.topic", at + 1)) {
    wanted.replace(at, 11, "state.subject");
  }
  wanted = with(wanted, "        topic: String", "        subject: String");
  constexpr const char* op =
      R"([{"op":"rename_field","agent":"Shop","section":"state","field":"topic","name":"subject"}])";
  EXPECT_EQ(changed(shop, op), wanted);
  EXPECT_EQ(changed(carriage_returns(shop), op), carriage_returns(wanted));
  // A variable of that name is another thing.
  const std::string hidden =
      "agent A {\n    state { a: i32 = 1 }\n    fn f(state: Order) -> i32 { state.a }\n    fn g() -> i32 { state.a "
      "}\n}\n";
  EXPECT_EQ(changed(hidden, R"([{"op":"rename_field","agent":"A","section":"state","field":"a","name":"b"}])"),
            "agent A {\n    state { b: i32 = 1 }\n    fn f(state: Order) -> i32 { state.a }\n    fn g() -> i32 { "
            "state.b }\n}\n");
}

TEST(EditAgent, BadFieldsHaveReasons) {
  EXPECT_EQ(
      changed(shop,
              R"([{"op":"add_field","agent":"Shop","section":"state","name":"topic","type":"String","value":"1"}])"),
      "refused: the state of `Shop` already has an entry `topic`");
  EXPECT_EQ(changed(shop, R"([{"op":"add_field","agent":"Shop","section":"state","name":"a","type":"","value":"1"}])"),
            "refused: the entry `a` needs a type");
  EXPECT_EQ(changed(shop, R"([{"op":"remove_field","agent":"Shop","section":"scratchpad","field":"topic"}])"),
            "refused: the scratchpad of `Shop` has no entry `topic`");
  EXPECT_EQ(changed(shop, R"([{"op":"rename_field","agent":"Shop","section":"state","field":"topic","name":"2"}])"),
            "refused: `2` is not a valid name");
  EXPECT_EQ(changed(shop, R"([{"op":"set_field","agent":"Shop","section":"status","field":"topic"}])"),
            "unreadable: `status` is not a section: expected state or scratchpad");
  EXPECT_EQ(
      changed(shop, R"([{"op":"set_field","agent":"Shop","section":"state","field":"topic","value":"1, b: i32 = 2"}])")
          .substr(0, 8),
      "refused:");
}

TEST(EditAgent, Instructions) {
  EXPECT_EQ(changed(shop, R"([{"op":"set_instructions","agent":"Shop","statements":"\"Be kind.\"!"}])"),
            with(shop, "{ \"Be brief about {{ state.topic }}.\"! }", "{ \"Be kind.\"! }"));
  const std::string lines =
      changed(shop, R"([{"op":"set_instructions","agent":"Shop","statements":"\"One.\"!\n\"Two.\"!"}])");
  EXPECT_EQ(lines,
            with(shop, "{ \"Be brief about {{ state.topic }}.\"! }", "{\n        \"One.\"!\n        \"Two.\"!\n    }"));
  EXPECT_EQ(changed(lines, R"([{"op":"set_instructions","agent":"Shop","statements":"\"One.\"!\n// why\n\"3.\"!"}])"),
            with(lines, "\"Two.\"!", "// why\n        \"3.\"!"));
  EXPECT_EQ(changed(shop, R"([{"op":"set_instructions","agent":"Shop"}])"),
            with(shop, "    instructions { \"Be brief about {{ state.topic }}.\"! }\n\n", ""));
  EXPECT_EQ(
      changed("agent A {\n    fn f() { }\n}\n", R"([{"op":"set_instructions","agent":"A","statements":"\"Hi.\"!"}])"),
      "agent A {\n    instructions {\n        \"Hi.\"!\n    }\n\n    fn f() { }\n}\n");
  EXPECT_EQ(changed(shop, R"([{"op":"set_instructions","agent":"Shop","statements":"} fn g() {"}])").substr(0, 8),
            "refused:");
}

TEST(EditAgent, Documentation) {
  EXPECT_EQ(changed(shop, R"([{"op":"set_documentation","agent":"Shop","text":"Sells.\n\nAll."}])"),
            with(shop, "/// A shop.\n", "/// Sells.\n///\n/// All.\n"));
  EXPECT_EQ(changed(shop, R"([{"op":"set_documentation","agent":"Shop","block":"find","text":"Finds."}])"),
            with(shop, "    block find", "    /// Finds.\n    block find"));
  EXPECT_EQ(changed(shop, R"([{"op":"set_documentation","agent":"Shop","section":"state","field":"topic","text":""}])"),
            with(shop, "        /// What it is about.\n", ""));
  EXPECT_EQ(changed(shop, R"([{"op":"set_documentation","declaration":"total","text":"All of it."}])"),
            with(shop, "/// The total.", "/// All of it."));
  EXPECT_EQ(changed(shop, R"([{"op":"set_documentation","agent":"Shop","declaration":"price","text":"In cents."}])"),
            with(shop, "    fn price", "    /// In cents.\n    fn price"));
  EXPECT_EQ(
      changed("agent A { state { a: i32 = 1 } }\n",
              R"([{"op":"set_documentation","agent":"A","section":"state","field":"a","text":"x"}])"),
      "refused: a doc comment needs its own line, and `a` begins in the middle of one: put it on a line of its own "
      "first");
}

TEST(EditAgent, WaysAndBranches) {
  EXPECT_EQ(
      changed(shop, R"([{"op":"move_edge","agent":"Shop","block":"choose","kind":"to","target":"find","position":0}])"),
      with(shop, "        when state.topic == \"topic\" -> find // first\n        to find: \"again\"\n",
           "        to find: \"again\" // first\n        when state.topic == \"topic\" -> find\n"));
  EXPECT_EQ(changed(shop, R"([{"op":"move_edge","agent":"Shop","block":"choose","kind":"else","position":0}])"),
            "refused: an edge of the kind `else` is always the last one");
  EXPECT_EQ(
      changed(shop, R"([{"op":"move_edge","agent":"Shop","block":"choose","kind":"to","target":"find","position":2}])"),
      "refused: `position` must be less than 2, the number of ways of `choose`");
  EXPECT_EQ(changed("agent A { block r: route { on x { 1 -> r, 2 -> r, else -> r } } }\n",
                    R"([{"op":"move_edge","agent":"A","block":"r","kind":"case","on":"x","label":"2","position":0}])"),
            "agent A { block r: route { on x { 2 -> r, 1 -> r, else -> r } } }\n");
  const std::string both =
      "agent A {\n    block p: parallel {\n        branch one {\n            block x: code {}\n        }\n    }\n}\n";
  const std::string more = changed(both, R"([{"op":"add_branch","agent":"A","block":"p","branch":"two"}])");
  EXPECT_EQ(more, with(both, "        }\n    }", "        }\n        branch two {\n        }\n    }"));
  EXPECT_EQ(changed(more, R"([{"op":"remove_branch","agent":"A","block":"p","branch":"two"}])"), both);
  EXPECT_EQ(changed(both, R"([{"op":"rename_branch","agent":"A","block":"p","branch":"one","name":"first"}])"),
            with(both, "branch one", "branch first"));
  EXPECT_EQ(changed(both, R"([{"op":"add_branch","agent":"A","block":"p","branch":"one"}])"),
            "refused: `p` already has a branch `one`");
  EXPECT_EQ(changed("agent A {\n    block f: for_each {\n        item x: A in b // c\n    }\n}\n",
                    R"([{"op":"set_item","agent":"A","block":"f","item":{"name":"y","type":"B","list":"state.c"}}])"),
            "agent A {\n    block f: for_each {\n        item y: B in state.c // c\n    }\n}\n");
}

TEST(EditDeclarations, AddAndRemove) {
  EXPECT_EQ(changed(shop, R"([{"op":"add_declaration","source":"fn half() -> i64 {\n    1\n}"}])"),
            std::string(shop) + "\nfn half() -> i64 {\n    1\n}\n");
  EXPECT_EQ(changed(shop, R"([{"op":"add_declaration","source":"fn half() -> i64 { 1 }","after":"total"}])"),
            with(shop, "{ 1 }\n", "{ 1 }\n\nfn half() -> i64 { 1 }\n"));
  EXPECT_EQ(changed(shop, R"([{"op":"add_declaration","agent":"Shop","source":"fn half() -> i64 { 1 }"}])"),
            with(shop, "as i64 }\n", "as i64 }\n\n    fn half() -> i64 { 1 }\n"));
  EXPECT_EQ(changed(shop, R"([{"op":"add_declaration","source":"agent Other {\n    block a: code {}\n}"}])"),
            std::string(shop) + "\nagent Other {\n    block a: code {}\n}\n");
  EXPECT_EQ(changed(shop, R"([{"op":"remove_declaration","declaration":"total"}])"),
            with(shop, "/// The total.\nfn total(order: String) -> i64 { 1 }\n\n", ""));
  EXPECT_EQ(changed("", R"([{"op":"add_declaration","source":"fn f() {}"}])"), "fn f() {}\n");
  EXPECT_EQ(changed(shop, R"([{"op":"add_declaration","source":"fn total() {}"}])"),
            "refused: there is already a declaration `total`");
  EXPECT_EQ(changed(shop, R"([{"op":"add_declaration","source":"fn a() {} fn b() {}"}])"),
            "refused: expected one declaration, such as `fn name() -> String { … }`");
  EXPECT_EQ(changed(shop, R"([{"op":"add_declaration","source":"fn a("}])").substr(0, 41),
            "refused: the declaration has an error: ex");
  EXPECT_EQ(changed(shop, R"([{"op":"remove_declaration","agent":"Shop","declaration":"total"}])"),
            "refused: `Shop` has no function `total`");
}

TEST(EditDeclarations, RenamedEverywhere) {
  std::string wanted = shop;
  for (std::size_t at = wanted.find("total("); at != std::string::npos; at = wanted.find("total(", at + 1)) {
    wanted.replace(at, 6, "sum_of(");
  }
  EXPECT_EQ(changed(shop, R"([{"op":"rename_declaration","declaration":"total","name":"sum_of"}])"), wanted);
  const std::string other =
      "agent One {\n    block a: delegate { agent: Two }\n}\nagent Two {\n    fn f(f: i32) -> i32 { f }\n    fn g() -> "
      "i32 { f(1) }\n}\n"
      "fn start() -> String { Two::run(\"x\") }\n";
  EXPECT_EQ(
      changed(other, R"([{"op":"rename_declaration","declaration":"Two","name":"Second"}])"),
      with(with(with(other, "agent: Two", "agent: Second"), "agent Two", "agent Second"), "Two::run", "Second::run"));
  EXPECT_EQ(changed(other, R"([{"op":"rename_declaration","agent":"Two","declaration":"f","name":"h"}])"),
            with(with(other, "fn f(f", "fn h(f"), "f(1)", "h(1)"));
  EXPECT_EQ(changed(shop, R"([{"op":"rename_declaration","declaration":"total","name":"order"}])"),
            "refused: a variable `order` would hide the declaration at line 28: choose another name");
  EXPECT_EQ(changed(shop, R"([{"op":"rename_declaration","declaration":"total","name":"twice"}])"),
            "refused: there is already a declaration `twice`");
}

}  // namespace
}  // namespace tenon::graph
