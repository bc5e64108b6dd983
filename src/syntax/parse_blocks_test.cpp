// The blocks of agents, complete and with text missing.

#include <gtest/gtest.h>

#include "syntax/parse.h"
#include "tests/support/parsed_file.h"
#include "tests/support/tree_properties.h"

namespace tenon::syntax {
namespace {

using test::ParsedFile;

/// The shape of an agent's parts without errors.
std::string agent_parts(const std::string& text) {
  const ParsedFile agent("agent A {\n" + text + "\n}");
  EXPECT_EQ(agent.errors(), "") << text;
  const std::string shape = test::shape_of(agent.tree);
  constexpr std::string_view before = "(File (AgentItem:A ";
  EXPECT_TRUE(shape.starts_with(before)) << shape;
  return shape.substr(before.size(), shape.size() - before.size() - 2);
}

/// The shape of the parts of a block that does not contain statements.
std::string block_parts(const std::string& text) {
  const std::string shape = agent_parts("block b: request {" + text + "}");
  constexpr std::string_view before = "(BlockItem:b ";
  EXPECT_TRUE(shape.starts_with(before)) << shape;
  return shape.substr(before.size(), shape.size() - before.size() - 1);
}

TEST(ParserBlocks, SectionsOfAnAgent) {
  EXPECT_EQ(
      agent_parts("scratchpad { notes: List<String> = [] }\nstart a\nnext_turn smart\npre_turn { block p: code {} }\n"
                  "post_turn {}"),
      "(ScratchpadSection:scratchpad (StateField:notes (NamedType:List (NamedType:String)) (ListExpression:[))) "
      "(StartSection:a) (NextTurnSection:smart) (TurnSection:pre_turn (BlockItem:p (Block:}))) "
      "(TurnSection:post_turn)");
}

TEST(ParserBlocks, StatementsAndTheNextBlock) {
  EXPECT_EQ(
      agent_parts("block a: code {\n  let x = f(1)\n  state.x = x\n  -> b\n}\nblock b: set { state.x = 1 -> a }"),
      "(BlockItem:a (Block:let (LetStatement:let (NamePattern:x) (CallExpression:f (NameExpression:f) (Arguments:( "
      "(IntegerExpression:1)))) (AssignStatement:= (FieldExpression:x (NameExpression:state)) (NameExpression:x))) "
      "(NextClause:b)) (BlockItem:b (Block:state (AssignStatement:= (FieldExpression:x (NameExpression:state)) "
      "(IntegerExpression:1))) (NextClause:a))");
  EXPECT_EQ(agent_parts("block a: code { -> b }\nblock b: code { f(); ; }"),
            "(BlockItem:a (Block:->) (NextClause:b)) (BlockItem:b (Block:f (ExpressionStatement:f (CallExpression:f "
            "(NameExpression:f) (Arguments:()))))");
}

TEST(ParserBlocks, Options) {
  EXPECT_EQ(block_parts("prompt: \"a\"\nlimit: 1 + 2, tools: tools { f }\nread: [state.a] -> c"),
            "(BlockOption:prompt (StringExpression:\")) (BlockOption:limit (BinaryExpression:+ (IntegerExpression:1) "
            "(IntegerExpression:2))) (BlockOption:tools (ToolsExpression:tools (ToolEntry:f (NameExpression:f)))) "
            "(BlockOption:read (ListExpression:[ (FieldExpression:a (NameExpression:state)))) (NextClause:c)");
  // Words of the grammar can be names of options.
  EXPECT_EQ(
      block_parts("when: 1, on: 2\n to: 3, item: 4, called: 5, branch: 6, block: 7"),
      "(BlockOption:when (IntegerExpression:1)) (BlockOption:on (IntegerExpression:2)) (BlockOption:to "
      "(IntegerExpression:3)) (BlockOption:item (IntegerExpression:4)) (BlockOption:called (IntegerExpression:5)) "
      "(BlockOption:branch (IntegerExpression:6)) (BlockOption:block (IntegerExpression:7))");
}

TEST(ParserBlocks, Transitions) {
  EXPECT_EQ(block_parts("when state.a && b -> c\nto d: \"the {{ x }}\"\ncalled f -> g\nelse -> h"),
            "(WhenClause:c (BinaryExpression:&& (FieldExpression:a (NameExpression:state)) (NameExpression:b))) "
            "(ToClause:d (StringExpression:\" (TemplateHole:{{ (NameExpression:x)))) (CalledClause:g) (ElseClause:h)");
  EXPECT_EQ(
      block_parts("on state.i { \"a\" -> b, \"c\" | \"d\" -> e\n else -> f }\nwhen \"angry\" -> g"),
      "(OnClause:on (FieldExpression:i (NameExpression:state)) (OnArm:b (LiteralPattern:\" (StringExpression:\"))) "
      "(OnArm:e (OrPattern:\" (LiteralPattern:\" (StringExpression:\")) (LiteralPattern:\" (StringExpression:\")))) "
      "(OnArm:f)) (WhenClause:g (StringExpression:\"))");
}

TEST(ParserBlocks, NestedBlocks) {
  EXPECT_EQ(agent_parts("block r: for_each {\n  item t: List<i32 in 0..5> in scratchpad.t\n  parallel: 8\n"
                        "  block f: request {\n    -> g\n  }\n  block g: code {}\n  into: state.f\n  -> d\n}"),
            "(BlockItem:r (ItemClause:t (NamedType:List (RefinedType:i32 (NamedType:i32) (RangeConstraint:in "
            "(RangeExpression:.. (IntegerExpression:0) (IntegerExpression:5))))) (FieldExpression:t "
            "(NameExpression:scratchpad))) (BlockOption:parallel (IntegerExpression:8)) (BlockItem:f (NextClause:g)) "
            "(BlockItem:g (Block:})) (BlockOption:into (FieldExpression:f (NameExpression:state))) (NextClause:d))");
  EXPECT_EQ(block_parts("branch p { block x: code {} block y: code {} }\nbranch c {}"),
            "(BranchItem:p (BlockItem:x (Block:})) (BlockItem:y (Block:}))) (BranchItem:c)");
  // Braces determine the structure, not columns.
  EXPECT_EQ(agent_parts("block a: for_each {\nblock b: for_each {\nblock c: code {\n}\n}\nx: 1\n}"),
            "(BlockItem:a (BlockItem:b (BlockItem:c (Block:}))) (BlockOption:x (IntegerExpression:1)))");
}

TEST(ParserBlocks, TheKindFollowsTheName) {
  const ParsedFile agent("agent A { /// doc\nblock a /* 1 */ : /* 2 */ code {} }");
  ASSERT_EQ(agent.errors(), "");
  const NodeId block = agent.tree.first(agent.tree.first(agent.tree.root));
  const auto kind = agent.tree.find_block_kind(block);
  ASSERT_TRUE(kind.has_value());
  EXPECT_EQ(agent.tree.text(*kind), "code");
  EXPECT_EQ(agent.tree.documentation(block), "doc");
}

/// The names and kinds of all blocks, in the order of the text.
std::string blocks_of(const SyntaxTree& tree) {
  std::string names;
  for (TokenIndex at = 0; at < tree.tokens.size(); ++at) {
    for (std::uint32_t index = 0; index < tree.nodes.size(); ++index) {
      const Node& node = tree[NodeId{index}];
      if (node.kind == NodeKind::BlockItem && node.first_token == at)
        names += std::string(tree.text(node.main_token)) + ' ';
    }
  }
  return names;
}

/// The errors in an agent's lines, which start with line 2, and the blocks that are read nevertheless. A block `z` and
/// a function follow, in which nothing may be reported.
std::string damaged(const std::string& lines) {
  const ParsedFile agent("agent A {\n" + lines + "\n  block z: code {\n    f()\n  }\n}\nfn g() {}\n");
  const NodeId last = agent.tree.children(agent.tree.root).back();
  EXPECT_EQ(agent.tree.kind(last), NodeKind::FunctionItem) << lines;
  return agent.messages() + blocks_of(agent.tree);
}

TEST(ParserBlocksErrors, HalfTypedHeads) {
  EXPECT_EQ(damaged("  block"),
            "2:8 expected a block name, found end of line\n"
            "block z ");
  EXPECT_EQ(damaged("  block a"),
            "2:10 expected `:` and a block kind such as `request`, found end of line\n"
            "a z ");
  EXPECT_EQ(damaged("  block a:"),
            "2:11 expected a block kind such as `request`, found end of line\n"
            "a z ");
  EXPECT_EQ(damaged("  block a: request"),
            "2:19 expected `{` and the body of the block, found end of line\n"
            "a z ");
  EXPECT_EQ(damaged("  block a: request {"),
            "2:21 expected `}`, found end of line\n"
            "a z ");
  EXPECT_EQ(damaged("  block : code {\n    f()\n  }"),
            "2:9 expected a block name, found `:`\n"
            ": z ");
  EXPECT_EQ(damaged("  block a {\n    prompt: 1\n  }"),
            "2:11 expected `:` and a block kind such as `request`, found `{`\n"
            "a z ");
  EXPECT_EQ(damaged("  block a request {\n    prompt: 1\n  }"),
            "2:11 expected `:` and a block kind such as `request`, found `request`\n"
            "a z ");
  EXPECT_EQ(damaged("  block a: request\n    prompt: 1\n    -> z\n  }"),
            "2:19 expected `{`, found end of line\n"
            "a z ");
  EXPECT_EQ(damaged("  start\n  next_turn\n  pre_turn\n  scratchpad"),
            "2:8 expected the name of the first block, found end of line\n"
            "3:12 expected `restart`, `resume` or `smart`, found end of line\n"
            "4:11 expected `{` and blocks, found end of line\n"
            "5:13 expected `{`, found end of line\n"
            "z ");
  EXPECT_EQ(damaged("  start 5\n  next_turn \"x\"\n  pre_turn { f() }"),
            "2:9 expected the name of the first block, found integer\n"
            "4:14 expected a block such as `block name: request { … }`, found `f`\n"
            "z ");
}

TEST(ParserBlocksErrors, MissingBraces) {
  EXPECT_EQ(damaged("  block a: request {\n    prompt: 1\n  block b: code {\n    f()\n  block c: code {}"),
            "3:14 expected `}`, found end of line\n"
            "5:8 expected `}`, found end of line\n"
            "a b c z ");
  EXPECT_EQ(damaged("  block a: for_each {\n    item x: String in y\n    block b: request {\n      prompt: 1\n    "
                    "block c: code {}\n    -> z\n  }"),
            "5:16 expected `}`, found end of line\n"
            "a b c z ");
  EXPECT_EQ(damaged("  block a: for_each {\n    block b: request {\n      prompt: 1\n    }\n    -> z"),
            "6:9 expected `}`, found end of line\n"
            "a b z ");
  EXPECT_EQ(damaged("  block a: parallel {\n    branch p {\n      block b: code {}\n    branch q {\n      block c: "
                    "code {}\n    }\n  }"),
            "4:23 expected `}`, found end of line\n"
            "a b c z ");
  EXPECT_EQ(damaged("  pre_turn {\n    block a: code {}\n  post_turn {\n    block b: code {}\n  }"),
            "3:21 expected `}`, found end of line\n"
            "a b z ");
  EXPECT_EQ(damaged("  block a: core_loop {\n    tools: tools { f, g\n    limit: 5\n    -> z\n  }"),
            "3:24 expected `}`, found end of line\n"
            "a z ");
  EXPECT_EQ(damaged("  block a: route {\n    on x {\n      1 -> z\n    else -> z\n  }"),
            "4:13 expected `}`, found end of line\n"
            "a z ");
  EXPECT_EQ(damaged("  block a: code {\n    if x {\n      f()\n    -> z\n  }"),
            "4:10 expected `}`, found end of line\n"
            "a z ");
}

TEST(ParserBlocksErrors, Parts) {
  EXPECT_EQ(damaged("  block a: request {\n    prompt:\n    limit: 5\n    read\n    write [x]\n    x = 1\n  }"),
            "3:12 expected a value for the option, found end of line\n"
            "5:9 expected `:` and a value for the option, found end of line\n"
            "7:7 expected `:` and a value for the option, found `=`\n"
            "a z ");
  EXPECT_EQ(damaged("  block a: route {\n    when\n    when -> z\n    when x\n    when x ->\n    when x z\n    else\n  "
                    "  else z\n    ->\n  }"),
            "3:9 expected a condition, found end of line\n"
            "4:10 expected an expression, found `->`\n"
            "5:11 expected `->` and the name of the next block, found end of line\n"
            "6:14 expected the name of the next block, found end of line\n"
            "7:12 expected `->` and the name of the next block, found `z`\n"
            "8:9 expected `->` and the name of the next block, found end of line\n"
            "9:10 expected `->` and the name of the next block, found `z`\n"
            "10:7 expected the name of the next block, found end of line\n"
            "a z ");
  EXPECT_EQ(damaged("  block a: route {\n    to\n    to z\n    to z \"a\"\n    to z: 5\n    called\n    called f\n    "
                    "called -> z\n    on\n    on x\n    on x { 1 z, -> z, 2 -> }\n  }"),
            "3:7 expected the name of the next block, found end of line\n"
            "4:9 expected `:` and a description for the model, found end of line\n"
            "5:10 expected `:` and a description for the model, found string\n"
            "6:11 expected a quoted description for the model, found integer\n"
            "7:11 expected a tool name, found end of line\n"
            "8:13 expected `->` and the name of the next block, found end of line\n"
            "9:12 expected a tool name, found `->`\n"
            "10:7 expected a value to match, found end of line\n"
            "11:9 expected `{` and a case such as `\"billing\" -> bills`, found end of line\n"
            "12:14 expected `->` and the name of the next block, found `z`\n"
            "12:17 expected a pattern, found `->`\n"
            "12:28 expected the name of the next block, found `}`\n"
            "a z ");
  EXPECT_EQ(damaged("  block a: for_each {\n    item\n    item x\n    item x in y\n    item x: String\n    branch\n    "
                    "branch {}\n    branch p { f() }\n  }"),
            "3:9 expected an item name, found end of line\n"
            "4:11 expected `:` and the type of the item, found end of line\n"
            "5:12 expected `:` and the type of the item, found `in`\n"
            "6:19 expected `in` and a list, found end of line\n"
            "7:11 expected a branch name, found end of line\n"
            "8:12 expected a branch name, found `{`\n"
            "9:16 expected a block such as `block name: request { … }`, found `f`\n"
            "a z ");
  EXPECT_EQ(damaged("  block a: request {\n    -> z\n    prompt: 1\n    limit: 2\n  }"),
            "4:5 expected `}` (`-> …` must be the last part of a block), found `prompt`\n"
            "a z ");
  EXPECT_EQ(damaged("  block a: request {\n    let x = 1\n    state.x = 2\n    if x { f() }\n    prompt: 1 limit: 2\n  "
                    "  )\n    fn f() {}\n    prompt: x!\n  }"),
            "3:5 expected a block part such as `prompt: \"…\"` or `-> next`, found `let`\n"
            "4:10 expected `:` and a value for the option, found `.`\n"
            "5:5 expected a block part such as `prompt: \"…\"` or `-> next`, found `if`\n"
            "6:15 expected `,` or a line end, found `limit`\n"
            "7:5 unexpected closing bracket `)`\n"
            "9:14 an injection (`…!`) has no value and cannot be part of an expression\n"
            "a z ");
  EXPECT_EQ(damaged("  block a: code {\n    f()\n    -> z\n    g()\n  }"),
            "5:5 expected `}` (`-> …` must be the last part of a block), found `g`\n"
            "a z ");
  EXPECT_EQ(damaged("  block a: code {}\n  }"),
            "3:3 unexpected closing bracket `}`\n"
            "a z ");
}

}  // namespace
}  // namespace tenon::syntax
