#include "graph/edit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>

#include "graph/edit_json.h"
#include "syntax/parse.h"
#include "tests/support/agent_generator.h"
#include "tests/support/folders.h"
#include "tests/support/read_file.h"
#include "tests/support/sanitized.h"
#include "tests/support/tree_properties.h"

namespace tenon::graph {
namespace {

/// The text after the edits, or why they were rejected. Also undoes them.
std::string edited(const std::string& text, std::string_view json) {
  const auto edits = read_edits(json);
  if (!edits) return "unreadable: " + edits.error().reason;
  const auto after = apply_edits(text, *edits);
  if (!after) return "refused: " + after.error().reason;
  const auto back = apply_edits(after->text, after->inverse);
  EXPECT_TRUE(back.has_value()) << json;
  EXPECT_EQ(back ? back->text : "", text) << json;
  EXPECT_EQ(patched(text, after->patches), after->text) << json;
  return after->text;
}

constexpr const char* two =
    "agent A {\n    // first\n    block a: request {\n        prompt: \"x\" // why\n        -> b\n    }\n\n"
    "    /// Second.\n    block b: code {\n        f()\n    }\n}\n";

TEST(Edit, Options) {
  EXPECT_EQ(edited(two, R"([{"op":"set_option","agent":"A","block":"a","option":"limit","value":"2"}])"),
            "agent A {\n    // first\n    block a: request {\n        prompt: \"x\" // why\n        limit: 2\n        "
            "-> b\n    }\n\n"
            "    /// Second.\n    block b: code {\n        f()\n    }\n}\n");
  EXPECT_EQ(edited("agent A { block a: request { prompt: \"x\", n: 1 -> a } }",
                   R"([{"op":"set_option","agent":"A","block":"a","option":"prompt","value":"\"y\""}])"),
            "agent A { block a: request { prompt: \"y\", n: 1 -> a } }");
  EXPECT_EQ(edited("agent A { block a: request { prompt: \"x\", n: 1 -> a } }",
                   R"([{"op":"set_option","agent":"A","block":"a","option":"n"}])"),
            "agent A { block a: request { prompt: \"x\", -> a } }");
  EXPECT_EQ(edited("agent A { block a: request {} }",
                   R"([{"op":"set_option","agent":"A","block":"a","option":"n","value":"1"}])"),
            "agent A { block a: request {\n    n: 1\n} }");
  EXPECT_EQ(edited(two, R"([{"op":"set_option","agent":"A","block":"a","option":"n","value":"1 +"}])").substr(0, 8),
            "refused:");
  EXPECT_EQ(edited(two, R"([{"op":"set_option","agent":"A","block":"a","option":"n"}])"),
            "refused: `a` has no option `n`");
}

TEST(Edit, AValueDoesNotAffectItsNeighbours) {
  const std::string text =
      "agent A {\n    block a: request {\n        prompt: \"x\", limit: 1\n        -> a\n    }\n}\n";
  for (const char* value :
       {R"(\"y\" // why)", R"(\"y\", other: 2)", R"(\"y\"\n        other: 2)", R"(\"y\" -> a)", R"(\"y\" /// why)"}) {
    const std::string after =
        edited(text, R"([{"op":"set_option","agent":"A","block":"a","option":"prompt","value":")" + std::string(value) +
                         "\"}]");
    EXPECT_EQ(after.substr(0, 8), "refused:") << value << " gave\n" << after;
  }
  EXPECT_EQ(edited(text, R"([{"op":"set_option","agent":"A","block":"a","option":"prompt","value":"\"y\" // why"}])"),
            "refused: the edit would change more than it specifies in the option `prompt` of `a`; write each value as "
            "one expression, without a comment after it");
  EXPECT_EQ(edited(text, R"([{"op":"connect","agent":"A","block":"a","kind":"when","label":"x // ","target":"a"}])")
                .substr(0, 8),
            "refused:");
  EXPECT_EQ(edited("agent A {\n    block a: code {\n        f()\n        -> a\n    }\n}\n",
                   R"([{"op":"set_statements","agent":"A","block":"a","statements":"g()\n-> a\n}\nblock b: code {"}])")
                .substr(0, 8),
            "refused:");
  EXPECT_EQ(
      edited(text, R"([{"op":"add","agent":"A","name":"b","kind":"code","statements":"f()\n-> a"}])").substr(0, 8),
      "refused:");
}

