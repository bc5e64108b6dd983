// Each instruction by its meaning in the table. A snippet is the body of `main`, which has 16 registers and, in
// register 0, a context.
#include <gtest/gtest.h>

#include <string>

#include "base/utf8.h"
#include "tests/support/assembler.h"
#include "tests/support/machine_run.h"
#include "vm/values/describe_value.h"

namespace tenon::vm {
namespace {

using types::TypeTable;

bytecode::Program with_types() {
  bytecode::Program program;
  TypeTable& types = program.types;
  types.add_struct({"Point", "", {{"x", TypeTable::i64, ""}, {"y", TypeTable::i64, ""}}});
  types.add_enum(
      {"Mood",
       "",
       {{"Good", "", {}}, {"Bad", "", {TypeTable::string}}, {"Mixed", "", {TypeTable::i64, TypeTable::i64}}}});
  types.tuple({TypeTable::i64, TypeTable::string});
  types::Refinement percent;
  percent.name = "Percent";
  percent.low = std::int64_t{0};
  percent.high = std::int64_t{100};
  types.refined(TypeTable::i32, percent);
  types::Refinement share;
  share.name = "Share";
  share.low = 0.0;
  share.high = 1.0;
  share.high_is_exclusive = true;
  types.refined(TypeTable::f64, share);
  types::Refinement code;
  code.name = "Code";
  code.length_low = 2;
  code.length_high = 4;
  code.pattern = "[a-z]+";
  types.refined(TypeTable::string, code);
  types.make_union({"Team", std::vector<std::string>{"billing", "tech"}});
  types.make_union({"Small", std::vector<std::int64_t>{1, 2, 3}});
  return program;
}

std::string result_of(const std::string& body) {
  const std::string text = "fn main registers=16 params=Context result=() context=0\n" + body;
  return test::run(test::load(test::assemble(text, with_types())), {{Value::empty_context(), {}}}).end;
}

/// Runs `setup` and `operation`, and gives register 1.
std::string one(const std::string& body) {
  return result_of(body + "\n Return 1\n");
}

TEST(Instructions, Loads) {
  EXPECT_EQ(one("LoadConstant 1 \"hi\""), "value \"hi\"");
  EXPECT_EQ(one("LoadConstant 1 2.5"), "value 2.5");
  EXPECT_EQ(one("LoadConstant 1 true"), "value true");
  EXPECT_EQ(one("LoadConstant 1 9223372036854775807"), "value 9223372036854775807");
  EXPECT_EQ(one("LoadUnit 1"), "value null");
  EXPECT_EQ(one("LoadBoolean 1 1"), "value true");
  EXPECT_EQ(one("LoadInteger 1 -7"), "value -7");
  EXPECT_EQ(one("LoadCase 1 Mood 0"), "value \"Good\"");
  EXPECT_EQ(one("LoadCase 1 Option<?> 0"), "value null");
}

TEST(Instructions, MoveCopiesAndTakeLeavesNothing) {
  EXPECT_EQ(one("LoadInteger 2 5\n Move 1 2\n MakeList 1 1 2"), "value [5,5]");
  EXPECT_EQ(one("LoadInteger 2 5\n Take 1 2\n MakeList 1 1 2"), "value [5,null]");
  EXPECT_EQ(one("LoadConstant 1 \"x\"\n Take 1 1"), "value \"x\"");
}

std::string arithmetic(const std::string& opcode, std::int64_t left, std::int64_t right) {
  return one("LoadConstant 2 " + std::to_string(left) + "\n LoadConstant 3 " + std::to_string(right) + "\n " + opcode +
             " 1 2 3");
}

TEST(Instructions, I32ArithmeticFailsPastItsRange) {
  EXPECT_EQ(arithmetic("AddI32", 2147483646, 1), "value 2147483647");
  EXPECT_EQ(arithmetic("AddI32", 2147483647, 1),
            "failed Arithmetic: 2147483647 + 1 does not fit into i32 (test.tn:4:1; )");
  EXPECT_EQ(arithmetic("SubtractI32", -2147483648, 1),
            "failed Arithmetic: -2147483648 - 1 does not fit into i32 (test.tn:4:1; )");
  EXPECT_EQ(arithmetic("MultiplyI32", 65536, 32768),
            "failed Arithmetic: 65536 * 32768 does not fit into i32 (test.tn:4:1; )");
  EXPECT_EQ(arithmetic("MultiplyI32", -65536, 32768), "value -2147483648");
  EXPECT_EQ(arithmetic("DivideI32", -7, 2), "value -3");
  EXPECT_EQ(arithmetic("DivideI32", -2147483648, -1),
            "failed Arithmetic: -2147483648 / -1 does not fit into i32 (test.tn:4:1; )");
  EXPECT_EQ(arithmetic("DivideI32", 1, 0), "failed Arithmetic: division of 1 by zero (test.tn:4:1; )");
  EXPECT_EQ(arithmetic("RemainderI32", -7, 2), "value -1");
  EXPECT_EQ(arithmetic("RemainderI32", 7, -1), "value 0");
  EXPECT_EQ(arithmetic("RemainderI32", 7, 0), "failed Arithmetic: division of 7 by zero (test.tn:4:1; )");
  EXPECT_EQ(arithmetic("RemainderI32", -2147483648, -1),
            "failed Arithmetic: -2147483648 % -1 does not fit into i32 (test.tn:4:1; )");
  EXPECT_EQ(one("LoadConstant 2 -2147483648\n NegateI32 1 2"),
            "failed Arithmetic: -(-2147483648) does not fit into i32 (test.tn:3:1; )");
  EXPECT_EQ(one("LoadInteger 2 2147483640\n AddI32Short 1 2 7"), "value 2147483647");
  EXPECT_EQ(one("LoadInteger 2 2147483640\n AddI32Short 1 2 8"),
            "failed Arithmetic: 2147483640 + 8 does not fit into i32 (test.tn:3:1; )");
}

TEST(Instructions, I64ArithmeticFailsPastItsRange) {
  constexpr std::int64_t high = INT64_MAX;
  constexpr std::int64_t low = INT64_MIN;
  EXPECT_EQ(arithmetic("AddI64", high - 1, 1), "value 9223372036854775807");
  EXPECT_EQ(arithmetic("AddI64", high, 1),
            "failed Arithmetic: 9223372036854775807 + 1 does not fit into i64 (test.tn:4:1; )");
  EXPECT_EQ(arithmetic("SubtractI64", low, 1),
            "failed Arithmetic: -9223372036854775808 - 1 does not fit into i64 (test.tn:4:1; )");
  EXPECT_EQ(arithmetic("MultiplyI64", high, 2),
            "failed Arithmetic: 9223372036854775807 * 2 does not fit into i64 (test.tn:4:1; )");
  EXPECT_EQ(arithmetic("DivideI64", low, -1),
            "failed Arithmetic: -9223372036854775808 / -1 does not fit into i64 (test.tn:4:1; )");
  EXPECT_EQ(arithmetic("RemainderI64", low, -1),
            "failed Arithmetic: -9223372036854775808 % -1 does not fit into i64 (test.tn:4:1; )");
  EXPECT_EQ(arithmetic("RemainderI64", 17, 5), "value 2");
  EXPECT_EQ(arithmetic("DivideI64", 17, 5), "value 3");
  EXPECT_EQ(arithmetic("DivideI64", 17, 0), "failed Arithmetic: division of 17 by zero (test.tn:4:1; )");
  EXPECT_EQ(one("LoadInteger 2 5\n NegateI64 1 2"), "value -5");
  EXPECT_EQ(one("LoadInteger 2 5\n AddI64Short 1 2 -6"), "value -1");
}

TEST(Instructions, F64ArithmeticIsIeee754) {
  const auto real = [](const std::string& opcode) {
    return one("LoadConstant 2 7.5\n LoadConstant 3 2.0\n " + opcode + " 1 2 3");
  };
  EXPECT_EQ(real("AddF64"), "value 9.5");
  EXPECT_EQ(real("SubtractF64"), "value 5.5");
  EXPECT_EQ(real("MultiplyF64"), "value 15.0");
  EXPECT_EQ(real("DivideF64"), "value 3.75");
  EXPECT_EQ(real("RemainderF64"), "value 1.5");
  EXPECT_EQ(one("LoadConstant 2 7.5\n NegateF64 1 2"), "value -7.5");
  EXPECT_EQ(one("LoadConstant 2 1.0\n LoadConstant 3 0.0\n DivideF64 1 2 3"), "value \"Infinity\"");
  EXPECT_EQ(one("LoadInteger 2 3\n IntegerToF64 1 2"), "value 3.0");
}

TEST(Instructions, Conversions) {
  EXPECT_EQ(one("LoadConstant 2 -3.9\n F64ToInteger 1 2 i32"), "value -3");
  EXPECT_EQ(one("LoadConstant 2 3000000000.0\n F64ToInteger 1 2 i32"),
            "failed Conversion: 3000000000.0 does not fit into i32 (test.tn:3:1; )");
  EXPECT_EQ(one("LoadConstant 2 3000000000.0\n F64ToInteger 1 2 i64"), "value 3000000000");
  EXPECT_EQ(one("LoadConstant 2 0.0\n DivideF64 2 2 2\n F64ToInteger 1 2 i64"),
            "failed Conversion: NaN does not fit into i64 (test.tn:4:1; )");
  EXPECT_EQ(one("LoadConstant 2 3000000000\n IntegerToI32 1 2"),
            "failed Conversion: 3000000000 does not fit into i32 (test.tn:3:1; )");
  EXPECT_EQ(one("LoadConstant 2 3\n IntegerToI32 1 2"), "value 3");
}

std::string compare(const std::string& opcode, const std::string& left, const std::string& right) {
  return one("LoadConstant 2 " + left + "\n LoadConstant 3 " + right + "\n " + opcode + " 1 2 3");
}

TEST(Instructions, Comparisons) {
  EXPECT_EQ(one("LoadBoolean 2 0\n Not 1 2"), "value true");
  EXPECT_EQ(compare("Equal", "1", "1"), "value true");
  EXPECT_EQ(compare("Equal", "\"a\"", "\"a\""), "value true");
  EXPECT_EQ(compare("NotEqual", "\"a\"", "\"b\""), "value true");
  EXPECT_EQ(compare("LessInteger", "-1", "1"), "value true");
  EXPECT_EQ(compare("LessEqualInteger", "1", "1"), "value true");
  EXPECT_EQ(compare("LessF64", "1.5", "1.5"), "value false");
  EXPECT_EQ(compare("LessEqualF64", "1.5", "1.5"), "value true");
  EXPECT_EQ(compare("LessString", "\"Z\"", "\"é\""), "value true");
  EXPECT_EQ(compare("LessEqualString", "\"b\"", "\"a\""), "value false");
  EXPECT_EQ(one("LoadConstant 2 0.0\n DivideF64 2 2 2\n Equal 1 2 2"), "value false");
  for (const auto& [opcode, expected] : {std::pair{"EqualShort", "false"},
                                         {"LessShort", "true"},
                                         {"LessEqualShort", "true"},
                                         {"GreaterShort", "false"},
                                         {"GreaterEqualShort", "false"}}) {
    EXPECT_EQ(one(std::string("LoadInteger 2 -4\n ") + opcode + " 1 2 -3"), std::string("value ") + expected) << opcode;
  }
}

TEST(Instructions, EqualityIsByStructure) {
  EXPECT_EQ(one("LoadInteger 2 1\n LoadInteger 3 2\n MakeRecord 4 2 Point\n MakeRecord 5 2 Point\n MakeList 4 4 1\n "
                "MakeList 5 5 1\n Equal 1 4 5"),
            "value true");
  EXPECT_EQ(one("LoadInteger 2 1\n LoadInteger 3 2\n MakeRecord 4 2 Point\n MakeRecord 5 2 Point\n SetField 5 1 2\n "
                "Equal 1 4 5"),
            "value false");
  EXPECT_EQ(one("LoadInteger 2 1\n MakeVariant 2 Option<?> 1\n LoadCase 3 Option<?> 0\n NotEqual 1 2 3"), "value true");
}

TEST(Instructions, Jumps) {
  EXPECT_EQ(one("LoadInteger 1 1\n Jump @end\n LoadInteger 1 2\n@end"), "value 1");
  EXPECT_EQ(one("LoadBoolean 2 1\n LoadInteger 1 1\n JumpIf 2 @end\n LoadInteger 1 2\n@end"), "value 1");
  EXPECT_EQ(one("LoadBoolean 2 1\n LoadInteger 1 1\n JumpUnless 2 @end\n LoadInteger 1 2\n@end"), "value 2");
  for (const auto& [choice, expected] : {std::pair{0, "10"}, {1, "20"}, {2, "30"}, {-1, "30"}}) {
    EXPECT_EQ(
        result_of(
            "LoadInteger 2 " + std::to_string(choice) +
            "\n Switch 2 [@a @b else @c]\n@a\n LoadInteger 1 10\n Return 1\n@b\n LoadInteger 1 20\n Return 1\n@c\n"
            " LoadInteger 1 30\n Return 1\n"),
        std::string("value ") + expected);
  }
}

TEST(Instructions, Loops) {
  EXPECT_EQ(one("LoadInteger 2 4\n LoadInteger 3 5\n MakeList 5 2 2\n LoadInteger 6 0\n LoadInteger 1 0\n@next\n "
                "ForList 5 @end\n AddI64 1 1 7\n"
                " Jump @next\n@end"),
            "value 9");
  EXPECT_EQ(one("LoadInteger 2 3\n LoadInteger 3 6\n LoadInteger 1 0\n@next\n ForRange 2 @end\n AddI64 1 1 4\n Jump "
                "@next\n@end"),
            "value 12");
  EXPECT_EQ(
      one("LoadConstant 2 \"a\"\n LoadInteger 3 1\n LoadConstant 4 \"b\"\n LoadInteger 5 2\n MakeMap 6 2 2\n "
          "LoadInteger 7 0\n"
          " LoadConstant 1 \"\"\n@next\n ForMap 6 @end\n Append 1 8\n Render 10 9\n Append 1 10\n Jump @next\n@end"),
      "value \"a1b2\"");
}

TEST(Instructions, AWalkOverAMapSkipsWhatWasRemoved) {
  EXPECT_EQ(one("LoadConstant 2 \"a\"\n LoadInteger 3 1\n LoadConstant 4 \"b\"\n LoadInteger 5 2\n MakeMap 6 2 2\n "
                "RemoveEntry 10 6 2\n"
                " LoadInteger 7 0\n LoadConstant 1 \"\"\n@next\n ForMap 6 @end\n Append 1 8\n Jump @next\n@end"),
            "value \"b\"");
}

TEST(Instructions, Texts) {
  EXPECT_EQ(one("LoadConstant 2 \"a\"\n LoadConstant 3 \"b\"\n Concatenate 1 2 3\n Concatenate 1 1 2"),
            "value \"aba\"");
  EXPECT_EQ(one("LoadConstant 1 \"a\"\n Append 1 1\n Append 1 1"), "value \"aaaa\"");
  EXPECT_EQ(one("LoadConstant 1 \"a\"\n Move 2 1\n Append 1 2\n MakeList 1 1 2"), "value [\"aa\",\"a\"]");
  EXPECT_EQ(one("LoadConstant 2 \"n=\"\n LoadInteger 3 3\n LoadUnit 4\n LoadConstant 5 1.0\n Template 1 2 4"),
            "value \"n=31.0\"");
  EXPECT_EQ(one("LoadInteger 2 1\n LoadInteger 3 2\n MakeRecord 4 2 Point\n Render 1 4"),
            "value \"{\\\"x\\\":1,\\\"y\\\":2}\"");
  EXPECT_EQ(one("LoadConstant 2 \"s\"\n MakeVariant 2 Option<?> 1\n Render 1 2"), "value \"s\"");
}

TEST(Instructions, Lists) {
  const std::string list = "LoadInteger 2 1\n LoadInteger 3 2\n LoadInteger 4 3\n MakeList 5 2 3\n";
  EXPECT_EQ(one(list + "LoadInteger 6 1\n GetItem 1 5 6"), "value 2");
  EXPECT_EQ(one(list + "LoadInteger 6 3\n GetItem 1 5 6"),
            "failed Index: index 3 is outside of a list of 3 items (test.tn:7:1; )");
  EXPECT_EQ(one(list + "LoadInteger 6 -1\n GetItem 1 5 6"),
            "failed Index: index -1 is outside of a list of 3 items (test.tn:7:1; )");
  EXPECT_EQ(one(list + "Move 1 5\n LoadInteger 6 0\n SetItem 1 6 4\n MakeList 1 1 1\n Push 1 5"),
            "value [[3,2,3],[1,2,3]]");
  EXPECT_EQ(one(list + "LoadInteger 6 9\n SetItem 5 6 4"),
            "failed Index: index 9 is outside of a list of 3 items (test.tn:7:1; )");
  EXPECT_EQ(one(list + "LoadInteger 6 1\n TakeItem 1 5 6\n MakeList 1 1 1\n Push 1 5"), "value [2,[1,null,3]]");
  EXPECT_EQ(one(list + "Move 1 5\n Push 1 5"), "value [1,2,3,[1,2,3]]");
  EXPECT_EQ(one(list + "Pop 1 5\n MakeList 1 1 1\n Push 1 5"), "value [3,[1,2]]");
  EXPECT_EQ(one("MakeList 5 2 0\n Pop 1 5"), "value null");
  EXPECT_EQ(one(list + "LoadInteger 6 3\n InsertItem 5 6 2\n LoadInteger 6 0\n InsertItem 5 6 4\n Move 1 5"),
            "value [3,1,2,3,1]");
  EXPECT_EQ(one(list + "LoadInteger 6 4\n InsertItem 5 6 2"),
            "failed Index: index 4 is outside of a list of 3 items (test.tn:7:1; )");
  EXPECT_EQ(one(list + "LoadInteger 6 0\n RemoveItem 1 5 6\n MakeList 1 1 1\n Push 1 5"), "value [1,[2,3]]");
  EXPECT_EQ(one(list + "Length 1 5"), "value 3");
  EXPECT_EQ(one("LoadConstant 2 \"añb\"\n Length 1 2"), "value 3");
}

TEST(Instructions, AListPushedIntoItselfIsACopy) {
  EXPECT_EQ(one("LoadInteger 2 1\n MakeList 1 2 1\n Push 1 1\n Push 1 1"), "value [1,[1],[1,[1]]]");
}

TEST(Instructions, Maps) {
  const std::string map =
      "LoadConstant 2 \"a\"\n LoadInteger 3 1\n LoadConstant 4 \"b\"\n LoadInteger 5 2\n MakeMap 6 2 2\n";
  EXPECT_EQ(one(map + "Move 1 6"), "value {\"a\":1,\"b\":2}");
  EXPECT_EQ(one(map + "GetEntry 1 6 4"), "value 2");
  EXPECT_EQ(one(map + "LoadConstant 7 \"c\"\n GetEntry 1 6 7"),
            "failed Index: the map has no key \"c\" (test.tn:8:1; )");
  EXPECT_EQ(one(map + "Move 1 6\n SetEntry 1 2 5\n MakeList 1 1 1\n Push 1 6"),
            "value [{\"a\":2,\"b\":2},{\"a\":1,\"b\":2}]");
  EXPECT_EQ(one(map + "LoadConstant 7 \"c\"\n SetEntry 6 7 3\n Move 1 6"), "value {\"a\":1,\"b\":2,\"c\":1}");
  EXPECT_EQ(one(map + "TakeEntry 1 6 2\n MakeList 1 1 1\n Push 1 6"), "value [1,{\"a\":null,\"b\":2}]");
  EXPECT_EQ(one(map + "RemoveEntry 1 6 2\n MakeList 1 1 1\n Push 1 6\n RemoveEntry 7 6 2\n Push 1 7"),
            "value [1,{\"b\":2},null]");
  EXPECT_EQ(one(map + "Length 1 6"), "value 2");
  EXPECT_EQ(one("LoadConstant 2 \"a\"\n LoadInteger 3 1\n LoadConstant 4 \"a\"\n LoadInteger 5 2\n MakeMap 1 2 2"),
            "value {\"a\":2}");
}

TEST(Instructions, RecordsAndVariants) {
  const std::string point = "LoadInteger 2 1\n LoadInteger 3 2\n MakeRecord 4 2 Point\n";
  EXPECT_EQ(one(point + "GetField 1 4 1"), "value 2");
  EXPECT_EQ(one(point + "Move 1 4\n SetField 1 0 3\n MakeList 1 1 1\n Push 1 4"),
            "value [{\"x\":2,\"y\":2},{\"x\":1,\"y\":2}]");
  EXPECT_EQ(one(point + "TakeField 1 4 0\n MakeList 1 1 1\n Push 1 4"), "value [1,{\"x\":null,\"y\":2}]");
  EXPECT_EQ(one("LoadInteger 2 1\n LoadConstant 3 \"s\"\n MakeRecord 1 2 \"(i64, String)\""), "value [1,\"s\"]");
  EXPECT_EQ(one("LoadConstant 1 \"rain\"\n MakeVariant 1 Mood 1"), "value {\"Bad\":\"rain\"}");
  EXPECT_EQ(one("LoadInteger 1 1\n LoadInteger 2 2\n MakeVariant 1 Mood 2"), "value {\"Mixed\":[1,2]}");
  EXPECT_EQ(one("LoadInteger 2 1\n LoadInteger 3 2\n MakeVariant 2 Mood 2\n GetPayload 1 2 1"), "value 2");
  EXPECT_EQ(one("LoadCase 2 Mood 0\n GetCase 1 2"), "value 0");
  EXPECT_EQ(one("LoadInteger 2 1\n MakeVariant 2 Option<?> 1\n GetCase 1 2"), "value 1");
}

TEST(Instructions, Contexts) {
  EXPECT_EQ(one("LoadConstant 2 \"one\"\n Inject 0 2\n Move 3 0\n LoadInteger 2 2\n Inject 3 2\n CallBuiltin 4 "
                "ContextText 0\n"
                " CallBuiltin 5 ContextText 3\n MakeList 1 4 2"),
            "value [\"one\",\"one\\n2\"]");
  EXPECT_EQ(one("LoadConstant 2 \"one\"\n Inject 0 2\n NewContext 3\n CallBuiltin 4 ContextLength 0\n CallBuiltin 5 "
                "ContextLength 3\n MakeList 1 4 2"),
            "value [1,0]");
}

TEST(Instructions, CheckRequiresAllOfARefinement) {
  EXPECT_EQ(one("LoadInteger 1 100\n Check 1 Percent"), "value 100");
  EXPECT_EQ(one("LoadInteger 1 101\n Check 1 Percent"),
            "failed Conversion: 101 is not a valid `Percent` (test.tn:3:1; Percent)");
  EXPECT_EQ(one("LoadConstant 1 0.5\n Check 1 Share"), "value 0.5");
  EXPECT_EQ(one("LoadConstant 1 1.0\n Check 1 Share"),
            "failed Conversion: 1.0 is not a valid `Share` (test.tn:3:1; Share)");
  EXPECT_EQ(one("LoadConstant 1 \"abc\"\n Check 1 Code"), "value \"abc\"");
  EXPECT_EQ(one("LoadConstant 1 \"abC\"\n Check 1 Code"),
            "failed Conversion: \"abC\" is not a valid `Code` (test.tn:3:1; Code)");
  EXPECT_EQ(one("LoadConstant 1 \"abcde\"\n Check 1 Code"),
            "failed Conversion: \"abcde\" is not a valid `Code` (test.tn:3:1; Code)");
  EXPECT_EQ(one("LoadConstant 1 \"a\"\n Check 1 Code"),
            "failed Conversion: \"a\" is not a valid `Code` (test.tn:3:1; Code)");
  EXPECT_EQ(one("LoadConstant 1 \"tech\"\n Check 1 Team"), "value \"tech\"");
  EXPECT_EQ(one("LoadConstant 1 \"sales\"\n Check 1 Team"),
            "failed Conversion: \"sales\" is not a valid `Team` (test.tn:3:1; Team)");
  EXPECT_EQ(one("LoadInteger 1 4\n Check 1 Small"), "failed Conversion: 4 is not a valid `Small` (test.tn:3:1; Small)");
}

TEST(Instructions, AssertAndFail) {
  EXPECT_EQ(one("LoadBoolean 1 1\n Assert 1 \"x == 1\""), "value true");
  EXPECT_EQ(one("LoadBoolean 1 0\n Assert 1 \"x == 1\""), "failed Raised: `x == 1` does not hold (test.tn:3:1; )");
  EXPECT_EQ(one("LoadConstant 1 \"no\"\n Fail 1"), "failed Raised: no (test.tn:3:1; )");
}

TEST(Instructions, BreakRequiresNamesTheCaller) {
  EXPECT_EQ(one("LoadConstant 1 \"violates\"\n LoadConstant 2 \"b\"\n BreakRequires 1 2"),
            "failed ContractBroken: a call violates (test.tn:4:1; b)");
  EXPECT_EQ(result_of("Call 1 callee\n Return 1\n"
                      "fn callee registers=2 result=()\n LoadConstant 0 \"violates\"\n"
                      "LoadConstant 1 \"b\"\n BreakRequires 0 1\n ReturnUnit\n"),
            "failed ContractBroken: `main` violates (test.tn:2:1; b)");
}

TEST(Instructions, DescribeShowsALineOfJson) {
  EXPECT_EQ(one("LoadConstant 2 \"a\"\n MakeList 2 2 1\n Describe 1 2"), R"(value "[\"a\"]")");
  EXPECT_EQ(one("LoadInteger 2 1\n LoadConstant 3 \"x\"\n DescribeSides 1 2 3"),
            R"(value "  left:  1\n  right: \"x\"")");
}

TEST(Instructions, LongDescriptionsAreCut) {
  const std::string start(1000, 'a');
  EXPECT_EQ(describe_value(Value::string(start), {}).text, "\"" + start.substr(0, described_bytes_max - 1) + "…");
  const std::string sides = describe_sides(Value::string(start + "b"), Value::string(start + "cc"), {}).text;
  EXPECT_EQ(sides, "  left:  …" + start.substr(0, 60) + "b\"\n  right: …" + start.substr(0, 60) + "cc\"");
}

TEST(Instructions, DescriptionsDoNotSplitCodePoints) {
  std::string text;
  for (int at = 0; at < 400; ++at) text += "ü";
  const std::string shown = describe_value(Value::string(text), {}).text;
  EXPECT_EQ(find_invalid_utf8(shown), std::string_view::npos);
  const std::string sides = describe_sides(Value::string(text + "a"), Value::string(text + "b"), {}).text;
  EXPECT_EQ(find_invalid_utf8(sides), std::string_view::npos);
}

TEST(Instructions, WrongTagsDamageTheRunAndNothingElse) {
  for (const char* body : {"LoadInteger 2 7\n Concatenate 1 2 2",
                           "LoadInteger 2 7\n Append 2 2",
                           "LoadInteger 2 7\n GetField 1 2 0",
                           "LoadInteger 2 7\n GetItem 1 2 2",
                           "LoadInteger 2 7\n SetItem 2 2 2",
                           "LoadInteger 2 7\n GetEntry 1 2 2",
                           "LoadInteger 2 7\n GetCase 1 2",
                           "LoadInteger 2 7\n GetPayload 1 2 0",
                           "LoadInteger 2 7\n Push 2 2",
                           "LoadInteger 2 7\n Length 1 2",
                           "LoadInteger 2 7\n Inject 2 2",
                           "LoadInteger 2 7\n Raise 2",
                           "LoadInteger 2 7\n Fail 2",
                           "LoadInteger 2 7\n BreakRequires 2 2",
                           "LoadInteger 2 7\n MakeMap 1 2 1",
                           "LoadInteger 2 7\n LessString 1 2 2",
                           "LoadInteger 2 7\n ForList 2 @x\n@x",
                           "LoadInteger 2 7\n ForMap 2 @x\n@x",
                           "LoadInteger 2 7\n CallBuiltin 1 StringTrim 2",
                           "LoadInteger 2 7\n Pop 1 2",
                           "LoadInteger 2 7\n CallBuiltin 1 ListSort 2",
                           "LoadInteger 2 7\n CallBuiltin 1 OptionUnwrap 2",
                           "Unreachable",
                           "LeaveBudget",
                           "EndBranch 0",
                           "LoadInteger 2 7\n MakeList 1 2 1\n GetField 1 1 0"}) {
    EXPECT_TRUE(one(body).starts_with("damaged: ")) << body << ": " << one(body);
  }
  // Numbers of texts are some numbers.
  EXPECT_TRUE(one("LoadConstant 2 \"a\"\n LessInteger 1 2 2").starts_with("value "));
}

}  // namespace
}  // namespace tenon::vm
