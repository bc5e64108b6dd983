#include "vm/builtins/builtins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/assembler.h"
#include "tests/support/machine_run.h"
#include "vm/values/context.h"

namespace tenon::vm {
namespace {

using test::assemble;
using test::load;

/// What `main` gives that applies the built-in to constants: `"text"`, numbers, or `[…]` for a list of them.
std::string call(const std::string& builtin, const std::vector<std::string>& arguments) {
  std::string body;
  std::size_t next = 8;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.starts_with('[')) {
      // Items are separated by commas, without blanks.
      std::size_t first = next;
      std::string rest = argument.substr(1, argument.size() - 2);
      while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        body += "LoadConstant " + std::to_string(next++) + " " + rest.substr(0, comma) + "\n";
        rest.erase(0, std::min(comma + 1, rest.size()));
      }
      body +=
          "MakeList " + std::to_string(i + 1) + " " + std::to_string(first) + " " + std::to_string(next - first) + "\n";
    } else {
      body += "LoadConstant " + std::to_string(i + 1) + " " + argument + "\n";
    }
  }
  const std::string text = "fn main registers=30\n" + body + "CallBuiltin 0 " + builtin + " 1\nReturn 0\n";
  const std::string end = test::run(load(assemble(text))).end;
  return end.starts_with("value ") ? end.substr(6) : end;
}

TEST(Builtins, EveryOneIsThere) {
  for (std::uint16_t number = 0; number < 256; ++number) {
    const types::BuiltinInfo* const info = types::find_builtin(number);
    if (info == nullptr) continue;
    int found = 0;
    for (auto* const find : {find_text_builtin, find_list_builtin, find_map_builtin, find_number_builtin,
                             find_tools_builtin, find_other_builtin}) {
      found += find(info->builtin) != nullptr ? 1 : 0;
    }
    EXPECT_EQ(found, 1) << info->name;
  }
}

TEST(Builtins, Strings) {
  EXPECT_EQ(call("StringContains", {"\"hello\"", "\"ell\""}), "true");
  EXPECT_EQ(call("StringStartsWith", {"\"hello\"", "\"lo\""}), "false");
  EXPECT_EQ(call("StringEndsWith", {"\"hello\"", "\"lo\""}), "true");
  EXPECT_EQ(call("StringTrim", {"\" \u00A0\u3000a b\\n\u2003\""}), "\"a b\"");
  EXPECT_EQ(call("StringTrim", {"\"  \""}), "\"\"");
  EXPECT_EQ(call("StringToUpper", {"\"straße é ж\""}), "\"STRAßE É Ж\"");
  EXPECT_EQ(call("StringToLower", {"\"ÀÉ Ж\""}), "\"àé ж\"");
  EXPECT_EQ(call("StringReplace", {"\"a-b-c\"", "\"-\"", "\"+\""}), "\"a+b+c\"");
  EXPECT_EQ(call("StringReplace", {"\"aé\"", "\"\"", "\"|\""}), "\"|a|é|\"");
  EXPECT_EQ(call("StringSplit", {"\"a,,b,\"", "\",\""}), "[\"a\",\"\",\"b\",\"\"]");
  EXPECT_EQ(call("StringSplit", {"\"\"", "\",\""}), "[\"\"]");
  EXPECT_EQ(call("StringSplit", {"\"aé\"", "\"\""}), "[\"a\",\"é\"]");
  EXPECT_EQ(call("StringLines", {"\"a\\n\\nb\\n\""}), "[\"a\",\"\",\"b\"]");
  EXPECT_EQ(call("StringLines", {"\"\""}), "[]");
  EXPECT_EQ(call("StringChars", {"\"né!\""}), "[\"n\",\"é\",\"!\"]");
  EXPECT_EQ(call("StringSlice", {"\"añb\"", "1", "2"}), "\"ñ\"");
  EXPECT_EQ(call("StringSlice", {"\"abc\"", "1", "3"}), "\"bc\"");
  EXPECT_EQ(call("StringSlice", {"\"abc\"", "2", "1"}),
            "failed Index: slice(2, 1) of a text of 3 code points (test.tn:5:1; )");
  EXPECT_EQ(call("StringSlice", {"\"abc\"", "-1", "1"}),
            "failed Index: slice(-1, 1) of a text of 3 code points (test.tn:5:1; )");
  EXPECT_EQ(call("StringSlice", {"\"ñ\"", "0", "5"}),
            "failed Index: slice(0, 5) of a text of 1 code point (test.tn:5:1; )");
  EXPECT_EQ(call("StringFind", {"\"añbc\"", "\"b\""}), "2");
  EXPECT_EQ(call("StringFind", {"\"abc\"", "\"x\""}), "null");
  EXPECT_EQ(call("StringRepeat", {"\"ab\"", "3"}), "\"ababab\"");
  EXPECT_THAT(call("StringRepeat", {"\"ab\"", "-1"}), testing::StartsWith("failed Arithmetic: repeat(-1)"));
  EXPECT_THAT(call("StringRepeat", {"\"ab\"", "1000000000"}),
              testing::StartsWith("failed Index: the text would be longer than"));
  EXPECT_EQ(call("StringMatches", {"\"abc\"", "\"[a-c]+\""}), "true");
  EXPECT_EQ(call("StringMatches", {"\"abcd\"", "\"[a-c]+\""}), "false");
  EXPECT_THAT(call("StringMatches", {"\"abcd\"", "\"[\""}),
              testing::StartsWith("failed Conversion: \"[\" is not a valid pattern"));
}