TEST(Edit, Edges) {
  const std::string text =
      "agent A {\n    block a: route {\n        when x -> b\n        else -> b\n    }\n    block b: code {}\n}\n";
  EXPECT_EQ(edited(text, R"([{"op":"connect","agent":"A","block":"a","kind":"when","label":"y > 1","target":"a"}])"),
            "agent A {\n    block a: route {\n        when x -> b\n        when y > 1 -> a\n        else -> b\n    }\n "
            "   block b: code {}\n}\n");
  EXPECT_EQ(
      edited(text, R"([{"op":"connect","agent":"A","block":"a","kind":"when","label":"x","target":"a"}])"),
      "agent A {\n    block a: route {\n        when x -> a\n        else -> b\n    }\n    block b: code {}\n}\n");
  EXPECT_EQ(edited(text, R"([{"op":"connect","agent":"A","block":"b","target":"a"}])"),
            "agent A {\n    block a: route {\n        when x -> b\n        else -> b\n    }\n    block b: code {\n     "
            "   -> a\n    }\n}\n");
  EXPECT_EQ(edited(text, R"([{"op":"disconnect","agent":"A","block":"a","kind":"else"}])"),
            "agent A {\n    block a: route {\n        when x -> b\n    }\n    block b: code {}\n}\n");
  EXPECT_EQ(edited(text, R"([{"op":"connect","agent":"A","block":"a","target":"nowhere"}])"),
            "refused: the block `a` of `A` leads to `nowhere`, which is not a block of the same sequence");
  EXPECT_EQ(edited(text, R"([{"op":"disconnect","agent":"A","block":"a"}])"),
            "refused: `a` has no such edge of the kind `next`");
}

TEST(Edit, Cases) {
  const std::string text = "agent A {\n    block a: route {\n        on x { 1 -> a, else -> a }\n    }\n}\n";
  EXPECT_EQ(
      edited(text, R"([{"op":"connect","agent":"A","block":"a","kind":"case","on":"x","label":"2","target":"a"}])"),
      "agent A {\n    block a: route {\n        on x { 1 -> a, 2 -> a, else -> a }\n    }\n}\n");
  EXPECT_EQ(edited(text, R"([{"op":"disconnect","agent":"A","block":"a","kind":"case","on":"x","label":"else"}])"),
            "agent A {\n    block a: route {\n        on x { 1 -> a }\n    }\n}\n");
  EXPECT_EQ(
      edited(text, R"([{"op":"connect","agent":"A","block":"a","kind":"case","on":"y","label":"2","target":"a"}])"),
      "agent A {\n    block a: route {\n        on x { 1 -> a, else -> a }\n        on y { 2 -> a }\n    }\n}\n");
  EXPECT_EQ(
      edited("agent A {\n    block a: route {\n        on x {\n            1 -> a\n        }\n    }\n}\n",
             R"([{"op":"connect","agent":"A","block":"a","kind":"case","on":"x","label":"2","target":"a"}])"),
      "agent A {\n    block a: route {\n        on x {\n            1 -> a\n            2 -> a\n        }\n    }\n}\n");
  EXPECT_EQ(edited("agent A {\n    block a: route {\n        on x { 1 -> a }\n    }\n}\n",
                   R"([{"op":"disconnect","agent":"A","block":"a","kind":"case","on":"x","label":"1"}])"),
            "agent A {\n    block a: route {\n    }\n}\n");
}

