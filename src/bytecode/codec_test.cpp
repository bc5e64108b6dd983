#include "bytecode/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "base/wire.h"
#include "bytecode/disassembler.h"
#include "bytecode/verifier.h"
#include "tests/support/assembler.h"
#include "tests/support/sample_program.h"
#include "tests/support/sanitized.h"

namespace tenon::bytecode {
namespace {

using test::assemble;
using test::sample_program;
using testing::HasSubstr;

TEST(Codec, AProgramRoundTrips) {
  const Program program = sample_program();
  const std::string bytes = encode(program);
  const auto decoded = decode(bytes);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(encode(*decoded), bytes);
  EXPECT_EQ(disassemble(*decoded), disassemble(program));
  EXPECT_EQ(decoded->constants, program.constants);
  ASSERT_EQ(decoded->functions.size(), 2U);
  EXPECT_EQ(decoded->functions[0].handlers, program.functions[0].handlers);
  EXPECT_EQ(decoded->functions[0].lines, program.functions[0].lines);
  EXPECT_EQ(decoded->types.size(), program.types.size());
  for (std::uint32_t i = 0; i < program.types.size(); ++i)
    EXPECT_EQ(decoded->types.describe({i}), program.types.describe({i}));
  EXPECT_EQ(decoded->tests[0].answers[1].fails, true);
  EXPECT_EQ(decoded->tests[0].answers[0].place, std::nullopt);  // as in older programs
  EXPECT_EQ(decoded->tests[0].answers[1].place, (Place{0, 6, 9}));
  EXPECT_EQ(decoded->tests[0].answers[1].contained, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(decoded->tests[0].answers[1].arguments, (std::vector<std::string>{"1", "_"}));
  EXPECT_EQ(decoded->budgets[0].bounds.milliseconds, 60'000U);
}

TEST(Codec, DocCommentsOfParametersAndTypesRoundTrip) {
  Program program = sample_program();
  const std::string without = encode(program);
  Function& function = program.functions[0];
  function.parameter_documentation.assign(function.parameters.size(), "Of a function.");
  function.result_documentation = "Of a result.";
  program.externs[0].parameter_documentation.assign(program.externs[0].parameters.size(), "Of an extern.");
  const auto is_call = [](const Site& site) { return !site.call.parameters.empty(); };
  const auto site = std::ranges::find_if(program.sites, is_call);
  ASSERT_NE(site, program.sites.end());
  site->call.parameter_documentation.assign(site->call.parameters.size(), "Of a call.");
  const auto team = program.types.make_union({"Area", std::vector<std::string>{"a", "b"}, "Who.", {"", "Machines."}});
  types::Refinement refinement;
  refinement.name = "Urgency";
  refinement.low = std::int64_t{1};
  refinement.documentation = "How urgent.";
  const auto urgency = program.types.refined(types::TypeTable::i32, refinement);
  const std::string bytes = encode(program);
  const auto decoded = decode(bytes);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(encode(*decoded), bytes);
  EXPECT_EQ(decoded->functions[0].parameter_documentation, function.parameter_documentation);
  EXPECT_EQ(decoded->functions[0].result_documentation, "Of a result.");
  EXPECT_EQ(decoded->externs[0].parameter_documentation, program.externs[0].parameter_documentation);
  EXPECT_EQ(decoded->types.union_type(team), program.types.union_type(team));
  EXPECT_EQ(decoded->types.refinement(urgency), refinement);
  EXPECT_TRUE(decode(without)->functions[0].parameter_documentation.empty());
}

TEST(Codec, DocCommentsMustBeOnePerParameter) {
  Program program = sample_program();
  program.functions[0].parameter_documentation.assign(program.functions[0].parameters.size() + 1, "One too many.");
  EXPECT_THAT(decode(encode(program)).error().message, HasSubstr("one doc comment per parameter"));
}

TEST(Codec, VariablesRoundTripAndAreInside) {
  Program program = sample_program();
  EXPECT_TRUE(decode(encode(program))->functions[0].variables.empty());  // as in older programs
  Function& function = program.functions[0];
  const auto end = static_cast<std::uint32_t>(function.code.size());
  function.variables = {{"first", 0, 0, end}, {"second", 0, 1, end}};
  const std::string bytes = encode(program);
  const auto decoded = decode(bytes);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(encode(*decoded), bytes);
  EXPECT_EQ(decoded->functions[0].variables, function.variables);
  for (const VariableName& outside : {VariableName{"x", function.register_count, 0, end},
                                      VariableName{"x", 0, 0, end + 1}, VariableName{"x", 0, 1, 0}}) {
    function.variables = {outside};
    EXPECT_THAT(decode(encode(program)).error().message, HasSubstr("a variable is outside"));
  }
}

/// They are on disks.
TEST(Codec, TheNumbersOfBoundsStay) {
  wire::Writer fields;
  for (std::uint32_t number = 2; number <= 7; ++number) fields.present_field(number, number);
  Program program = sample_program();
  program.budgets[0].bounds = {2, 3, 4, 5, 6, 7};
  EXPECT_THAT(encode(program), HasSubstr(fields.view()));
}

TEST(Codec, AProgramWithoutAMessageVersionHasTheFirst) {
  Program program = sample_program();
  EXPECT_EQ(decode(encode(program))->messages, newest_messages);
  program.messages = MessageVersion::First;  // as in older programs, which lack the field
  EXPECT_EQ(decode(encode(program))->messages, MessageVersion::First);
}

TEST(Codec, AnOlderProgramDoesNotAwaitCallsThatAreMadeAtMostOnce) {
  Program program = sample_program();
  EXPECT_TRUE(decode(encode(program))->awaits_once_calls);
  program.awaits_once_calls = false;  // as in older programs, which lack the field
  EXPECT_FALSE(decode(encode(program))->awaits_once_calls);
}

TEST(Codec, AnotherFormatIsNamed) {
  wire::Writer out;
  out.present_field(1, program_format + 1);
  EXPECT_THAT(decode(out.view()).error().message, HasSubstr("format 2, but this version of Tenon reads format 1"));
  EXPECT_FALSE(decode("").has_value());
}

TEST(Codec, UnknownFieldsAreRefused) {
  wire::Writer out;
  out.raw(encode(sample_program()));
  out.present_field(99, 1);
  EXPECT_FALSE(decode(out.view()).has_value());
}

TEST(Codec, NoPrefixIsAProgram) {
  const std::string bytes = encode(sample_program());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto decoded = decode(std::string_view(bytes).substr(0, size));
    // Between two messages there may be a whole, smaller program.
    if (decoded) {
      EXPECT_EQ(encode(*decoded), bytes.substr(0, size));
    }
  }
}

TEST(Codec, DamagedBytesGiveAnErrorOrAProgramThatIsVerified) {
  const std::string bytes = encode(sample_program());
  std::mt19937 random(1);
  std::size_t accepted = 0;
  for (unsigned round = 0; round < test::cases(20'000); ++round) {
    std::string damaged = bytes;
    const std::size_t changes = 1 + random() % 3;
    for (std::size_t i = 0; i < changes; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    if (random() % 4 == 0) damaged.erase(random() % damaged.size(), random() % 8);
    const auto decoded = decode(damaged);
    if (!decoded) continue;
    ++accepted;
    EXPECT_TRUE(verify(*decoded).has_value());
    static_cast<void>(disassemble(*decoded));
  }
  EXPECT_GT(accepted, 0U);
}

/// What the verifier says of a program that consists of the function and the sample's types.
std::string complaint(
    const std::string& text, const std::function<void(Program&)>& change = [](Program&) {}) {
  Program base;
  base.types = sample_program().types;
  Program program = assemble(text, std::move(base));
  change(program);
  const auto verified = verify(program);
  return verified ? "" : describe(verified.error());
}

TEST(Verifier, RequiresOperandsInRange) {
  EXPECT_EQ(complaint("fn f registers=2\n ReturnUnit\n"), "");
  EXPECT_THAT(complaint("fn f registers=2\n Move 0 2\n ReturnUnit\n"),
              HasSubstr("function `f`, instruction 0: a register is out of range"));
  EXPECT_THAT(complaint("fn f registers=2\n MakeList 0 1 2\n ReturnUnit\n"),
              HasSubstr("a window of registers is out of range"));
  EXPECT_THAT(complaint("fn f registers=2\n LoadUnit 0\n"), HasSubstr("control can run past the end"));
  EXPECT_THAT(complaint("fn f registers=2\n"), HasSubstr("has no code"));
  EXPECT_THAT(complaint("fn f registers=2\n Complete 0 0\n ReturnUnit\n"), HasSubstr("a site does not exist"));
  EXPECT_THAT(complaint("fn f registers=2\n MakeRecord 0 0 Mood\n ReturnUnit\n"),
              HasSubstr("a record is not of a struct or tuple"));
  EXPECT_THAT(complaint("fn f registers=2\n LoadCase 0 Mood 1\n ReturnUnit\n"),
              HasSubstr("a plain case has a payload"));
  EXPECT_THAT(complaint("fn f registers=2\n LoadCase 0 Mood 7\n ReturnUnit\n"),
              HasSubstr("the case of an enum does not exist"));
  EXPECT_THAT(complaint("fn f registers=2\n MakeVariant 0 Mood 0\n ReturnUnit\n"),
              HasSubstr("a variant has no payload"));
  EXPECT_THAT(complaint("fn f registers=2\n Check 0 i32\n ReturnUnit\n"), HasSubstr("not against a refinement"));
  EXPECT_THAT(complaint("fn f registers=2\n F64ToInteger 0 0 f64\n ReturnUnit\n"), HasSubstr("not to an integer"));
  EXPECT_THAT(complaint("fn f registers=2\n CallBuiltin 0 StringReplace 0\n ReturnUnit\n"),
              HasSubstr("a window of registers"));
  EXPECT_THAT(complaint("fn f registers=0\n ReturnUnit\n"), HasSubstr("the number of registers"));
  EXPECT_THAT(complaint("fn f registers=1 params=i64,i64\n ReturnUnit\n"), HasSubstr("more parameters than registers"));
  EXPECT_THAT(complaint("fn f registers=1\n Assert 0 1.5\n ReturnUnit\n"),
              HasSubstr("the text of an instruction is not a text"));
  const std::string text = "fn f registers=2\n LoadUnit 0\n ReturnUnit\n";
  EXPECT_THAT(complaint(text, [](Program& p) { p.functions[0].code[0].opcode = 999; }),
              HasSubstr("an instruction does not exist"));
  EXPECT_THAT(complaint(text,
                        [](Program& p) {
                          p.functions[0].handlers.push_back({0, 9, 0, 0, 0});
                        }),
              HasSubstr("a handler's range"));
  EXPECT_THAT(complaint(text,
                        [](Program& p) {
                          p.functions[0].handlers.push_back({0, 1, 0, 2, 0});
                        }),
              HasSubstr("a handler's register"));
  EXPECT_THAT(complaint(text, [](Program& p) { p.functions[0].result = {9999}; }), HasSubstr("a type does not exist"));
  EXPECT_THAT(complaint(text, [](Program& p) { p.constants.push_back(std::string("\xFF")); }),
              HasSubstr("a text is not UTF-8"));
  EXPECT_THAT(complaint("fn f registers=2\n@a\n Jump @a\n", [](Program& p) { p.functions[0].code[0].b = 7; }),
              HasSubstr("a jump leaves the function"));
  EXPECT_THAT(complaint("fn f registers=2\n@a\n Switch 0 [@a else @a]\n",
                        [](Program& p) { p.jump_tables.back().otherwise = 5; }),
              HasSubstr("a jump leaves the function"));
}

TEST(Verifier, WantsAContextWhereTheModelIsAsked) {
  Program program = sample_program();
  program.functions[0].context_register = no_register;
  EXPECT_THAT(describe(verify(program).error()), HasSubstr("the model is asked without a context"));
  program = sample_program();
  program.sites[0].function = 1;
  EXPECT_THAT(describe(verify(program).error()), HasSubstr("a site belongs to another function"));
}

/// `add(7, _)` as a tool, and a select over a set.
Program program_with_a_tool() {
  Program program = assemble(R"(
fn choose registers=8 params=Context result=() context=0
  MakeList 2 2 0
  Select 1 0
  CallTool 2
  ReturnUnit
fn tool registers=2 params=i64,i64 result=()
  Render 0 0
  Return 0
)",
                             Program{});
  using types::TypeTable;
  const CallShape add{"add", "Adds.", "add(y: i64) -> i64", {"x", "y"}, {TypeTable::i64, TypeTable::i64}, {1}};
  program.functions[1].result = program.types.result(TypeTable::string);
  const types::TypeId record =
      program.types.add_struct({"add", "", {{"tool", TypeTable::i64, ""}, {"x", TypeTable::i64, ""}}});
  program.tools.push_back({add, {0}, 1, record, {}});
  Site site;
  site.kind = SiteKind::Select;
  site.clauses.resize(2);
  site.clauses[0].binding = "result";
  site.clauses[0].is_set = true;
  site.clauses[1].is_else = true;
  program.sites.push_back(std::move(site));
  return program;
}

TEST(Codec, SetsOfToolsRoundTrip) {
  const Program program = program_with_a_tool();
  ASSERT_TRUE(verify(program).has_value()) << describe(verify(program).error());
  const std::string bytes = encode(program);
  const auto decoded = decode(bytes);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(encode(*decoded), bytes);
  EXPECT_TRUE(decoded->sites[0].clauses[0].is_set);
  EXPECT_THAT(disassemble(*decoded), HasSubstr("tool 0: add(y: i64) -> i64  ; tool"));
}

/// The same, and the tool has a function whose result is cut by trust.
Program program_with_a_tool_in_parts() {
  Program program = program_with_a_tool();
  Function in_parts = program.functions[1];
  in_parts.result = program.types.result(program.types.list(types::TypeTable::string));
  program.functions.push_back(std::move(in_parts));
  program.tools[0].function_in_parts = 2;
  return program;
}

TEST(Codec, ToolsInPartsRoundTrip) {
  const Program program = program_with_a_tool_in_parts();
  ASSERT_TRUE(verify(program).has_value()) << describe(verify(program).error());
  const auto decoded = decode(encode(program));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(decoded->tools[0].function_in_parts, 2U);
  EXPECT_EQ(decode(encode(program_with_a_tool()))->tools[0].function_in_parts, no_function);
}

TEST(Verifier, RequiresToolsInPartsToMatchTheirFunctions) {
  Program program = program_with_a_tool_in_parts();
  program.tools[0].function_in_parts = 9;
  EXPECT_THAT(describe(verify(program).error()), HasSubstr("a function that does not exist"));
  program.tools[0].function_in_parts = 1;
  EXPECT_THAT(describe(verify(program).error()), HasSubstr("does not return a Result of a list of texts"));
  program.tools[0].function_in_parts = 0;
  EXPECT_THAT(describe(verify(program).error()), HasSubstr("takes other arguments"));
}

TEST(Verifier, RequiresToolsToMatchTheirFunctions) {
  const auto complaint_of = [](const std::function<void(Program&)>& damage) {
    Program program = program_with_a_tool();
    damage(program);
    const auto verified = verify(program);
    return verified ? std::string() : describe(verified.error());
  };
  EXPECT_THAT(complaint_of([](Program& p) { p.tools[0].function = 9; }), HasSubstr("a function that does not exist"));
  EXPECT_THAT(complaint_of([](Program& p) { p.tools[0].function = 0; }), HasSubstr("takes other arguments"));
  EXPECT_THAT(complaint_of([](Program& p) { p.tools[0].given = {1}; }), HasSubstr("not one of its parameters"));
  EXPECT_THAT(complaint_of([](Program& p) { p.tools[0].given = {}; }), HasSubstr("does not match its given arguments"));
  EXPECT_THAT(complaint_of([](Program& p) { p.tools[0].record = types::TypeTable::string; }),
              HasSubstr("does not match its given arguments"));
  EXPECT_THAT(complaint_of([](Program& p) { p.functions[1].result = types::TypeTable::string; }),
              HasSubstr("does not return a Result of a text"));
  EXPECT_THAT(complaint_of([](Program& p) { p.functions[0].register_count = 5; }), HasSubstr("a window of registers"));
}

TEST(Disassembler, ShowsNamesPlacesAndTargets) {
  const std::string text = disassemble(sample_program());
  EXPECT_THAT(text, HasSubstr("fn main(r0 p0: Context, r1 p1: String) -> List<String>  ; 24 registers, context in r0"));
  EXPECT_THAT(text, HasSubstr("LoadConstant       r2, \"You are precise. \""));
  EXPECT_THAT(text, HasSubstr("CallExtern         r4…, fetch"));
  EXPECT_THAT(text, HasSubstr("EnterBudget        budget(calls: 10, tokens: 1000, instructions: 10000, depth: 100, "
                              "cost: 5000000, time: 60000)"));
  EXPECT_THAT(text, HasSubstr("Select             r8…, site 2: add | else"));
  EXPECT_THAT(text, HasSubstr("MakeRecord         r12, r12…, Point"));
  EXPECT_THAT(text, HasSubstr("on failure in 5..8: to 10 with the failure in r5, 0 budgets open"));
  EXPECT_THAT(text, HasSubstr(">   10  GetField"));
  EXPECT_THAT(text, HasSubstr("; sample.tn:3:1"));
}

TEST(Disassembler, ShowsADamagedProgramToo) {
  Program program = sample_program();
  for (Function& function : program.functions) {
    for (Instruction& instruction : function.code) instruction.b = instruction.c = 0xFFFF;
  }
  program.functions[0].code[0].opcode = 9999;
  EXPECT_THAT(disassemble(program), HasSubstr("? 9999"));
}

}  // namespace
}  // namespace tenon::bytecode