TEST(Builtins, Parsing) {
  EXPECT_EQ(call("StringParseI32", {"\"-12\""}), "-12");
  EXPECT_EQ(call("StringParseI32", {"\"+12\""}), "12");
  EXPECT_EQ(call("StringParseI32", {"\"2147483648\""}),
            "failed Conversion: \"2147483648\" is not a valid i32 (test.tn:3:1; )");
  EXPECT_EQ(call("StringParseI64", {"\"2147483648\""}), "2147483648");
  for (const char* bad : {"\"\"", "\" 1\"", "\"1 \"", "\"+-1\"", "\"1.5\"", "\"x\""}) {
    EXPECT_THAT(call("StringParseI64", {bad}), testing::StartsWith("failed Conversion")) << bad;
  }
  EXPECT_EQ(call("StringParseF64", {"\"1e3\""}), "1000.0");
  EXPECT_THAT(call("StringParseF64", {"\"1e\""}), testing::StartsWith("failed Conversion"));
  EXPECT_EQ(call("StringParseBoolean", {"\"true\""}), "true");
  EXPECT_THAT(call("StringParseBoolean", {"\"True\""}), testing::StartsWith("failed Conversion"));
}

TEST(Builtins, Lists) {
  EXPECT_EQ(call("ListContains", {"[1,2]", "2"}), "true");
  EXPECT_EQ(call("ListFirst", {"[1,2]"}), "1");
  EXPECT_EQ(call("ListFirst", {"[]"}), "null");
  EXPECT_EQ(call("ListLast", {"[1,2]"}), "2");
  EXPECT_EQ(call("ListGet", {"[1,2]", "1"}), "2");
  EXPECT_EQ(call("ListGet", {"[1,2]", "-1"}), "null");
  EXPECT_EQ(call("ListSlice", {"[1,2,3]", "1", "3"}), "[2,3]");
  EXPECT_THAT(call("ListSlice", {"[1]", "0", "2"}),
              testing::StartsWith("failed Index: slice(0, 2) of a list of 1 item "));
  EXPECT_EQ(call("ListReverse", {"[1,2,3]"}), "[3,2,1]");
  EXPECT_EQ(call("ListSort", {"[3,-1,2]"}), "[-1,2,3]");
  EXPECT_EQ(call("ListSort", {"[\"b\",\"a\",\"é\"]"}), "[\"a\",\"b\",\"é\"]");
  EXPECT_EQ(call("ListSort", {"[2.5,-1.0]"}), "[-1.0,2.5]");
  EXPECT_EQ(call("ListSort", {"[]"}), "[]");
  EXPECT_EQ(call("ListJoin", {"[1,\"a\",2.0]", "\"; \""}), "\"1; a; 2.0\"");
  EXPECT_EQ(call("ListConcatenate", {"[1]", "[2]"}), "[1,2]");
  EXPECT_EQ(call("ListFind", {"[\"a\",\"b\"]", "\"b\""}), "1");
  EXPECT_EQ(call("ListFind", {"[]", "1"}), "null");
  EXPECT_EQ(call("ListSumInteger", {"[1,2,3]"}), "6");
  EXPECT_EQ(call("ListSumInteger", {"[9223372036854775807,1]"}),
            "failed Arithmetic: the sum does not fit into i64 (test.tn:5:1; )");
  EXPECT_EQ(call("ListSumI32", {"[2147483647,1]"}), "failed Arithmetic: the sum does not fit into i32 (test.tn:5:1; )");
  EXPECT_EQ(call("ListSumF64", {"[0.5,0.25]"}), "0.75");
  EXPECT_EQ(call("ListMinimum", {"[3,1,2]"}), "1");
  EXPECT_EQ(call("ListMaximum", {"[\"a\",\"c\",\"b\"]"}), "\"c\"");
  EXPECT_EQ(call("ListMaximum", {"[]"}), "null");
}