TEST(Edit, Blocks) {
  EXPECT_EQ(edited(two, R"([{"op":"add","agent":"A","name":"c","kind":"request","after":"a","documentation":"Third.",
                            "options":[{"name":"prompt","value":"\"z\""}],"next":"b"}])"),
            "agent A {\n    // first\n    block a: request {\n        prompt: \"x\" // why\n        -> b\n    }\n\n"
            "    /// Third.\n    block c: request {\n        prompt: \"z\"\n        -> b\n    }\n\n"
            "    /// Second.\n    block b: code {\n        f()\n    }\n}\n");
  EXPECT_EQ(edited(two, R"([{"op":"disconnect","agent":"A","block":"a"},{"op":"delete","agent":"A","block":"b"}])"),
            "agent A {\n    // first\n    block a: request {\n        prompt: \"x\" // why\n    }\n}\n");
  EXPECT_EQ(edited(two, R"([{"op":"delete","agent":"A","block":"b"}])"),
            "refused: the block `a` of `A` leads to `b`, which is not a block of the same sequence");
  EXPECT_EQ(edited(two, R"([{"op":"rename","agent":"A","block":"b","name":"done"}])"),
            "agent A {\n    // first\n    block a: request {\n        prompt: \"x\" // why\n        -> done\n    }\n\n"
            "    /// Second.\n    block done: code {\n        f()\n    }\n}\n");
  EXPECT_EQ(edited(two, R"([{"op":"rename","agent":"A","block":"b","name":"a"}])"),
            "refused: there is a block `a` already");
  EXPECT_EQ(edited(two, R"([{"op":"rename","agent":"A","block":"b","name":"for"}])"),
            "refused: `for` is not a valid block name");
  EXPECT_EQ(edited(two, R"([{"op":"add","agent":"A","sequence":"pre_turn","name":"b","kind":"code"}])"),
            "refused: `A` has two blocks `b`");
  EXPECT_EQ(
      edited(two, R"([{"op":"set_statements","agent":"A","block":"b","statements":"g()\nif x {\n    h()\n}"}])"),
      "agent A {\n    // first\n    block a: request {\n        prompt: \"x\" // why\n        -> b\n    }\n\n"
      "    /// Second.\n    block b: code {\n        g()\n        if x {\n            h()\n        }\n    }\n}\n");
}

TEST(Edit, RenamingABlockRenamesItInScripts) {
  const std::string text =
      "agent A {\n    block a: route {}\n    block a_b: route {}\n    fn a_c() {}\n}\ntest \"t\" {\n    model {\n      "
      "  A::a "
      "=> 1\n        A::a_choice => 2\n        A::a_b => 3\n        A::a_b_choice => 4\n        A::a_c => 5\n        "
      "B::a => 6\n        a => 7\n        select => 8\n    }\n}\n";
  EXPECT_EQ(
      edited(text, R"([{"op":"rename","agent":"A","block":"a","name":"z"}])"),
      "agent A {\n    block z: route {}\n    block a_b: route {}\n    fn a_c() {}\n}\ntest \"t\" {\n    model {\n   "
      "     A::z => 1\n        A::z_choice => 2\n        A::a_b => 3\n        A::a_b_choice => 4\n        A::a_c => "
      "5\n        B::a => 6\n        a => 7\n        select => 8\n    }\n}\n");
}

TEST(Edit, Moves) {
  const std::string text =
      "agent A {\n    block a: for_each {\n        item x: String in xs\n\n        block b: code {\n            f()\n  "
      "      }\n    }\n\n"
      "    /// Doc.\n    block c: code {\n        let s = \"\"\"\n            text\n            \"\"\"\n    }\n}\n";
  EXPECT_EQ(edited(text, R"([{"op":"move","agent":"A","block":"c","sequence":"a"}])"),
            "agent A {\n    block a: for_each {\n        item x: String in xs\n\n        block b: code {\n            "
            "f()\n        }\n\n"
            "        /// Doc.\n        block c: code {\n            let s = \"\"\"\n            text\n            "
            "\"\"\"\n        }\n    }\n}\n");
  EXPECT_EQ(
      edited(text, R"([{"op":"move","agent":"A","block":"a/b","sequence":"","after":"a"}])"),
      "agent A {\n    block a: for_each {\n        item x: String in xs\n    }\n\n    block b: code {\n        f()\n   "
      " }\n\n"
      "    /// Doc.\n    block c: code {\n        let s = \"\"\"\n            text\n            \"\"\"\n    }\n}\n");
  EXPECT_EQ(edited(text, R"([{"op":"move","agent":"A","block":"a","sequence":"a"}])"),
            "refused: `a` cannot be moved into itself");
  EXPECT_EQ(edited(text, R"([{"op":"move","agent":"A","block":"a","sequence":"","after":"a"}])"),
            "refused: `a` cannot be moved after itself");
  EXPECT_EQ(edited("agent A {\n    block a: code {}\n}\n",
                   R"([{"op":"move","agent":"A","block":"a","sequence":"pre_turn"}])"),
            "agent A {\n    pre_turn {\n        block a: code {}\n    }\n}\n");
  EXPECT_EQ(
      edited("agent A {\n    block p: parallel {\n    }\n}\n",
             R"([{"op":"add","agent":"A","sequence":"p/left","name":"x","kind":"code"}])"),
      "agent A {\n    block p: parallel {\n        branch left {\n            block x: code {}\n        }\n    }\n}\n");
}

