#include "syntax/parser.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <sstream>

#include "syntax/parse.h"
#include "tests/support/folders.h"
#include "tests/support/parsed_file.h"
#include "tests/support/program_generator.h"
#include "tests/support/read_file.h"
#include "tests/support/sanitized.h"
#include "tests/support/tree_properties.h"

namespace tenon::syntax {
namespace {

using test::ParsedFile;

/// The shape of a file without errors.
std::string items(std::string text) {
  const ParsedFile parsed(std::move(text));
  EXPECT_EQ(parsed.errors(), "");
  const std::string shape = test::shape_of(parsed.tree);
  return shape.substr(6, shape.size() - 7);  // without `(File ` and `)`
}

/// The shape of the statements of a function's body.
std::string statements(const std::string& text) {
  const std::string shape = items("fn f() { " + text + " }");
  constexpr std::string_view before = "(FunctionItem:f (Parameters:() (Block:{ ";
  EXPECT_TRUE(shape.starts_with(before)) << shape;
  return shape.substr(before.size(), shape.size() - before.size() - 2);
}

/// The shape of a single expression statement.
std::string expression(const std::string& text) {
  const std::string shape = statements(text);
  const std::size_t begin = shape.find(" (");
  return begin == std::string::npos ? shape : shape.substr(begin + 1, shape.size() - begin - 2);
}

std::string type(const std::string& text) {
  const std::string shape = items("type T = " + text);
  return shape.substr(12, shape.size() - 13);
}

std::string errors(std::string text) {
  return ParsedFile(std::move(text)).errors();
}
/// The errors of statements on separate lines, starting with line 2.
std::string body_errors(const std::string& text) {
  return errors("fn f() {\n" + text + "\n}\nfn g() {}\n");
}

TEST(ParserItems, Functions) {
  EXPECT_EQ(items("fn f() {}"), "(FunctionItem:f (Parameters:() (Block:{))");
  EXPECT_EQ(items("fn f(Context, code) -> Analysis {}"),
            "(FunctionItem:f (Parameters:( (Parameter:Context) (Parameter:code)) (ReturnType:-> (NamedType:Analysis)) "
            "(Block:{))");
  EXPECT_EQ(items("fn f<A, B>(x: A,) -> () budget(calls: 3, time: 30s) {}"),
            "(FunctionItem:f (TypeParameters:< (TypeParameter:A) (TypeParameter:B)) (Parameters:( (Parameter:x "
            "(NamedType:A))) "
            "(ReturnType:-> (TupleType:()) (BudgetClause:budget (NamedArgument:calls (IntegerExpression:3)) "
            "(NamedArgument:time (IntegerExpression:30))) (Block:{))");
}

TEST(ParserItems, Externs) {
  EXPECT_EQ(items("extern fn add(x: i32) -> i32;"),
            "(ExternItem:add (Parameters:( (Parameter:x (NamedType:i32))) (ReturnType:-> (NamedType:i32)))");
  EXPECT_EQ(items("extern fn a()\nextern fn b()"), "(ExternItem:a (Parameters:()) (ExternItem:b (Parameters:())");
}

TEST(ParserItems, Structs) {
  EXPECT_EQ(items("struct P { a: i32, b: String? }"),
            "(StructItem:P (FieldItem:a (NamedType:i32)) (FieldItem:b (OptionalType:String (NamedType:String))))");
  EXPECT_EQ(items("struct P {\n a: f64 in 0.0..\n b: i32\n}"),
            "(StructItem:P (FieldItem:a (RefinedType:f64 (NamedType:f64) (RangeConstraint:in (RangeExpression:.. "
            "(FloatExpression:0.0))))) (FieldItem:b (NamedType:i32)))");
  EXPECT_EQ(items("struct P {}"), "(StructItem:P)");
}

TEST(ParserItems, EnumsAndImplementations) {
  EXPECT_EQ(items("enum E { A, B(i32, String), }"),
            "(EnumItem:E (VariantItem:A) (VariantItem:B (NamedType:i32) (NamedType:String)))");
  EXPECT_EQ(items("impl P { fn a(self) {} fn b(self) {} }"),
            "(ImplItem:P (FunctionItem:a (Parameters:( (Parameter:self)) (Block:{)) (FunctionItem:b (Parameters:( "
            "(Parameter:self)) (Block:{)))");
}

TEST(ParserItems, Uses) {
  EXPECT_EQ(items("use a::b;"), "(UseItem:use (Path:a))");
  EXPECT_EQ(items("use std::{a, b,}"), "(UseItem:use (Path:std) (UseList:{ (UseName:a) (UseName:b)))");
}

TEST(ParserItems, Tests) {
  EXPECT_EQ(items("test \"t\" { model { f => 1, _ => 2 } extern { g => 3\n select => 4 } assert x }"),
            "(TestItem:test (StringExpression:\") (Block:{ (ScriptSection:model (ScriptEntry:f (IntegerExpression:1)) "
            "(ScriptEntry:_ (IntegerExpression:2))) (ScriptSection:extern (ScriptEntry:g (IntegerExpression:3)) "
            "(ScriptEntry:select (IntegerExpression:4))) (AssertStatement:assert (NameExpression:x))))");
  EXPECT_EQ(items("test \"t\" { model { f when \"a\" and \"b\" => 1 } extern { g(1, _) => 2 } }"),
            "(TestItem:test (StringExpression:\") (Block:{ (ScriptSection:model (ScriptEntry:f (ScriptCondition:when "
            "(StringExpression:\") (StringExpression:\")) (IntegerExpression:1))) (ScriptSection:extern (ScriptEntry:g "
            "(Arguments:( (IntegerExpression:1) (HoleExpression:_)) (IntegerExpression:2)))))");
  EXPECT_EQ(
      items("test \"t\" { person => y\n person { ask => 1 } assert x }"),
      "(TestItem:test (StringExpression:\") (Block:{ (ScriptSection:person (ScriptEntry:=> (NameExpression:y))) "
      "(ScriptSection:person (ScriptEntry:ask (IntegerExpression:1))) (AssertStatement:assert (NameExpression:x))))");
  EXPECT_EQ(
      items("test \"t\" { model { P::a => 1 } }"),
      "(TestItem:test (StringExpression:\") (Block:{ (ScriptSection:model (ScriptEntry:P (IntegerExpression:1)))))");
}

TEST(ParserItems, Agents) {
  EXPECT_EQ(items("agent A {}"), "(AgentItem:A)");
  EXPECT_EQ(items("agent A {\n  fn f() {}\n  state { a: i32 = 0 }\n  instructions { x! }\n}"),
            "(AgentItem:A (FunctionItem:f (Parameters:() (Block:{)) (StateSection:state (StateField:a (NamedType:i32) "
            "(IntegerExpression:0))) (InstructionsSection:instructions (Block:{ (InjectStatement:x "
            "(NameExpression:x)))))");
  EXPECT_EQ(items("agent A { state {} state {} instructions {} instructions {} }"),
            "(AgentItem:A (StateSection:state) (StateSection:state) (InstructionsSection:instructions (Block:{)) "
            "(InstructionsSection:instructions (Block:{)))");
}

TEST(ParserItems, TheStateOfAnAgent) {
  EXPECT_EQ(items("agent A { state { a: String? = None, b: i32 in 0.. = 1\nc: \"x\" | \"y\" = \"x\" } }"),
            "(AgentItem:A (StateSection:state (StateField:a (OptionalType:String (NamedType:String)) "
            "(NameExpression:None)) (StateField:b (RefinedType:i32 (NamedType:i32) (RangeConstraint:in "
            "(RangeExpression:.. (IntegerExpression:0)))) (IntegerExpression:1)) (StateField:c (UnionType:\" "
            "(LiteralType:\" (StringExpression:\")) (LiteralType:\" (StringExpression:\"))) (StringExpression:\"))))");
}

TEST(ParserItems, PartsNeedNotBeIndented) {
  EXPECT_EQ(items("agent A {\nstate {\na: i32 = 0\n}\nfn f() {}\ninstructions {\n}\nfn g() {}\n}"),
            "(AgentItem:A (StateSection:state (StateField:a (NamedType:i32) (IntegerExpression:0))) (FunctionItem:f "
            "(Parameters:() (Block:{)) (InstructionsSection:instructions (Block:{)) (FunctionItem:g (Parameters:() "
            "(Block:{)))");
  EXPECT_EQ(items("impl P {\nfn a(self) {}\n}"),
            "(ImplItem:P (FunctionItem:a (Parameters:( (Parameter:self)) (Block:{)))");
}

TEST(ParserItems, DocumentationOfAnAgentsParts) {
  const ParsedFile parsed(
      "/// one\nagent A {\n  /// two\n  state {\n    /// three\n    a: i32 = 0\n  }\n  /// four\n"
      "  instructions {}\n}");
  const NodeId agent = parsed.tree.first(parsed.tree.root);
  const NodeId state = parsed.tree.first(agent);
  EXPECT_EQ(parsed.tree.documentation(agent), "one");
  EXPECT_EQ(parsed.tree.documentation(state), "two");
  EXPECT_EQ(parsed.tree.documentation(parsed.tree.first(state)), "three");
  EXPECT_EQ(parsed.tree.documentation(parsed.tree.next(state)), "four");
}

TEST(ParserItems, TheWordsOfAgentsAreNamesElsewhere) {
  EXPECT_EQ(items("struct agent { state: i32, instructions: agent }\nfn state(agent, tools: i32) {}"),
            "(StructItem:agent (FieldItem:state (NamedType:i32)) (FieldItem:instructions (NamedType:agent))) "
            "(FunctionItem:state (Parameters:( (Parameter:agent) (Parameter:tools (NamedType:i32))) (Block:{))");
  EXPECT_EQ(statements("agent\nstate!\nagent catch e { tools }"),
            "(ExpressionStatement:agent (NameExpression:agent)) (InjectStatement:state (NameExpression:state)) "
            "(ExpressionStatement:agent (CatchExpression:e (NameExpression:agent) (Block:{ (ExpressionStatement:tools "
            "(NameExpression:tools)))))");
  EXPECT_EQ(statements("agent budget(calls: 1)"),
            "(ExpressionStatement:agent (BudgetExpression:agent (NameExpression:agent) (BudgetClause:budget "
            "(NamedArgument:calls (IntegerExpression:1)))))");
  EXPECT_EQ(items("agent A {\nfn f() {\nstate\n{}\n}\nstate\n{}\n}"),
            "(AgentItem:A (FunctionItem:f (Parameters:() (Block:{ (ExpressionStatement:state (NameExpression:state)) "
            "(ExpressionStatement:{ (Block:{)))) (StateSection:state))");
  EXPECT_EQ(items("agent A {\n  state { state: i32 = 0 }\n  fn f() {\n    state { a: 1 }\n    agent.state\n  }\n}"),
            "(AgentItem:A (StateSection:state (StateField:state (NamedType:i32) (IntegerExpression:0))) "
            "(FunctionItem:f (Parameters:() (Block:{ (ExpressionStatement:state (StructExpression:state "
            "(NameExpression:state) (FieldInitializer:a (IntegerExpression:1)))) (ExpressionStatement:agent "
            "(FieldExpression:state (NameExpression:agent))))))");
}

TEST(ParserItems, ContextualWordsAreNamesElsewhere) {
  EXPECT_EQ(expression("type"), "(NameExpression:type)");
  EXPECT_EQ(statements("test\n\"a\"!"),
            "(ExpressionStatement:test (NameExpression:test)) (InjectStatement:\" (StringExpression:\"))");
  EXPECT_EQ(statements("let model = impl + budget + parallel + catch"),
            "(LetStatement:let (NamePattern:model) (BinaryExpression:+ (BinaryExpression:+ (BinaryExpression:+ "
            "(NameExpression:impl) (NameExpression:budget)) (NameExpression:parallel)) (NameExpression:catch)))");
  EXPECT_EQ(statements("assert = 1; assert.x"),
            "(AssignStatement:= (NameExpression:assert) (IntegerExpression:1)) (ExpressionStatement:assert "
            "(FieldExpression:x (NameExpression:assert)))");
}

TEST(ParserTypes, Secrets) {
  EXPECT_EQ(type("secret String?"), "(SecretType:secret (OptionalType:String (NamedType:String)))");
  EXPECT_EQ(type("List<secret \"a\" | \"b\">").substr(0, 34), "(NamedType:List (SecretType:secret");
  EXPECT_EQ(type("secret"), "(NamedType:secret)");
  EXPECT_EQ(items("struct S { secret a: String, secret: String, b: secret (i32, i32) }"),
            "(StructItem:S (FieldItem:a (NamedType:String)) (FieldItem:secret (NamedType:String)) (FieldItem:b "
            "(SecretType:secret (TupleType:( (NamedType:i32) (NamedType:i32)))))");
  EXPECT_EQ(items("extern fn f(secret a: String, secret) -> secret T"),
            "(ExternItem:f (Parameters:( (Parameter:a (NamedType:String)) (Parameter:secret)) (ReturnType:-> "
            "(SecretType:secret (NamedType:T))))");
}

TEST(ParserTypes, All) {
  EXPECT_EQ(type("List<Map<i32>>"), "(NamedType:List (NamedType:Map (NamedType:i32)))");
  EXPECT_EQ(type("a::B"), "(NamedType:B)");
  EXPECT_EQ(type("(i32, String)"), "(TupleType:( (NamedType:i32) (NamedType:String))");
  EXPECT_EQ(
      type("\"a\" | \"b\" | -1"),
      "(UnionType:\" (LiteralType:\" (StringExpression:\")) (LiteralType:\" (StringExpression:\")) (LiteralType:- "
      "(UnaryExpression:- (IntegerExpression:1))))");
  EXPECT_EQ(type("\"a\"\n  | \"b\""),
            "(UnionType:\" (LiteralType:\" (StringExpression:\")) (LiteralType:\" (StringExpression:\")))");
  EXPECT_EQ(type("String len 1..=5 matching \"a\""),
            "(RefinedType:String (NamedType:String) (LengthConstraint:len (RangeExpression:..= (IntegerExpression:1) "
            "(IntegerExpression:5))) (PatternConstraint:matching (StringExpression:\")))");
  EXPECT_EQ(type("i32 in -1..N + 1"),
            "(RefinedType:i32 (NamedType:i32) (RangeConstraint:in (RangeExpression:.. (UnaryExpression:- "
            "(IntegerExpression:1)) (BinaryExpression:+ (NameExpression:N) (IntegerExpression:1)))))");
  EXPECT_EQ(
      type("List<i32 in 0..5>"),
      "(NamedType:List (RefinedType:i32 (NamedType:i32) (RangeConstraint:in (RangeExpression:.. (IntegerExpression:0) "
      "(IntegerExpression:5)))))");
}

TEST(ParserExpressions, Precedence) {
  EXPECT_EQ(expression("a + b * c"),
            "(BinaryExpression:+ (NameExpression:a) (BinaryExpression:* (NameExpression:b) (NameExpression:c)))");
  EXPECT_EQ(expression("a - b - c"),
            "(BinaryExpression:- (BinaryExpression:- (NameExpression:a) (NameExpression:b)) (NameExpression:c))");
  EXPECT_EQ(expression("a || b && c == d + e"),
            "(BinaryExpression:|| (NameExpression:a) (BinaryExpression:&& (NameExpression:b) (BinaryExpression:== "
            "(NameExpression:c) (BinaryExpression:+ (NameExpression:d) (NameExpression:e)))))");
  EXPECT_EQ(expression("a ?? b ?? c"),
            "(BinaryExpression:?? (NameExpression:a) (BinaryExpression:?? (NameExpression:b) (NameExpression:c)))");
  EXPECT_EQ(expression("-a as i64 * b"),
            "(BinaryExpression:* (CastExpression:as (UnaryExpression:- (NameExpression:a)) (NamedType:i64)) "
            "(NameExpression:b))");
  EXPECT_EQ(expression("!a.b(c)"),
            "(UnaryExpression:! (MethodCallExpression:b (NameExpression:a) (Arguments:( (NameExpression:c))))");
  EXPECT_EQ(expression("a..b + 1"),
            "(RangeExpression:.. (NameExpression:a) (BinaryExpression:+ (NameExpression:b) (IntegerExpression:1)))");
}

TEST(ParserExpressions, Postfixes) {
  EXPECT_EQ(expression("a.b.0.1[2]"),
            "(IndexExpression:a (FieldExpression:1 (FieldExpression:0 (FieldExpression:b (NameExpression:a)))) "
            "(IntegerExpression:2))");
  EXPECT_EQ(expression("a?.b"), "(FieldExpression:b (NameExpression:a))");
  EXPECT_EQ(
      expression("f(x)(y) budget(calls: 1)"),
      "(BudgetExpression:f (CallExpression:f (CallExpression:f (NameExpression:f) (Arguments:( (NameExpression:x))) "
      "(Arguments:( (NameExpression:y))) (BudgetClause:budget (NamedArgument:calls (IntegerExpression:1))))");
  EXPECT_EQ(expression("f(x) catch e { y }"),
            "(CatchExpression:e (CallExpression:f (NameExpression:f) (Arguments:( (NameExpression:x))) (Block:{ "
            "(ExpressionStatement:y (NameExpression:y))))");
  EXPECT_EQ(expression("try f(x)"),
            "(TryExpression:try (CallExpression:f (NameExpression:f) (Arguments:( (NameExpression:x))))");
}

TEST(ParserExpressions, TypeArgumentsOrComparison) {
  EXPECT_EQ(expression("f<List<i32>>(x)"),
            "(CallExpression:f (NameExpression:f (TypeArguments:< (NamedType:List (NamedType:i32)))) (Arguments:( "
            "(NameExpression:x)))");
  EXPECT_EQ(expression("a.f<i32 in 0..5>(x)"),
            "(MethodCallExpression:f (NameExpression:a) (TypeArguments:< (RefinedType:i32 (NamedType:i32) "
            "(RangeConstraint:in "
            "(RangeExpression:.. (IntegerExpression:0) (IntegerExpression:5))))) (Arguments:( (NameExpression:x)))");
  EXPECT_EQ(
      expression("f(a < 1, b > (2))"),
      "(CallExpression:f (NameExpression:f) (Arguments:( (BinaryExpression:< (NameExpression:a) (IntegerExpression:1)) "
      "(BinaryExpression:> (NameExpression:b) (ParenthesizedExpression:( (IntegerExpression:2)))))");
  EXPECT_EQ(expression("g(a < b) > (3)"),
            "(BinaryExpression:> (CallExpression:g (NameExpression:g) (Arguments:( (BinaryExpression:< "
            "(NameExpression:a) (NameExpression:b)))) (ParenthesizedExpression:( (IntegerExpression:3)))");
  EXPECT_EQ(expression("a < b"), "(BinaryExpression:< (NameExpression:a) (NameExpression:b))");
}

TEST(ParserExpressions, Brackets) {
  EXPECT_EQ(expression("()"), "(TupleExpression:()");
  EXPECT_EQ(expression("(a)"), "(ParenthesizedExpression:( (NameExpression:a))");
  EXPECT_EQ(expression("(a,)"), "(TupleExpression:( (NameExpression:a))");
  EXPECT_EQ(expression("[a,\n\n -b,]"), "(ListExpression:[ (NameExpression:a) (UnaryExpression:- (NameExpression:b)))");
  EXPECT_EQ(expression("(a\n + b)"),
            "(ParenthesizedExpression:( (BinaryExpression:+ (NameExpression:a) (NameExpression:b)))");
  EXPECT_EQ(expression("f(_, a)"),
            "(CallExpression:f (NameExpression:f) (Arguments:( (HoleExpression:_) (NameExpression:a)))");
  EXPECT_EQ(expression("P { a: 1, b }"),
            "(StructExpression:P (NameExpression:P) (FieldInitializer:a (IntegerExpression:1)) (FieldInitializer:b))");
  EXPECT_EQ(expression("Mood::Bad(x)"), "(CallExpression:Mood (NameExpression:Bad) (Arguments:( (NameExpression:x)))");
}

TEST(ParserExpressions, Strings) {
  EXPECT_EQ(
      expression(R"("a {{ f("b {{ c }}") }}")"),
      "(StringExpression:\" (TemplateHole:{{ (CallExpression:f (NameExpression:f) (Arguments:( (StringExpression:\" "
      "(TemplateHole:{{ (NameExpression:c)))))))");
  EXPECT_EQ(expression("\"\"\"\n{{ a\n + b }}\n\"\"\""),
            "(StringExpression:\"\"\" (TemplateHole:{{ (BinaryExpression:+ (NameExpression:a) (NameExpression:b))))");
}

TEST(ParserExpressions, Sections) {
  EXPECT_EQ(expression(R"("{{ for x in xs }}a{{ x }}{{ end }}")"),
            "(StringExpression:\" (TemplateFor:{{ (NamePattern:x) (NameExpression:xs) (TemplateBody:a (TemplateHole:{{ "
            "(NameExpression:x)))))");
  EXPECT_EQ(expression(R"("{{ if a }}b{{ else if c }}d{{ else }}e{{ end }}")"),
            "(StringExpression:\" (TemplateIf:{{ (NameExpression:a) (TemplateBody:b) (TemplateIf:{{ (NameExpression:c) "
            "(TemplateBody:d) (TemplateBody:e))))");
  EXPECT_EQ(expression(R"("{{ if a { b } else { c } }}{{ end }}")").find("TemplateIf"), std::string::npos);
  EXPECT_EQ(body_errors("\"{{ for x in xs }}a\"\n\"{{ else }}\"\n\"{{ if a }}{{ else }}{{ else }}{{ end }}\""),
            "2:2 E1108 unclosed `{{ for … }}`: missing `{{ end }}`\n"
            "3:5 E1109 `{{ else }}` without a matching `{{ if … }}`\n"
            "4:25 E1109 `{{ else }}` without a matching `{{ if … }}`\n");
}

TEST(ParserExpressions, ADamagedHeadIsStillAHead) {
  EXPECT_EQ(body_errors("\"{{ for x on xs }}{{ x }}{{ end }}\"\n\"{{ if a and b }}{{ else }}{{ end }}\""),
            "2:11 E1101 expected `in`, found `on`\n"
            "3:10 E1101 expected `{`, found `and`\n");
}

TEST(ParserExpressions, NestedSectionsAreLimited) {
  std::string text = "fn f() { \"";
  for (int depth = 0; depth < 100'000; ++depth) text += "{{ if a }}";
  EXPECT_NE(errors(text + "\" }").find("E1102"), std::string::npos);
}

TEST(ParserExpressions, Closures) {
  EXPECT_EQ(
      expression("xs.map(|(a, b), _| a)"),
      "(MethodCallExpression:map (NameExpression:xs) (Arguments:( (ClosureExpression:| (TuplePattern:( (NamePattern:a) "
      "(NamePattern:b)) (WildcardPattern:_) (NameExpression:a))))");
  EXPECT_EQ(expression("f(|| { a })"),
            "(CallExpression:f (NameExpression:f) (Arguments:( (ClosureExpression:|| (Block:{ (ExpressionStatement:a "
            "(NameExpression:a))))))");
}

TEST(ParserExpressions, NoStructLiteralsInHeads) {
  EXPECT_EQ(expression("if a { b }"),
            "(IfExpression:if (NameExpression:a) (Block:{ (ExpressionStatement:b (NameExpression:b))))");
  EXPECT_EQ(expression("match a { b => c }"),
            "(MatchExpression:match (NameExpression:a) (MatchArm:b (NamePattern:b) (NameExpression:c)))");
  EXPECT_EQ(expression("if f(P { a }) { b }"),
            "(IfExpression:if (CallExpression:f (NameExpression:f) (Arguments:( (StructExpression:P (NameExpression:P) "
            "(FieldInitializer:a)))) (Block:{ (ExpressionStatement:b (NameExpression:b))))");
  EXPECT_EQ(
      statements("for i in 0.. { i }"),
      "(ExpressionStatement:for (ForExpression:for (NamePattern:i) (RangeExpression:.. (IntegerExpression:0)) (Block:{ "
      "(ExpressionStatement:i (NameExpression:i)))))");
}

TEST(ParserControl, IfAndWhile) {
  EXPECT_EQ(
      expression("if let Some(P { a, .. }) = b { c } else if d { e } else { g }"),
      "(IfExpression:if (LetCondition:let (PathPattern:Some (StructPattern:P (FieldPattern:a))) (NameExpression:b)) "
      "(Block:{ (ExpressionStatement:c (NameExpression:c))) (IfExpression:if (NameExpression:d) (Block:{ "
      "(ExpressionStatement:e (NameExpression:e))) (Block:{ (ExpressionStatement:g (NameExpression:g)))))");
  EXPECT_EQ(
      statements("while let Some(x) = f() { break; continue }"),
      "(WhileStatement:while (LetCondition:let (PathPattern:Some (NamePattern:x)) (CallExpression:f (NameExpression:f) "
      "(Arguments:())) (Block:{ (ExpressionStatement:break (BreakExpression:break)) (ExpressionStatement:continue "
      "(ContinueExpression:continue))))");
}

TEST(ParserControl, For) {
  EXPECT_EQ(expression("for (i, x) in xs parallel(4) { x }"),
            "(ForExpression:for (TuplePattern:( (NamePattern:i) (NamePattern:x)) (NameExpression:xs) "
            "(ParallelClause:parallel "
            "(IntegerExpression:4)) (Block:{ (ExpressionStatement:x (NameExpression:x))))");
}

TEST(ParserControl, MatchArms) {
  EXPECT_EQ(
      expression("match a {\n 1 | 2 => b\n ..=3 if c => d!,\n \"x\" => { e } _ => return 1 }"),
      "(MatchExpression:match (NameExpression:a) (MatchArm:1 (OrPattern:1 (LiteralPattern:1 (IntegerExpression:1)) "
      "(LiteralPattern:2 (IntegerExpression:2))) (NameExpression:b)) (MatchArm:..= (LiteralPattern:..= "
      "(RangeExpression:..= (IntegerExpression:3))) (Guard:if (NameExpression:c)) (InjectBody:d (NameExpression:d))) "
      "(MatchArm:\" (LiteralPattern:\" (StringExpression:\")) (Block:{ (ExpressionStatement:e (NameExpression:e)))) "
      "(MatchArm:_ (WildcardPattern:_) (ReturnExpression:return (IntegerExpression:1))))");
}

TEST(ParserControl, SelectClauses) {
  EXPECT_EQ(expression("select { add(ctx, _) as sum => sum, ctx.f(_) => if a { b }\n else => 0 }"),
            "(SelectExpression:select (SelectClause:sum (CallExpression:add (NameExpression:add) (Arguments:( "
            "(NameExpression:ctx) (HoleExpression:_))) (NameExpression:sum)) (SelectClause:ctx (MethodCallExpression:f "
            "(NameExpression:ctx) (Arguments:( (HoleExpression:_))) (IfExpression:if (NameExpression:a) (Block:{ "
            "(ExpressionStatement:b (NameExpression:b))))) (SelectClause:else (IntegerExpression:0)))");
}

TEST(ParserControl, Parallel) {
  EXPECT_EQ(expression("parallel { a = f(), g() }"),
            "(ParallelExpression:parallel (ParallelBranch:a (CallExpression:f (NameExpression:f) (Arguments:())) "
            "(ParallelBranch:g (CallExpression:g (NameExpression:g) (Arguments:())))");
}

TEST(ParserControl, Shield) {
  EXPECT_EQ(expression("shield { x }"),
            "(ShieldExpression:shield (Block:{ (ExpressionStatement:x (NameExpression:x))))");
  EXPECT_EQ(expression("shield"), "(NameExpression:shield)");
  EXPECT_EQ(statements("shield\n{ x }"),
            "(ExpressionStatement:shield (NameExpression:shield)) (ExpressionStatement:{ (Block:{ "
            "(ExpressionStatement:x (NameExpression:x))))");
}

TEST(ParserStatements, Forms) {
  EXPECT_EQ(statements("let (a, b): T = c"),
            "(LetStatement:let (TuplePattern:( (NamePattern:a) (NamePattern:b)) (NamedType:T) (NameExpression:c))");
  EXPECT_EQ(statements("a.b[0] += c"),
            "(AssignStatement:+= (IndexExpression:a (FieldExpression:b (NameExpression:a)) (IntegerExpression:0)) "
            "(NameExpression:c))");
  EXPECT_EQ(statements("\"a\" + b!"),
            "(InjectStatement:\" (BinaryExpression:+ (StringExpression:\") (NameExpression:b)))");
  EXPECT_EQ(statements("assert !a"), "(AssertStatement:assert (UnaryExpression:! (NameExpression:a)))");
  EXPECT_EQ(statements("a;; b"),
            "(ExpressionStatement:a (NameExpression:a)) (ExpressionStatement:b (NameExpression:b))");
}

TEST(ParserStatements, ALineEndEndsAStatement) {
  const std::string two = "(ExpressionStatement:a (NameExpression:a)) ";
  EXPECT_EQ(statements("a\n-b"), two + "(ExpressionStatement:- (UnaryExpression:- (NameExpression:b)))");
  EXPECT_EQ(statements("a\n!b"), two + "(ExpressionStatement:! (UnaryExpression:! (NameExpression:b)))");
  EXPECT_EQ(statements("a\n(b)"), two + "(ExpressionStatement:( (ParenthesizedExpression:( (NameExpression:b)))");
  EXPECT_EQ(statements("a\n[b]"), two + "(ExpressionStatement:[ (ListExpression:[ (NameExpression:b)))");
  EXPECT_EQ(statements("a\n..b"), two + "(ExpressionStatement:.. (RangeExpression:.. (NameExpression:b)))");
  EXPECT_EQ(statements("return\nb"),
            "(ExpressionStatement:return (ReturnExpression:return)) (ExpressionStatement:b (NameExpression:b))");
}

TEST(ParserStatements, WhatCannotStartAStatementContinuesIt) {
  for (const char* operation : {"+", "*", "/", "%", "==", "!=", "<=", "&&", "||", "??"}) {
    EXPECT_EQ(statements("a\n" + std::string(operation) + " b"),
              "(ExpressionStatement:a (BinaryExpression:" + std::string(operation) +
                  " (NameExpression:a) (NameExpression:b)))");
  }
  EXPECT_EQ(statements("a\n  .b()\n  ?.c"),
            "(ExpressionStatement:a (FieldExpression:c (MethodCallExpression:b (NameExpression:a) (Arguments:())))");
  EXPECT_EQ(statements("if a { b }\nelse { c }"),
            "(ExpressionStatement:if (IfExpression:if (NameExpression:a) (Block:{ (ExpressionStatement:b "
            "(NameExpression:b))) "
            "(Block:{ (ExpressionStatement:c (NameExpression:c)))))");
  EXPECT_EQ(statements("a\n= b"), "(AssignStatement:= (NameExpression:a) (NameExpression:b))");
}

TEST(ParserErrors, EachErrorInAListOfStatements) {
  EXPECT_EQ(body_errors(
                "    let = 1\n    let x 5\n    let y =\n    let z = 1 +\n    foo(1, 2\n    let w = [1, 2\n    bar(3)"),
            "2:9 E1101 expected a pattern, found `=`\n"
            "3:11 E1101 expected `=` and a value, found integer\n"
            "4:12 E1101 expected an expression, found end of line\n"
            "6:13 E1101 expected `)`, found end of line\n"
            "7:18 E1101 expected `]`, found end of line\n");
}

TEST(ParserErrors, MissingCommas) {
  EXPECT_EQ(body_errors("f(a b, c)\n[1 2, 3]\n(1 2)\nP { a: 1 b: 2 }\nx[1 2]\ng(\n  a\n  b\n)"),
            "2:5 E1101 expected `,` or `)`, found `b`\n"
            "3:4 E1101 expected `,` or `]`, found integer\n"
            "4:4 E1101 expected `,` or `)`, found integer\n"
            "5:10 E1101 expected `,` or `}`, found `b`\n"
            "6:5 E1101 expected `]`, found integer\n"
            "8:4 E1101 expected `,` or `)`, found end of line\n");
}

TEST(ParserErrors, ABracketThatNeverCloses) {
  EXPECT_EQ(body_errors("let a = [1, 2;\nlet b = (1, 2;\nlet c = g(1, 2;\nd()"),
            "2:14 E1101 expected `]`, found `;`\n"
            "3:14 E1101 expected `)`, found `;`\n"
            "4:15 E1101 expected `)`, found `;`\n");
}

TEST(ParserErrors, AMissingBraceEndsAtTheNextDeclaration) {
  EXPECT_EQ(errors("fn f() {\n    if x {\n        a()\nfn g() {}\nfn h() { let }\n"),
            "3:12 E1101 expected `}`, found end of line\n"
            "5:14 E1101 expected a pattern, found `}`\n");
  const ParsedFile parsed("fn f() {\n    if x {\n        a()\nfn g() {}");
  ASSERT_EQ(parsed.diagnostics.all().size(), 1U);
  ASSERT_EQ(parsed.diagnostics.all()[0].labels.size(), 1U);
  EXPECT_EQ(parsed.file.position(parsed.diagnostics.all()[0].labels[0].span.offset).line, 2U);
  EXPECT_EQ(parsed.tree.children(parsed.tree.root, NodeKind::FunctionItem).size(), 2U);
}

TEST(ParserErrors, AnUnmatchedBrace) {
  EXPECT_EQ(errors("fn f() {\n    a()\n}}\nfn g( {}\n"),
            "3:2 E1110 unexpected closing bracket `}`\n"
            "4:6 E1101 expected `)`, found `{`\n");
}

TEST(ParserErrors, Declarations) {
  EXPECT_EQ(errors("fn f(a: , b String) -> { a }\nfn g() -> i32\nstruct P { a i32, b: , c: String }\nfn ok() {}"),
            "1:9 E1101 expected a type, found `,`\n"
            "1:13 E1101 expected `,` or `)`, found `String`\n"
            "2:14 E1101 expected a function body `{ … }`, found end of line\n"
            "3:14 E1101 expected `:` and a type, found `i32`\n"
            "3:22 E1101 expected a type, found `,`\n");
  EXPECT_EQ(errors("async fn f() {}\npub fn g() {}\nmod x;\nfn ok() {}"),
            "1:1 E1101 expected an item such as `fn` or `struct`, found `async`\n"
            "2:1 E1101 expected an item such as `fn` or `struct`, found `pub`\n"
            "3:1 E1101 expected an item such as `fn` or `struct`, found `mod`\n");
  EXPECT_EQ(errors("extern fn f() { 1 }\nuse std::{a, , b}\nuse 5\n"),
            "1:15 E1101 expected the end of the declaration (an `extern fn` has no body), found `{`\n"
            "2:14 E1101 expected a name, found `,`\n"
            "3:5 E1101 expected a module name, found integer\n");
}

/// The kinds and names of an agent's parts if it is the first item; then those of the items after it.
std::string parts(const SyntaxTree& tree) {
  std::string names;
  const NodeId agent = tree.first(tree.root);
  const auto add = [&](NodeId first) {
    for (NodeId part = first; part.exists(); part = tree.next(part)) {
      if (tree.kind(part) != NodeKind::Error) names += std::string(tree.main_text(part)) + ' ';
    }
  };
  add(tree.first(agent));
  names += "| ";
  add(tree.next(agent));
  return names;
}

TEST(ParserErrors, StateFields) {
  const ParsedFile parsed(
      "agent A {\n  state {\n    a: i32\n    b = 1\n    c i32 = 2\n    let d: i32 = 3\n    e: = 4, f: i32 =\n"
      "    g: i32 = 5 6\n    h: i32 = 7\n  }\n  fn f() {}\n}\nfn g() {}\n");
  EXPECT_EQ(parsed.errors(),
            "3:11 E1101 expected `=` and a default value, found end of line\n"
            "4:7 E1101 expected `:` and a type, found `=`\n"
            "5:7 E1101 expected `:` and a type, found `i32`\n"
            "6:5 E1101 expected a field such as `name: String = \"\"`, found `let`\n"
            "7:8 E1101 expected a type, found `=`\n"
            "7:21 E1101 expected a default value, found end of line\n"
            "8:16 E1101 expected `,` or `}`, found integer\n");
  EXPECT_EQ(parts(parsed.tree), "state f | g ");
  // The type and the default are distinguished even if one is missing.
  const NodeId state = parsed.tree.first(parsed.tree.first(parsed.tree.root));
  const std::vector<NodeId> fields = parsed.tree.children(state, NodeKind::StateField);
  ASSERT_EQ(fields.size(), 7U);
  EXPECT_EQ(parsed.tree.children(fields[0]).size(), 1U);
  EXPECT_EQ(parsed.tree.kind(parsed.tree.first(fields[1])), NodeKind::Error);
  EXPECT_EQ(parsed.tree.kind(parsed.tree.find_child(fields[1], std::size_t{1})), NodeKind::IntegerExpression);
  EXPECT_EQ(parsed.tree.main_text(fields[6]), "h");
}

TEST(ParserErrors, AMissingBraceInAnAgentIsReportedOnce) {
  const auto errors_of = [](std::string text, const std::string& wanted) {
    const ParsedFile parsed(std::move(text));
    EXPECT_EQ(parts(parsed.tree), wanted) << parsed.file.text();
    return parsed.errors();
  };
  EXPECT_EQ(errors_of("agent A {\n  state {\n    a: i32 = 0\n  instructions { x! }\n  fn f() {}\n}\nfn g() {}",
                      "state instructions f | g "),
            "3:15 E1101 expected `}`, found end of line\n");
  EXPECT_EQ(errors_of("agent A {\n  state {\n  instructions { x! }\n}\nfn g() {}", "state instructions | g "),
            "2:10 E1101 expected `}`, found end of line\n");
  EXPECT_EQ(errors_of("agent A {\n  instructions {\n    x!\n  state { a: i32 = 0 }\n  fn f() {}\n}\nfn g() {}",
                      "instructions state f | g "),
            "3:7 E1101 expected `}`, found end of line\n");
  EXPECT_EQ(errors_of("agent A {\n  fn f() {\n    if x {\n  state {}\n}\nstruct G {}", "f state | G "),
            "3:11 E1101 expected `}`, found end of line\n");
  EXPECT_EQ(errors_of("agent A {\n  state {\n    a: i32 = 0\n  }\nfn g() {}\nagent B {}", "state | g B "),
            "4:4 E1101 expected `}`, found end of line\n");
  EXPECT_EQ(errors_of("agent A {\n  state {\n    a: i32 = 0\n", "state | "),
            "3:15 E1101 expected `}`, found end of file\n");
  const ParsedFile parsed("agent A {\n  fn f() {}\nfn g() {}");
  ASSERT_EQ(parsed.diagnostics.all().size(), 1U);
  ASSERT_EQ(parsed.diagnostics.all()[0].labels.size(), 1U);
  EXPECT_EQ(parsed.diagnostics.all()[0].labels[0].span.offset, 8U);
}

TEST(ParserErrors, AMissingOpeningBraceInAnAgent) {
  const auto errors_of = [](std::string text, const std::string& wanted) {
    const ParsedFile parsed(std::move(text));
    EXPECT_EQ(parts(parsed.tree), wanted) << parsed.file.text();
    return parsed.errors();
  };
  EXPECT_EQ(errors_of("agent A\n  state { a: i32 = 0 }\n  fn f() {}\n}\nfn g() {}", "state f | g "),
            "1:8 E1101 expected `{`, found end of line\n");
  EXPECT_EQ(errors_of("agent A\nfn g() {}", "| g "), "1:8 E1101 expected `{`, found end of line\n");
  EXPECT_EQ(errors_of("agent A {\n  state\n    a: i32 = 0\n  }\n  fn f() {}\n}\nfn g() {}", "state f | g "),
            "2:8 E1101 expected `{`, found end of line\n");
  EXPECT_EQ(errors_of("agent A {\n  instructions\n    \"x\"!\n  }\n  fn f() {}\n}\nfn g() {}", "instructions f | g "),
            "2:15 E1101 expected `{`, found end of line\n");
  EXPECT_EQ(errors_of("agent {\n  fn f() {}\n}\nfn g() {}", "f | g "), "1:7 E1101 expected an agent name, found `{`\n");
}

TEST(ParserErrors, WhatIsNotAPartOfAnAgent) {
  const ParsedFile parsed(
      "agent A {\n  goal: String = \"x\"\n  memory {\n    fn x() {}\n  }\n  fn f() {}\n  struct S { a: i32 }\n  pub fn "
      "h() {}\n"
      "  lost {\n  instructions { x! }\n  let y = 1; state {}\n  fn z() {}\n}\nfn g() {}");
  EXPECT_EQ(parsed.errors(),
            "2:3 E1101 expected `state { … }`, `instructions { … }`, `block …` or `fn …`, found `goal`\n"
            "7:3 E1101 expected `state { … }`, `instructions { … }`, `block …` or `fn …`, found `struct`\n"
            "8:3 E1101 expected `state { … }`, `instructions { … }`, `block …` or `fn …`, found `pub`\n"
            "9:3 E1101 expected `state { … }`, `instructions { … }`, `block …` or `fn …`, found `lost`\n"
            "9:9 E1101 expected `}`, found end of line\n"
            "11:3 E1101 expected `state { … }`, `instructions { … }`, `block …` or `fn …`, found `let`\n");
  EXPECT_EQ(parts(parsed.tree), "f S h instructions state z | g ");
}

TEST(ParserErrors, AnAgentWithinAFunction) {
  EXPECT_EQ(body_errors("    agent A {\n        state { a: i32 = 0 }\n    }\n    x"),
            "2:5 E1107 expected a statement, found `agent`: declarations are not allowed inside functions\n");
}

TEST(ParserErrors, NestedDeclarations) {
  EXPECT_EQ(body_errors("    fn g() { 1 }\n    struct S { a: i32 }\n    x"),
            "2:5 E1107 expected a statement, found `fn`: declarations are not allowed inside functions\n"
            "3:5 E1107 expected a statement, found `struct`: declarations are not allowed inside functions\n");
}

TEST(ParserErrors, ArmsAndClauses) {
  EXPECT_EQ(body_errors("match x {\n  1 -> 2,\n  2 3 => 4\n}\nselect { f(_) as => 1 }\nmatch x { 1 => a 2 => b }"),
            "3:5 E1101 expected `=>`, found `->`\n"
            "4:5 E1101 expected `=>`, found integer\n"
            "6:18 E1101 expected a name for the result, found `=>`\n"
            "7:18 E1101 expected `,` or `}`, found integer\n");
}

TEST(ParserErrors, Expressions) {
  EXPECT_EQ(
      body_errors("a < b < c\nf(x!)\nlet y = x!\nx = 1 y = 2\na.;\nlet z = 12abc\nf::<i32>(3)\nlet v = a?\nassert!(x)"),
      "2:7 E1103 comparison operators cannot be chained\n"
      "3:4 E1104 an injection (`…!`) has no value and cannot be part of an expression\n"
      "4:10 E1104 an injection (`…!`) has no value and cannot be part of an expression\n"
      "5:7 E1106 statements on the same line must be separated by `;`\n"
      "6:3 E1101 expected a field or method, found `;`\n"
      "7:9 E1008 invalid number literal `12abc`\n"
      "8:4 E1101 expected a name, found `<`\n"
      "9:10 E1101 expected the end of the statement, found `?`\n"
      "10:7 E1101 expected `(`, found `!`\n");
}

TEST(ParserErrors, ErrorsOfTheLexerAreNotReportedAgain) {
  EXPECT_EQ(body_errors("let x = \"abc\nlet y = f(\"d {{ e\"\nlet @ = 3\nlet z = \"ok\""),
            "2:9 E1004 unterminated string literal\n"
            "3:14 E1005 unclosed template expression: missing `}}`\n"
            "4:5 E1003 unexpected character `@`\n");
  EXPECT_EQ(errors("fn f() { let x = \"\"\" abc"), "1:18 E1004 unterminated string literal\n");
  EXPECT_EQ(errors("fn f() {\n /* never"), "2:2 E1006 unterminated block comment\n");
}

TEST(ParserErrors, Templates) {
  EXPECT_EQ(body_errors("\"{{ a b }} {{ c }}\"!\n\"{{ }}\"!\nx"),
            "2:7 E1101 expected `}}`, found `b`\n"
            "3:5 E1101 expected an expression, found `}}`\n");
}

TEST(ParserErrors, AnUnclosedBlockIsNamed) {
  const ParsedFile parsed("fn f() {\n    while x {\n        a()\n    }\n");
  EXPECT_EQ(parsed.errors(), "4:6 E1101 expected `}`, found end of file\n");
  ASSERT_EQ(parsed.diagnostics.all()[0].labels.size(), 1U);
  EXPECT_EQ(parsed.diagnostics.all()[0].labels[0].span.offset, 7U);
}

TEST(ParserErrors, SuggestsToDropTheColonsOfATurbofish) {
  const ParsedFile parsed("fn f() { g::<i32>(3) }");
  ASSERT_EQ(parsed.diagnostics.all().size(), 1U);
  ASSERT_TRUE(parsed.diagnostics.all()[0].fix.has_value());
  EXPECT_EQ(parsed.file.text(parsed.diagnostics.all()[0].fix->span), "::");
  EXPECT_EQ(parsed.diagnostics.all()[0].fix->replacement, "");
}

TEST(ParserErrors, SyntaxOfOtherLanguagesIsReportedOnce) {
  EXPECT_EQ(body_errors("let mut x = 1\nif a = b { c }\nloop { break }\nlet v = vec![1]\nretrun 5\nlet c = 'a'"),
            "2:5 E1101 expected a variable name, found `mut`\n"
            "3:6 E1101 expected `{`, found `=`\n"
            "4:1 E1101 expected a statement, found `loop`\n"
            "5:12 E1101 expected `(`, found `!`\n"
            "6:1 E1101 expected a statement, found `retrun`\n"
            "7:9 E1003 unexpected character `'a'`\n");
  EXPECT_EQ(errors("enum E { A, B { x: i32, y: i32 }, C }"), "1:15 E1101 expected `,` or `}`, found `{`\n");
}

TEST(ParserErrors, TheSameWordsAreNamesElsewhere) {
  EXPECT_EQ(body_errors("let mut = 1\nlet loop = mut\nvec!\n(1, 2)\nloop!"), "");
}

TEST(ParserLimits, TooDeepNestingIsReportedOnce) {
  for (const std::string piece :
       {"(",      "[",         "{",         "!",    "-",         "if ",        "f(",
        "match ", "select{",   "parallel{", "try ", "return ",   "|x|",        "a = ",
        "x as (", "for x in ", "a ?? ",     "\"{{", "[a, (b, {", "agent A { ", "agent A { fn f() {"}) {
    std::string text = "fn f() { let x = ";
    for (int count = 0; count < 20'000; ++count) text += piece;
    const ParsedFile parsed(text);
    const auto& all = parsed.diagnostics.all();
    const auto refusals = std::count_if(all.begin(), all.end(),
                                        [](const diagnostics::Diagnostic& one) { return one.code.number == 1102; });
    EXPECT_LE(refusals, 1) << piece;
    EXPECT_LE(all.size(), 200U) << piece;
  }
}

TEST(ParserLimits, EverythingUpToTheLimitsIsRead) {
  std::string sum = "a";
  for (std::size_t count = 1; count < tree_height_max - 20; ++count) sum += " + a";
  EXPECT_EQ(body_errors(sum), "");
  std::string too_high = sum;
  for (std::size_t count = 0; count < 40; ++count) too_high += " + a";
  EXPECT_NE(body_errors(too_high).find("E1102"), std::string::npos);
  std::string nested(nesting_depth_max - 10, '(');
  nested += "a" + std::string(nesting_depth_max - 10, ')');
  EXPECT_EQ(body_errors(nested), "");
}

TEST(ParserLimits, ALongChainIsNotCalledNesting) {
  const auto repeated = [](std::string text, std::string_view link, std::string_view end = "") {
    for (std::size_t count = 0; count < 2 * tree_height_max; ++count) text += link;
    return text += end;
  };
  const std::string rest = " is too long; the rest of the file was not parsed\n";
  const auto shown = [](const std::string& body) {
    const ParsedFile parsed("fn f() {\n" + body + "\n}");
    std::string text;
    for (const diagnostics::Diagnostic& one : parsed.diagnostics.all())
      text += one.code.text() + " " + one.message + "\n" + (one.hints.empty() ? "" : one.hints[0]);
    return text;
  };
  const std::string about = "a chain can have about 1000 links: ";
  EXPECT_EQ(shown(repeated("if a { 1 }", " else if b { 2 }", " else { 3 }")),
            "E1102 chain of `else if`" + rest + about + "use `match`, or separate functions");
  EXPECT_EQ(shown(repeated("\"{{ if a }}", "{{ else if b }}", "{{ end }}\"")),
            "E1102 chain of `{{ else if … }}`" + rest + about + "insert the value of a `match`: `{{ match … { … } }}`");
  for (const std::string_view link : {" + a", " && a", " catch e { b }", " as i32"}) {
    EXPECT_EQ(shown(repeated("a", link)),
              "E1102 chain of operators" + rest + about + "split it up with `let` or separate functions")
        << link;
  }
  for (const std::string_view link : {".b()", ".b", "[0]", "(1)", ".b().c[0]"}) {
    EXPECT_EQ(shown(repeated("a", link)),
              "E1102 chain of calls" + rest + about + "split it up with `let` or separate functions")
        << link;
  }
  EXPECT_EQ(shown(repeated("", "(", std::string(2 * tree_height_max, ')'))).substr(0, 43),
            "E1102 nesting exceeds 256 levels; the rest ");
  // The place is where the chain begins.
  EXPECT_EQ(body_errors("a\n" + repeated("b", "\n+ c") + "\nd").substr(0, 4), "3:1 ");
  EXPECT_EQ(body_errors("a\n" + repeated("if b { 1 }", "\nelse if c { 2 }") + "\nd").substr(0, 4), "3:1 ");
}

TEST(ParserLimits, ManyOfOneTokenTakeLinearTime) {
  // Quadratic time would exceed the time limit of the test.
  for (const std::string piece :
       {"(", "{", "\"", "{{", "<", "a<", "a,", "a.b", "/*", "\\", "\xFF", "@ ", "\n", "a\n(", "x: "}) {
    std::string text = "fn f() { let x = f(";
    while (text.size() < test::cases(500'000)) text += piece;
    const std::size_t length = text.size();
    const ParsedFile parsed(std::move(text));
    EXPECT_EQ(parsed.tree.span(parsed.tree.root).length, length) << piece;
  }
}

TEST(ParserProperties, GeneratedProgramsHaveNoErrors) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const ParsedFile parsed(test::ProgramGenerator(seed).generate());
    ASSERT_EQ(parsed.errors(), "") << "seed " << seed << "\n" << parsed.file.text();
  }
}

TEST(ParserProperties, DamagedProgramsHaveAWellFormedTree) {
  std::mt19937 random(11);
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    std::string text = test::ProgramGenerator(seed).generate();
    for (int damage = 0; damage < 5 && !text.empty(); ++damage) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0) {
        text.erase(at, 1 + random() % 10);
      } else {
        text.insert(at, 1, "(){}[]\"!;,<>\n"[random() % 13]);
      }
    }
    const ParsedFile parsed(std::move(text));
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << "\n" << parsed.file.text();
  }
}

TEST(ParserPrograms, AllConstructs) {
  EXPECT_EQ(errors(test::read_file(test::source_folder() / "tests/syntax/constructs.tn")), "");
}

}  // namespace
}  // namespace tenon::syntax