TEST(Builtins, SortingPutsNaNLastAndKeepsTheOrderOfEquals) {
  const std::string text = R"(
fn main registers=8
  LoadConstant 0 0.0
  DivideF64 1 0 0
  LoadConstant 2 2.0
  LoadConstant 3 1.0
  MakeList 4 1 3
  CallBuiltin 5 ListSort 4
  CallBuiltin 6 ListMinimum 4
  Push 5 6
  CallBuiltin 6 ListMaximum 4
  Push 5 6
  Return 5
)";
  EXPECT_EQ(test::run(load(assemble(text))).end, "value [1.0,2.0,\"NaN\",1.0,2.0]");
}

TEST(Builtins, Maps) {
  const auto map = [](const std::string& rest) {
    return test::run(load(assemble("fn main registers=10\n LoadConstant 1 \"b\"\n LoadInteger 2 1\n LoadConstant 3 "
                                   "\"a\"\n LoadInteger 4 2\n"
                                   " MakeMap 5 1 2\n" +
                                   rest + "\n Return 0\n")))
        .end;
  };
  EXPECT_EQ(map("LoadConstant 6 \"a\"\n CallBuiltin 0 MapGet 5"), "value 2");
  EXPECT_EQ(map("LoadConstant 6 \"c\"\n CallBuiltin 0 MapGet 5"), "value null");
  EXPECT_EQ(map("LoadConstant 6 \"a\"\n CallBuiltin 0 MapContains 5"), "value true");
  EXPECT_EQ(map("CallBuiltin 0 MapKeys 5"), "value [\"b\",\"a\"]");
  EXPECT_EQ(map("CallBuiltin 0 MapValues 5"), "value [1,2]");
}

TEST(Builtins, Numbers) {
  EXPECT_EQ(call("IntegerAbsoluteI32", {"-5"}), "5");
  EXPECT_THAT(call("IntegerAbsoluteI32", {"-2147483648"}),
              testing::StartsWith("failed Arithmetic: abs() of -2147483648"));
  EXPECT_THAT(call("IntegerAbsoluteI64", {"-9223372036854775808"}), testing::StartsWith("failed Arithmetic"));
  EXPECT_EQ(call("F64Absolute", {"-0.5"}), "0.5");
  EXPECT_EQ(call("IntegerMinimum", {"3", "-4"}), "-4");
  EXPECT_EQ(call("IntegerMaximum", {"3", "-4"}), "3");
  EXPECT_EQ(call("F64Minimum", {"1.5", "2.5"}), "1.5");
  EXPECT_EQ(call("F64Maximum", {"1.5", "2.5"}), "2.5");
  EXPECT_EQ(call("F64Floor", {"-1.5"}), "-2.0");
  EXPECT_EQ(call("F64Ceil", {"1.2"}), "2.0");
  EXPECT_EQ(call("F64Round", {"2.5"}), "3.0");
  EXPECT_EQ(call("F64Round", {"-2.5"}), "-3.0");
  EXPECT_EQ(call("F64Sqrt", {"6.25"}), "2.5");
  EXPECT_EQ(call("F64Power", {"2.0", "0.5"}), "1.4142135623730951");
  EXPECT_EQ(call("I32Power", {"2", "30"}), "1073741824");
  EXPECT_EQ(call("I32Power", {"-2", "31"}), "-2147483648");
  EXPECT_EQ(call("I32Power", {"2", "31"}), "failed Arithmetic: 2.pow(31) does not fit into i32 (test.tn:4:1; )");
  EXPECT_EQ(call("I64Power", {"-2", "63"}), "-9223372036854775808");
  EXPECT_EQ(call("I64Power", {"1", "9223372036854775807"}), "1");
  EXPECT_EQ(call("I64Power", {"2", "-1"}),
            "failed Arithmetic: 2.pow(-1): the exponent must be 0 or more (test.tn:4:1; )");
}