TEST(Edit, Sections) {
  EXPECT_EQ(
      edited(two, R"([{"op":"set_start","agent":"A","block":"b"},{"op":"set_next_turn","agent":"A","mode":"resume"}])"),
      "agent A {\n    start b\n    next_turn resume\n\n    // first\n    block a: request {\n        prompt: \"x\" // "
      "why\n        -> b\n    }\n\n"
      "    /// Second.\n    block b: code {\n        f()\n    }\n}\n");
  EXPECT_EQ(edited("agent A {\n    start a\n    block a: code {}\n}\n", R"([{"op":"set_start","agent":"A"}])"),
            "agent A {\n    block a: code {}\n}\n");
  EXPECT_EQ(edited(two, R"([{"op":"set_start","agent":"A","block":"z"}])"),
            "refused: `A` starts with `z`, which is not one of its blocks");
  EXPECT_EQ(edited(two, R"([{"op":"set_start","agent":"B","block":"z"}])"), "refused: there is no agent `B`");
}

TEST(Edit, LineEndsAreThoseOfTheText) {
  EXPECT_EQ(edited("agent A {\r\n    block a: code {\r\n    }\r\n}\r\n",
                   R"([{"op":"add","agent":"A","name":"b","kind":"code","next":"a"}])"),
            "agent A {\r\n    block a: code {\r\n    }\r\n\r\n    block b: code {\r\n        -> a\r\n    }\r\n}\r\n");
}

TEST(Edit, AllOrNothing) {
  const auto edits =
      read_edits(R"([{"op":"rename","agent":"A","block":"b","name":"c"},{"op":"delete","agent":"A","block":"b"}])");
  const auto after = apply_edits(two, *edits);
  ASSERT_FALSE(after.has_value());
  EXPECT_EQ(after.error().edit, 1U);
  const auto refused =
      apply_edits(two, std::vector<Edit>{RenameBlock{"A", "b", "c"}}, [](std::string_view) { return "no"; });
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().reason, "no");
  EXPECT_FALSE(refused.error().edit.has_value());
  EXPECT_EQ(edited(two, R"([{"op":"replace","offset":0,"removed":"x","inserted":""}])"),
            "refused: the text at byte 0 is not the one to be replaced");
}

