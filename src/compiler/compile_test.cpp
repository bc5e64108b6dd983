#include "compiler/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "bytecode/disassembler.h"
#include "bytecode/verifier.h"
#include "tests/support/one_file.h"
#include "types/check.h"

namespace tenon::compiler {
namespace {

using bytecode::Function;
using bytecode::Opcode;
using bytecode::Place;
using bytecode::Program;

using testing::HasSubstr;

Program compiled(const std::string& text) {
  test::OneFile files(text);
  types::Checked checked = types::check("program.tn", files, types::Strictness::Relaxed);
  Program program = compile(checked.program, checked.diagnostics);
  EXPECT_FALSE(checked.diagnostics.has_errors()) << text;
  EXPECT_TRUE(bytecode::verify(program).has_value()) << text;
  return program;
}

const Function& function_of(const Program& program, std::string_view name) {
  const auto found =
      std::ranges::find_if(program.functions, [&](const Function& function) { return function.name == name; });
  EXPECT_NE(found, program.functions.end());
  return *found;
}

std::size_t count(const Function& function, Opcode opcode) {
  return static_cast<std::size_t>(std::ranges::count_if(function.code, [&](const bytecode::Instruction& instruction) {
    return instruction.opcode == static_cast<std::uint16_t>(opcode);
  }));
}

TEST(Compile, AnAssertionThatHoldsExecutesNoMoreThanItsCondition) {
  const Program program = compiled("fn f(a: i32, b: i32) { assert a == b }");
  const Function& function = function_of(program, "f");
  ASSERT_GE(function.code.size(), 3U);
  EXPECT_EQ(function.code[0].opcode, static_cast<std::uint16_t>(Opcode::Equal));
  ASSERT_EQ(function.code[1].opcode, static_cast<std::uint16_t>(Opcode::JumpIf));
  const std::size_t held = 2 + static_cast<std::size_t>(function.code[1].signed_wide());
  EXPECT_EQ(function.code[held].opcode, static_cast<std::uint16_t>(Opcode::ReturnUnit));
}

TEST(Compile, ACatchOfWhatHasNoCodeHasNoHandler) {
  const Program program = compiled("fn f(x: String) -> String { { x = x } catch f { x = f.message }; x }");
  EXPECT_TRUE(function_of(program, "f").handlers.empty());
}

TEST(Compile, AnAssertionWithoutValuesIsOneInstruction) {
  const Program program = compiled("fn f(flag: Boolean) { assert flag }");
  EXPECT_EQ(count(function_of(program, "f"), Opcode::Assert), 1U);
  EXPECT_EQ(count(function_of(program, "f"), Opcode::Fail), 0U);
}

TEST(Compile, OperandsOfAnAssertionAreCalledOnce) {
  const Program program = compiled("fn g(n: i32) -> i32 { n + 1 }\nfn f() { assert g(1) == g(2) && g(3) > 4 }");
  EXPECT_EQ(count(function_of(program, "f"), Opcode::Call), 3U);
}

TEST(Compile, AViolatedRequiresBlamesTheCaller) {
  const Program program = compiled("fn f(n: i32) -> i32\n    requires n > 0\n    ensures result > 0\n{\n    n\n}");
  const Function& function = function_of(program, "f");
  EXPECT_GE(count(function, Opcode::BreakRequires), 1U);
  EXPECT_GE(count(function, Opcode::BreakContract), 1U);
  EXPECT_THAT(bytecode::disassemble(program, function), HasSubstr("violates `requires` of `f`: "));
}

TEST(Compile, AnswersOfAScriptHavePlaces) {
  const Program program = compiled(
      "fn f(ctx: Context) -> String { \"a\"! }\ntest \"t\" {\n    model { f => \"b\" }\n    "
      "assert f(Context::new()) == \"b\"\n}");
  ASSERT_EQ(program.tests.size(), 1U);
  ASSERT_EQ(program.tests[0].answers.size(), 1U);
  EXPECT_EQ(program.tests[0].answers[0].place, (Place{0, 3, 13}));
}

TEST(Compile, ParametersAreTheFirstVariablesOfTheirFunction) {
  // The functions' variables are in another order than the functions.
  const Program program = compiled(
      "fn main() -> i32 { let a = 1\n    last(a, 2) }\nfn empty() {}\n"
      "fn last(a: i32, b: i32) -> i32 { let c = b\n    c - a }");
  const Function& last = function_of(program, "last");
  EXPECT_EQ(last.parameters.size(), 2U);
  EXPECT_EQ(last.code[0].b, 1U);  // the move of `b` to `c`
}

}  // namespace
}  // namespace tenon::compiler