TEST(Builtins, UnwrapAndJson) {
  const auto one = [](const std::string& body) {
    return test::run(load(assemble("fn main registers=8\n" + body + "\n Return 0\n"))).end;
  };
  EXPECT_EQ(one("LoadInteger 1 4\n MakeVariant 1 Option<?> 1\n CallBuiltin 0 OptionUnwrap 1"), "value 4");
  EXPECT_EQ(one("LoadCase 1 Option<?> 0\n CallBuiltin 0 OptionUnwrap 1"),
            "failed Conversion: unwrap() of None (test.tn:3:1; )");
  EXPECT_EQ(one("LoadInteger 1 4\n MakeVariant 1 \"Result<?, Failure>\" 0\n CallBuiltin 0 ResultUnwrap 1"), "value 4");
  EXPECT_EQ(one("@a\n LoadInteger 1 0\n DivideI64 1 1 1\n@b\n@caught\n MakeVariant 2 \"Result<?, Failure>\" 1\n "
                "CallBuiltin 0 ResultUnwrap 2\n"
                "handler @a @b @caught 2 0"),
            "failed Arithmetic: division of 0 by zero (test.tn:4:1; )");
  EXPECT_EQ(one("LoadConstant 1 \"a\\\"b\"\n CallBuiltin 0 ToJson 1"), "value \"\\\"a\\\\\\\"b\\\"\"");
}

TEST(Builtins, ResultsCarryTheirArgumentsLabels) {
  const auto program = load(assemble(R"(
fn main registers=12 params=String
  LoadConstant 1 "program,"
  Concatenate 1 1 0
  LoadConstant 2 ","
  CallBuiltin 3 StringSplit 1
  LoadConstant 5 ","
  Move 4 3
  CallBuiltin 6 ListJoin 4
  LoadInteger 8 7
  Move 9 0
  MakeList 7 8 2
  LoadInteger 8 7
  CallBuiltin 10 ListContains 7
  MakeList 0 6 1
  Push 0 10
  Return 0
)"));
  Machine machine(program, 0, {{Value::string("data"), Source{SourceKind::Person, ""}}});
  const Step end = machine.run();
  ASSERT_TRUE(std::holds_alternative<Finished>(end));
  const auto items = std::get<Finished>(end).value.items();
  EXPECT_EQ(machine.labels().describe(items[0].label()), "person");
  EXPECT_EQ(machine.labels().describe(items[1].label()), "person");
  EXPECT_EQ(items[0].as_text(), "program,data");
}

/// The instructions that `main` takes, which applies the built-in to a text of 4,000 letters and more arguments.
std::uint64_t instructions_of(const std::string& body) {
  return test::run(load(assemble("fn main registers=30\n LoadConstant 1 \"" + std::string(4'000, 'x') + "\"\n" + body +
                                 " ReturnUnit\n")))
      .instructions;
}

TEST(Builtins, MuchWorkCountsAsManyInstructions) {
  constexpr std::uint64_t few = 10;
  const std::string repeated = " LoadConstant 2 1000\n CallBuiltin 1 StringRepeat 1\n";
  const std::uint64_t once = instructions_of(repeated);
  EXPECT_EQ(once / few, 4'000'000 / bytes_per_instruction / few);
  EXPECT_GT(instructions_of(repeated + " Move 2 1\n CallBuiltin 0 StringContains 1\n"), once + once / 2);
  EXPECT_GT(instructions_of(repeated + " CallBuiltin 0 StringToUpper 1\n"), 2 * once);
  EXPECT_GT(instructions_of(repeated + " Concatenate 0 1 1\n"), 2 * once);
  EXPECT_GT(instructions_of(repeated + " LoadConstant 2 \"x\"\n Append 2 1\n Equal 0 1 1\n"), 2 * once);
  EXPECT_LT(instructions_of(" CallBuiltin 0 StringTrim 1\n"), 4'000 / few);
}

TEST(Builtins, ARepeatedTextKeepsItsPieces) {
  EXPECT_EQ(call("StringRepeat", {"\"ab\"", "5"}), "\"ababababab\"");
  EXPECT_EQ(call("StringRepeat", {"\"é\"", "3"}), "\"ééé\"");
  EXPECT_EQ(call("StringRepeat", {"\"ab\"", "0"}), "\"\"");
}

}  // namespace
}  // namespace tenon::vm
