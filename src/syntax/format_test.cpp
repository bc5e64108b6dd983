#include "syntax/format.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <utility>

#include "syntax/parse.h"
#include "tests/support/folders.h"
#include "tests/support/program_generator.h"
#include "tests/support/read_file.h"
#include "tests/support/sanitized.h"
#include "tests/support/tree_properties.h"

namespace tenon::syntax {
namespace {

/// The formatted text, after a check of everything that `format` guarantees.
std::string formatted(std::string text) {
  const source::SourceFile file({0}, "test.tn", std::move(text));
  diagnostics::Diagnostics diagnostics;
  const SyntaxTree tree = parse(file, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.all().front().message << " in\n" << file.text();
  if (diagnostics.has_errors()) return {};
  EXPECT_EQ(test::find_format_problem(tree), "") << "of\n" << file.text();
  return format(tree);
}

/// The same for the lines of a function's body.
std::string body(const std::string& text) {
  const std::string whole = formatted("fn f() {\n" + text + "\n}\n");
  constexpr std::string_view before = "fn f() {\n";
  return whole.starts_with(before) ? whole.substr(before.size(), whole.size() - before.size() - 2) : whole;
}

TEST(Format, SpacesAndIndentation) {
  EXPECT_EQ(formatted("fn   f ( ctx:Context,x :i32 )->i32{\nlet y=x+1 ;y}"),
            "fn f(ctx: Context, x: i32) -> i32 {\n    let y = x + 1;\n    y\n}\n");
  EXPECT_EQ(body("-a . b ( ) [ 0 ] ! "), "    -a.b()[0]!\n");
  EXPECT_EQ(body("x = f < List < i32 > > ( 1 , 2 , ) ?? ! y as i64"), "    x = f<List<i32>>(1, 2) ?? !y as i64\n");
  EXPECT_EQ(body("a..b; a ..=b; ..b; a.."), "    a..b;\n    a..=b;\n    ..b;\n    a..\n");
}

TEST(Format, SemicolonsAreKept) {
  EXPECT_EQ(body("f(ctx)"), "    f(ctx)\n");
  EXPECT_EQ(body("f(ctx);"), "    f(ctx);\n");
  EXPECT_EQ(body("f(ctx)\n;"), "    f(ctx);\n");
  EXPECT_EQ(body("a;; b"), "    a;;\n    b\n");
  EXPECT_EQ(formatted("use a::b;;extern fn f()"), "use a::b;;\nextern fn f()\n");
}

TEST(Format, OneStatementPerLine) {
  EXPECT_EQ(body("a; b!; let c = d"), "    a;\n    b!;\n    let c = d\n");
}

TEST(Format, BlankLines) {
  EXPECT_EQ(body("\n\n a\n\n\n\n b\n c\n\n"), "    a\n\n    b\n    c\n");
  EXPECT_EQ(formatted("\n\n\nuse a\n\n\n\nuse b\n\n\n"), "use a\n\nuse b\n");
  EXPECT_EQ(formatted("\n \n"), "");
}

TEST(Format, Comments) {
  EXPECT_EQ(formatted("// first\n\n\n/// doc\nfn f() {} // after\n\n// last"),
            "// first\n\n/// doc\nfn f() {} // after\n\n// last\n");
  EXPECT_EQ(body("a    // after\n\n  // own\n b /* in */ + c\n// end"),
            "    a // after\n\n    // own\n    b /* in */ + c\n    // end\n");
  EXPECT_EQ(body("f(a, // one\n b // two\n)"), "    f(\n        a, // one\n        b, // two\n    )\n");
  EXPECT_EQ(formatted("fn f() { // why\n}"), "fn f() { // why\n}\n");
  EXPECT_EQ(formatted("fn f() {\n// why\n}"), "fn f() {\n    // why\n}\n");
  EXPECT_EQ(formatted("// only"), "// only\n");
  EXPECT_EQ(body("[ // why\n]"), "    [ // why\n    ]\n");
}

TEST(Format, CommentsOfAlternatives) {
  EXPECT_EQ(formatted("type Size = /// For children.\n\"small\"\n/// For others.\n| \"large\"\nfn f() {}"),
            "type Size = /// For children.\n    \"small\"\n    /// For others.\n    | \"large\"\nfn f() {}\n");
  const std::string own_lines =
      "type Size =\n    /// For children.\n    \"small\"\n    /// For others.\n    | \"large\"\n";
  EXPECT_EQ(formatted("type Size =\n/// For children.\n\"small\"\n    /// For others.\n    | \"large\"\n"), own_lines);
  EXPECT_EQ(formatted(own_lines), own_lines);
  EXPECT_EQ(formatted("type Age =\n// In years.\ni32 in 0..=150\n"),
            "type Age =\n    // In years.\n    i32 in 0..=150\n");
}

TEST(Format, BracesOfOneStatementAsWritten) {
  EXPECT_EQ(formatted("fn f() -> i32 { 1 }\nfn g() -> i32 {\n1 }"), "fn f() -> i32 { 1 }\nfn g() -> i32 {\n    1\n}\n");
  EXPECT_EQ(body("for x in xs{x!}"), "    for x in xs { x! }\n");
  EXPECT_EQ(body("if a {b} else {c}"), "    if a { b } else { c }\n");
  EXPECT_EQ(body("if a {b} else {\nc}"), "    if a {\n        b\n    } else {\n        c\n    }\n");
  EXPECT_EQ(body("if a { b; c }"), "    if a {\n        b;\n        c\n    }\n");
  EXPECT_EQ(formatted("struct P{a:i32,b:i32,}\nstruct Q{\na:i32,b:i32}"),
            "struct P { a: i32, b: i32 }\nstruct Q {\n    a: i32,\n    b: i32,\n}\n");
  EXPECT_EQ(formatted("struct P {\n a: i32\n b: i32\n}"), "struct P {\n    a: i32\n    b: i32\n}\n");
}

TEST(Format, Contracts) {
  EXPECT_EQ(formatted("fn f(n: i32) requires n>0 as \"is positive\" { n }"),
            "fn f(n: i32)\n    requires n > 0 as \"is positive\"\n{ n }\n");
  const std::string words =
      "as \"is a part of the text that represents the whole of it, and is long enough to be read\"";
  EXPECT_EQ(formatted("fn f(text: String) -> String ensures text.contains(result) && result.len() > 10 " + words +
                      " { text }"),
            "fn f(text: String) -> String\n    ensures text.contains(result) && result.len() > 10\n        " + words +
                "\n{ text }\n");
}

TEST(Format, Agents) {
  EXPECT_EQ(formatted("agent  A{state{a:i32=0,b :String?= None,}instructions{\"x\"!}fn f(){}}"),
            "agent A {\n    state { a: i32 = 0, b: String? = None }\n    instructions { \"x\"! }\n    fn f() {}\n}\n");
  EXPECT_EQ(formatted("/// a\nagent A {\n\n// b\nstate {\n/// c\na: i32 = 0 // d\n\n\nb: i32 = 1 }\n\n\n/// e\n"
                      "instructions { // f\n}\nfn f() {}\n// g\n}"),
            "/// a\nagent A {\n    // b\n    state {\n        /// c\n        a: i32 = 0 // d\n\n        b: i32 = 1\n"
            "    }\n\n    /// e\n    instructions { // f\n    }\n    fn f() {}\n    // g\n}\n");
  EXPECT_EQ(formatted("agent A{}\nagent B{state{}}"), "agent A {}\nagent B {\n    state {}\n}\n");
  EXPECT_EQ(formatted("agent A { state {\na: i32 = 0, b: i32 = 1 } }"),
            "agent A {\n    state {\n        a: i32 = 0,\n        b: i32 = 1,\n    }\n}\n");
}

TEST(Format, BlocksOfAgents) {
  EXPECT_EQ(
      formatted("agent A{start a next_turn  smart\nblock a:code{let x=1 ;f(x) ->b}block b :request{prompt:\"x\",limit:"
                "2,->a}fn f(){}}"),
      "agent A {\n    start a\n    next_turn smart\n\n    block a: code {\n        let x = 1;\n        f(x)\n"
      "        -> b\n    }\n\n    block b: request {\n        prompt: \"x\",\n        limit: 2,\n        -> a\n"
      "    }\n\n    fn f() {}\n}\n");
  EXPECT_EQ(
      formatted("agent A {\n// c\nblock a: code {} // d\n// e\n/// f\nblock b: route{when x->a\nto b:\"b\"\n"
                "on  x{\"a\"->a,else->b}\n\n\ncalled t->a\nelse->b // g\n// h\n}}"),
      "agent A {\n    // c\n    block a: code {} // d\n\n    // e\n    /// f\n    block b: route {\n        when x "
      "-> a\n        to b: \"b\"\n        on x { \"a\" -> a, else -> b }\n\n        called t -> a\n        else -> b "
      "// g\n        // h\n    }\n}\n");
  EXPECT_EQ(
      formatted("agent A { pre_turn{block a:for_each{item t:String  in xs\nparallel:8\nblock b: code{ // x\n}\n"
                "block c: parallel{branch p{} branch q{block d:code{;}}} into:y}}}"),
      "agent A {\n    pre_turn {\n        block a: for_each {\n            item t: String in xs\n            parallel: "
      "8\n            block b: code { // x\n            }\n\n            block c: parallel {\n                branch p "
      "{}\n                branch q {\n                    block d: code {\n                        ;\n"
      "                    }\n                }\n            }\n            into: y\n        }\n    }\n}\n");
}

TEST(Format, MatchAndSelect) {
  EXPECT_EQ(body("match x {\n1|2=>a,\n_ if b=>{c}\n}"),
            "    match x {\n        1 | 2 => a,\n        _ if b => { c }\n    }\n");
  EXPECT_EQ(body("let t=tools{search,refund( id,_ )  as pay}+other\nlet u = tools {\na\nb( _ )\n}"),
            "    let t = tools { search, refund(id, _) as pay } + other\n"
            "    let u = tools {\n        a\n        b(_)\n    }\n");
  EXPECT_EQ(body("let t=pursue \"red\" from 1 limit 3  width 2 {a( _ ),b(_,1)  as other}"),
            "    let t = pursue \"red\" from 1 limit 3 width 2 { a(_), b(_, 1) as other }\n");
  EXPECT_EQ(body("select {\n.. set as r=>r\n}"), "    select {\n        ..set as r => r,\n    }\n");
  EXPECT_EQ(body("let r = select {\nadd(ctx,_,_) as sum=>sum,\nelse=>0\n}"),
            "    let r = select {\n        add(ctx, _, _) as sum => sum,\n        else => 0,\n    }\n");
  EXPECT_EQ(body("match x { 1 => \"a\"!, _ => b }"), "    match x { 1 => \"a\"!, _ => b }\n");
}

TEST(Format, ListsThatDoNotFitHaveOneElementPerLine) {
  const std::string wide = "argument_with_quite_a_long_name";
  EXPECT_EQ(body("f(" + wide + ", " + wide + ", " + wide + ")"),
            "    f(\n        " + wide + ",\n        " + wide + ",\n        " + wide + ",\n    )\n");
  EXPECT_EQ(body("f(\na,\nb,\n)"), "    f(a, b)\n");
  EXPECT_EQ(body("let t = (a,)"), "    let t = (a,)\n");
  EXPECT_EQ(body("for x in xs parallel(" + std::string(90, 'n') + ") {}"),
            "    for x in xs parallel(\n        " + std::string(90, 'n') + "\n    ) {}\n");
}

TEST(Format, ALineCanBeExactlyFull) {
  const std::string name(line_width_max - 4 - 6, 'a');
  EXPECT_EQ(body("f(" + name + ", b)"), "    f(" + name + ", b)\n");
  EXPECT_EQ(body("f(" + name + "a, b)"), "    f(\n        " + name + "a,\n        b,\n    )\n");
  const std::string wide = "\"" + std::string(20, ' ') + "äöü\"";  // counted in characters
  EXPECT_EQ(body("f(" + name.substr(27) + ", " + wide + ")"), "    f(" + name.substr(27) + ", " + wide + ")\n");
}

TEST(Format, ALastClosureStartsOnTheLineOfTheCall) {
  EXPECT_EQ(body("xs.map(|x| {\nlet y = x\ny })"), "    xs.map(|x| {\n        let y = x\n        y\n    })\n");
  EXPECT_EQ(body("f(g(|x| {\nx\n}))"), "    f(g(|x| {\n        x\n    }))\n");
  EXPECT_EQ(body("f(|x| {\nx\n}, a)"), "    f(\n        |x| {\n            x\n        },\n        a,\n    )\n");
  const std::string wide(45, 'w');
  EXPECT_EQ(body("f(" + wide + ", |x| { " + wide + " })"), "    f(" + wide + ", |x| {\n        " + wide + "\n    })\n");
}

TEST(Format, ChainsAndOperators) {
  const std::string wide(40, 'w');
  EXPECT_EQ(body("xs.map(" + wide + ").filter(" + wide + ").first"),
            "    xs\n        .map(" + wide + ")\n        .filter(" + wide + ").first\n");
  EXPECT_EQ(body(wide + " + " + wide + " * 2 + " + wide),
            "    " + wide + "\n        + " + wide + " * 2\n        + " + wide + "\n");
  EXPECT_EQ(body(wide + " + " + wide + " - " + wide),
            "    " + wide + " +\n        " + wide + " -\n        " + wide + "\n");
  EXPECT_EQ(formatted("type T = \"" + wide + "\" | \"" + wide + "\" | \"c\""),
            "type T = \"" + wide + "\"\n    | \"" + wide + "\"\n    | \"c\"\n");
}

TEST(Format, StringsAreUnchanged) {
  EXPECT_EQ(body("\"a   {{b+c}}\"!"), "    \"a   {{b+c}}\"!\n");
  EXPECT_EQ(body("let s=\"\"\"\n  a\n b\n\"\"\""), "    let s = \"\"\"\n  a\n b\n\"\"\"\n");
}

TEST(Format, TokensThatWouldMergeAreSeparated) {
  EXPECT_EQ(body("1. ..2"), "    1. ..2\n");
  EXPECT_EQ(body("f(| | a)"), "    f(| | a)\n");
  EXPECT_EQ(formatted("type T = A? ?"), "type T = A? ?\n");
  EXPECT_EQ(body("1.max(2); t.0.1"), "    1.max(2);\n    t.0.1\n");
}

TEST(Format, LineEndsAreThoseOfTheFile) {
  EXPECT_EQ(formatted("use a\r\n\r\n\r\nuse b // c\r\n"), "use a\r\n\r\nuse b // c\r\n");
}

TEST(FormatProperties, GeneratedPrograms) {
  for (std::uint32_t seed = 1'000; seed < 1'400; ++seed) {
    static_cast<void>(formatted(test::ProgramGenerator(seed).generate()));
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
}

/// Calls `use` with the tree of each program of the repository that has no errors.
void for_each_program(const std::function<void(const SyntaxTree& tree)>& use) {
  const std::filesystem::path root = test::source_folder();
  for (const char* folder : {"tests", "examples", "stdlib"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".tn") continue;
      const source::SourceFile file({0}, entry.path().string(), test::read_file(entry.path()));
      diagnostics::Diagnostics diagnostics;
      const SyntaxTree tree = parse(file, diagnostics);
      if (!diagnostics.has_errors()) use(tree);
    }
  }
}

TEST(FormatPrograms, InTheRepository) {
  std::size_t count = 0;
  for_each_program([&](const SyntaxTree& tree) {
    EXPECT_EQ(test::find_format_problem(tree), "") << tree.file().path();
    ++count;
  });
  EXPECT_GE(count, 30U);
}

/// Whether a comment right before the token is a comment, and not part of a string.
bool takes_comment(TokenKind kind) {
  return !is_trivia(kind) && kind != TokenKind::StringText && kind != TokenKind::StringEnd &&
         kind != TokenKind::TemplateStart;
}

/// Formats `text` unless the inserted comments change its meaning, as a line end can. Returns whether it was formatted.
bool check_with_comments(std::string text, const std::string& shape) {
  const source::SourceFile file({0}, "commented.tn", std::move(text));
  diagnostics::Diagnostics diagnostics;
  const SyntaxTree tree = parse(file, diagnostics);
  if (diagnostics.has_errors() || test::shape_of(tree) != shape) return false;
  EXPECT_EQ(test::find_format_problem(tree), "") << "of\n" << file.text();
  return true;
}

TEST(FormatPrograms, CommentsBetweenAnyTwoTokens) {
  const std::vector<std::string> comments = {
      "/* c */",
      "// c\n",
      "/* c\nd */",
      "\n// c\n",
      "\n/* c */ ",
      "/* c */\n",
      "\n\n/* c */\n\n",
      "\n\n// c\n\n",
      "/* a *//* b */",
      "/// c\n",
      " // a\n\n\n// b\n",
      "/* a */\n/* b */\n",
      " /* a */ // b\n",
      "/* " + std::string(50, 'c') + " */",
      "// " + std::string(90, 'c') + "\n",
  };
  std::mt19937 random(20);
  std::size_t count = 0;
  // So that what is often in the programs, as a comma after a name, does not take most of the time.
  constexpr unsigned checks_of_a_pair = test::cases(60);
  std::map<std::pair<TokenKind, TokenKind>, unsigned> checks;
  // One item at a time: a comment in one does not change the others.
  const auto check_item = [&](const std::string& text) {
    const source::SourceFile file({0}, "item.tn", text);
    diagnostics::Diagnostics diagnostics;
    const SyntaxTree tree = parse(file, diagnostics);
    const std::string shape = test::shape_of(tree);
    std::string many;
    std::uint32_t copied = 0;
    TokenKind before = TokenKind::End;
    for (const Token& token : tree.tokens) {
      const TokenKind previous = before;
      if (!is_trivia(token.kind)) before = token.kind;
      if (!takes_comment(token.kind) || ++checks[{previous, token.kind}] > checks_of_a_pair) continue;
      const std::string& comment = comments[random() % comments.size()];
      if (check_with_comments(text.substr(0, token.offset) + comment + text.substr(token.offset), shape)) ++count;
      if (random() % 16 != 0) continue;
      many += text.substr(copied, token.offset - copied) + comment;
      copied = token.offset;
    }
    check_with_comments(many + text.substr(copied), shape);
    return !::testing::Test::HasFailure();
  };
  for_each_program([&](const SyntaxTree& tree) {
    for (NodeId item = tree.first(tree.root); item.exists(); item = tree.next(item)) {
      if (!check_item(std::string(tree.text(item)) + "\n")) return;
    }
  });
  EXPECT_GE(count, test::cases(10'000));
}

TEST(FormatPrograms, ConstructsAreFormatted) {
  const std::string text = test::read_file(test::source_folder() / "tests/syntax/constructs.tn");
  EXPECT_EQ(formatted(text), text);
}

}  // namespace
}  // namespace tenon::syntax