TEST(ReadEdits, InvalidEdits) {
  const auto reason = [](std::string_view json) { return read_edits(json).error().reason; };
  EXPECT_EQ(reason("{}"), "the edits: expected a JSON array");
  EXPECT_EQ(reason("[{}]"), "`op` is missing");
  EXPECT_EQ(reason(R"([{"op":"paint"}])").substr(0, 20), "unknown edit `paint`");
  EXPECT_EQ(reason("[1]"), "an edit is a JSON object with `op`");
  EXPECT_EQ(reason(R"([{"op":"delete","agent":"A"}])"), "`block` is missing");
  EXPECT_EQ(reason(R"([{"op":"delete","agent":"A","block":"a","blok":1}])"), "unknown field `blok`");
  EXPECT_EQ(reason(R"([{"op":"connect","agent":"A","block":"a","kind":"on","target":"b"}])").substr(0, 25),
            "`on` is not an edge kind:");
  EXPECT_EQ(reason(R"([{"op":"remove","agent":"A","block":"a"}])").substr(0, 21), "unknown edit `remove`");
  EXPECT_TRUE(reason(std::string(100'000, '[')).starts_with("the edits: expected"));
}

/// Each block's path and contents without white space.
std::map<std::string, std::string> contents(const Graph& graph) {
  std::map<std::string, std::string> found;
  const auto add = [&](const auto& self, const Agent& agent, const Sequence& sequence) -> void {
    for (const Block& block : sequence.blocks) {
      std::string text = block.kind + '|' + block.documentation + '|' + block.statements;
      for (const Setting& option : block.options) text += "|" + option.name + ":" + option.value;
      for (const Edge& edge : block.edges)
        text += "|" + std::string(name_of(edge.kind)) + edge.on + edge.label + edge.target;
      std::erase_if(text, [](char byte) { return byte == ' ' || byte == '\n' || byte == '\r'; });
      found[agent.name + ' ' + block.path] = text;
      for (const Sequence& nested : block.nested) self(self, agent, nested);
    }
  };
  for (const Agent& agent : graph.agents) {
    for (const Sequence& sequence : agent.sequences) add(add, agent, sequence);
  }
  return found;
}

std::map<std::string, std::string> contents(const std::string& text) {
  const source::SourceFile file({0}, "", text);
  diagnostics::Diagnostics diagnostics;
  return contents(make_graph(syntax::parse(file, diagnostics)));
}

std::vector<std::string> line_comments(const std::string& text) {
  const source::SourceFile file({0}, "", text);
  diagnostics::Diagnostics diagnostics;
  const syntax::SyntaxTree tree = syntax::parse(file, diagnostics);
  std::vector<std::string> found;
  for (syntax::TokenIndex at = 0; at < tree.tokens.size(); ++at) {
    if (tree.tokens[at].kind == syntax::TokenKind::LineComment) found.emplace_back(tree.text(at));
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Parts that an edit does not name are kept, and so are comments, except in what is deleted.
void expect_only_what_is_named(const Edit& edit, const std::string& before_text, const std::string& now_text) {
  const std::string shown = to_json(std::vector<Edit>{edit}) + "\nof\n" + before_text + "\ngave\n" + now_text;
  const auto before = contents(before_text);
  const auto now = contents(now_text);
  const auto expect_others_as_they_were = [&](const std::string& agent, const std::string& block) {
    for (const auto& [path, content] : before) {
      const bool is_named = path == agent + ' ' + block;
      ASSERT_TRUE(is_named || now.at(path) == content) << shown;
    }
  };
  if (const auto* const option = std::get_if<SetOption>(&edit))
    expect_others_as_they_were(option->agent, option->block);
  if (const auto* const connect = std::get_if<Connect>(&edit)) {
    expect_others_as_they_were(connect->agent, connect->block);
  }
  if (const auto* const move = std::get_if<MoveBlock>(&edit)) {
    const std::string name(name_in(move->block));
    const std::string to = move->place.sequence.empty() ? name : move->place.sequence + '/' + name;
    ASSERT_EQ(now.at(move->agent + ' ' + to), before.at(move->agent + ' ' + move->block)) << shown;
    ASSERT_EQ(now.size(), before.size()) << shown;
  }
  const bool removes = std::holds_alternative<DeleteBlock>(edit) || std::holds_alternative<SetStatements>(edit) ||
                       std::holds_alternative<RemoveField>(edit) || std::holds_alternative<RemoveBranch>(edit) ||
                       std::holds_alternative<RemoveDeclaration>(edit) || std::holds_alternative<SetInstructions>(edit);
  if (!removes) {
    ASSERT_EQ(line_comments(now_text), line_comments(before_text)) << shown;
  }
}

/// A problem with the tree of a text: its tokens are not the text, or formatting changes the tree.
std::string find_print_problem(const std::string& text) {
  const source::SourceFile file({0}, "", text);
  diagnostics::Diagnostics diagnostics;
  const syntax::SyntaxTree tree = syntax::parse(file, diagnostics);
  const std::string problem = test::find_tree_problem(tree);
  return problem.empty() ? test::find_format_problem(tree) : problem;
}

/// Edits a text at random. Each edit can be undone, and so can all at once, also as JSON. Returns the number of edits.
std::size_t edit_and_undo(const std::string& original, std::uint32_t seed, std::size_t tries) {
  std::mt19937 random(seed);
  std::string text = original;
  std::vector<Edit> edits;
  std::vector<std::vector<Edit>> inverses;
  for (std::size_t step = 0; step < tries; ++step) {
    const Edit edit = test::random_edit(text, random);
    const auto after = apply_edits(text, std::vector<Edit>{edit});
    if (!after) continue;
    expect_only_what_is_named(edit, text, after->text);
    EXPECT_EQ(find_print_problem(after->text), "") << after->text;
    if (::testing::Test::HasFailure()) return 0;
    edits.push_back(edit);
    inverses.push_back(after->inverse);
    text = after->text;
  }
  const auto together = apply_edits(original, *read_edits(to_json(edits)));
  EXPECT_TRUE(together && together->text == text) << original;
  const auto undone = apply_edits(text, *read_edits(to_json(together->inverse)));
  EXPECT_TRUE(undone && undone->text == original) << original;
  for (; !inverses.empty(); inverses.pop_back()) {
    const auto back = apply_edits(text, inverses.back());
    EXPECT_TRUE(back.has_value()) << back.error().reason;
    if (!back) return 0;
    text = back->text;
  }
  EXPECT_EQ(text, original);
  return edits.size();
}

/// Values that are one expression, and such that could absorb the text around them or contain more.
constexpr const char* odd_values[] = {"1",
                                      "\"x\"",
                                      "f(1, 2)",
                                      "if c { 1 } else { 2 }",
                                      "|a| a",
                                      "state.a",
                                      "-1",
                                      "[1, 2]",
                                      "\"\"\"\n  two\n  lines\n  \"\"\"",
                                      "1 // c",
                                      "1, limit: 2",
                                      "1\nlimit: 2",
                                      "1\n-> b0",
                                      "if c { 1 }",
                                      "1 +",
                                      "x.",
                                      "f",
                                      "(1",
                                      "\"x",
                                      "1..",
                                      "x ??",
                                      "!",
                                      "|a|",
                                      "{ 1 }\n}\nblock z: code {",
                                      "/* c",
                                      "1 // c\n",
                                      "return",
                                      "1 as",
                                      "S { a: 1 }",
                                      "tools"};

/// A block's parts by what identifies them, with compact option values.
std::map<std::string, std::string> parts_of(const Graph& graph, const std::string& agent, const std::string& path) {
  std::map<std::string, std::string> parts;
  const Block* const block = graph.find(agent)->find_block(path);
  if (block == nullptr) return parts;
  for (const Setting& option : block->options)
    parts["option " + option.name + std::to_string(parts.size())] = option.value;
  for (const Edge& edge : block->edges) {
    parts["edge " + std::string(name_of(edge.kind)) + std::to_string(parts.size())] =
        edge.label + edge.on + edge.target;
  }
  parts["statements"] = block->statements;
  for (auto& [name, text] : parts) {
    std::erase_if(text, [](char byte) { return byte == ' ' || byte == '\n' || byte == '\r'; });
  }
  return parts;
}

Graph graph_of(const std::string& text) {
  const source::SourceFile file({0}, "", text);
  diagnostics::Diagnostics diagnostics;
  return make_graph(syntax::parse(file, diagnostics));
}

TEST(EditProperties, AValueOnlyChangesItsOption) {
  std::size_t made = 0, refused = 0;
  for (std::uint32_t seed = 0; seed < test::cases(40); ++seed) {
    std::mt19937 random(seed);
    const std::string text = test::AgentGenerator(seed).generate();
    const Graph graph = graph_of(text);
    for (const auto& [name, content] : contents(graph)) {
      const std::string agent = name.substr(0, name.find(' '));
      const std::string path = name.substr(name.find(' ') + 1);
      const Block& block = *graph.find(agent)->find_block(path);
      if (block.kind == "code" || block.kind == "set") continue;
      const std::string value = odd_values[random() % std::size(odd_values)];
      const std::string option =
          block.options.empty() || random() % 2 == 0 ? "limit" : block.options[random() % block.options.size()].name;
      const auto after = apply_edits(text, std::vector<Edit>{SetOption{agent, path, option, value}});
      if (!after) {
        ++refused;
        continue;
      }
      ++made;
      const std::string shown = value + " for " + option + " of " + name + " in\n" + text + "\ngave\n" + after->text;
      const Graph now = graph_of(after->text);
      auto others = contents(now);
      ASSERT_EQ(others.size(), contents(graph).size()) << shown;
      for (const auto& [other, before] : contents(graph)) {
        ASSERT_TRUE(other == name || others[other] == before) << other << " changed: " << shown;
      }
      auto wanted = parts_of(graph, agent, path);
      const auto at = std::find_if(block.options.begin(), block.options.end(),
                                   [&](const Setting& setting) { return setting.name == option; });
      auto found = parts_of(now, agent, path);
      if (at == block.options.end()) {
        ASSERT_EQ(found.size(), wanted.size() + 1) << shown;
        continue;
      }
      std::string& set = wanted["option " + option + std::to_string(at - block.options.begin())];
      set = value;
      std::erase_if(set, [](char byte) { return byte == ' ' || byte == '\n' || byte == '\r'; });
      ASSERT_EQ(found, wanted) << shown;
    }
  }
  EXPECT_GT(made, test::cases(40));
  EXPECT_GT(refused, test::cases(40));
}

std::string with_carriage_returns(const std::string& text) {
  std::string out;
  for (const char byte : text) out += byte == '\n' ? "\r\n" : std::string(1, byte);
  return out;
}

TEST(EditProperties, UndoRestoresTheText) {
  std::size_t applied = 0;
  for (std::uint32_t seed = 0; seed < test::cases(60); ++seed) {
    std::string original = test::AgentGenerator(seed).generate();
    if (seed % 4 == 3) original = with_carriage_returns(original);
    ASSERT_EQ(find_graph_problem(original), std::nullopt) << original;
    ASSERT_EQ(find_print_problem(original), "") << original;
    applied += edit_and_undo(original, seed, 25);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(applied, test::cases(400));
}

/// The programs of the repository that have agents, and those of the language reference.
std::map<std::string, std::string> own_programs() {
  const std::filesystem::path root = test::source_folder();
  std::map<std::string, std::string> programs;
  for (const char* folder : {"examples", "tests", "stdlib"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() == ".tn") programs[entry.path().string()] = test::read_file(entry.path());
    }
  }
  for (const char* page : {"docs/language/16-agents.md", "docs/language/22-blocks.md"}) {
    const std::string text = test::read_file(root / page);
    for (std::size_t at = text.find("\n```tenon"); at != std::string::npos; at = text.find("\n```tenon", at)) {
      const std::size_t begin = text.find('\n', at + 1) + 1;
      at = text.find("\n```\n", begin);
      programs[std::string(page) + ' ' + std::to_string(begin)] = text.substr(begin, at + 1 - begin);
    }
  }
  std::erase_if(programs, [](const auto& program) {
    return find_graph_problem(program.second).has_value() || program.second.find("\nagent ") == std::string::npos;
  });
  return programs;
}

TEST(EditProperties, ProgramsOfTheRepository) {
  std::size_t applied = 0;
  const auto programs = own_programs();
  EXPECT_GE(programs.size(), 10U);
  for (const auto& [path, text] : programs) {
    ASSERT_EQ(find_print_problem(text), "") << path;
    for (std::uint32_t seed = 0; seed < test::cases(4); ++seed) {
      applied += edit_and_undo(seed % 4 == 3 ? with_carriage_returns(text) : text, seed, 15);
      ASSERT_FALSE(::testing::Test::HasFailure()) << path << ", seed " << seed;
    }
  }
  EXPECT_GT(applied, test::cases(200));
}

TEST(EditProperties, ABlockCanBeAddedAgain) {
  auto programs = own_programs();
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    programs[std::to_string(seed)] = test::AgentGenerator(seed).generate();
  }
  for (const auto& [path, text] : programs) {
    std::vector<Edit> edits;
    const source::SourceFile file({0}, "", text);
    diagnostics::Diagnostics diagnostics;
    const Graph graph = make_graph(syntax::parse(file, diagnostics));
    const auto repeat = [&](const auto& self, const Agent& agent, const Sequence& sequence) -> void {
      for (const Block& block : sequence.blocks) {
        edits.emplace_back(RenameBlock{agent.name, block.path, block.name});
        for (const Setting& option : block.options) {
          edits.emplace_back(SetOption{agent.name, block.path, option.name, option.value});
        }
        for (const Edge& edge : block.edges) {
          edits.emplace_back(Connect{agent.name, block.path, {edge.kind, edge.label, edge.on}, edge.target});
        }
        if (block.kind == "code" || block.kind == "set") {
          edits.emplace_back(SetStatements{agent.name, block.path, block.statements});
        }
        for (const Sequence& nested : block.nested) self(self, agent, nested);
      }
    };
    for (const Agent& agent : graph.agents) {
      for (const Sequence& sequence : agent.sequences) repeat(repeat, agent, sequence);
    }
    const auto after = apply_edits(text, *read_edits(to_json(edits)));
    ASSERT_TRUE(after.has_value()) << path << ": " << after.error().reason;
    EXPECT_EQ(after->text, text) << path;
  }
}

}  // namespace
}  // namespace tenon::graph
