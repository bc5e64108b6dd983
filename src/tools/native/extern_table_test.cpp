#include "tools/native/extern_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tests/externs/declared_program.h"
#include "tools/native/result_slots.h"
#include "vm/values/labels.h"
#include "vm/values/object.h"

namespace tenon::tools {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using types::TypeId;
using types::TypeTable;
using vm::Value;

Value text(std::string bytes) {
  return Value::string(std::move(bytes));
}

NativeLibraries open(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(test_library(name));
  auto libraries = NativeLibraries::open(paths);
  EXPECT_TRUE(libraries.has_value());
  return libraries ? *libraries : NativeLibraries();
}

/// A program with one extern, bound and called.
class OneExtern {
 public:
  DeclaredProgram declared;

  explicit OneExtern(std::string library) : libraries_(open({std::move(library)})) {}

  TypeTable& types() { return declared.program->types; }

  ExternOutcome call(const std::string& name, std::vector<TypeId> parameters, TypeId result,
                     std::vector<Value> arguments, const std::string& key = "") {
    const std::uint32_t index = declared.declare(name, std::move(parameters), result);
    auto table = ExternTable::bind(declared.program, libraries_);
    if (!table) {
      ADD_FAILURE() << name << ": " << table.error().front().message;
      return failure(ExternError{});
    }
    return (*table)->call(index, arguments, {.key = key, .is_cancelled = nullptr});
  }

  /// The failure's message.
  std::string fail(const std::string& name, std::vector<TypeId> parameters, TypeId result,
                   std::vector<Value> arguments) {
    const auto outcome = call(name, std::move(parameters), result, std::move(arguments));
    EXPECT_FALSE(outcome.has_value()) << name;
    return outcome ? "" : outcome.error().message;
  }

 private:
  NativeLibraries libraries_;
};

std::vector<ExternProblem> problems_of(const DeclaredProgram& declared, const std::vector<std::string>& libraries) {
  auto table = ExternTable::bind(declared.program, open(libraries));
  EXPECT_FALSE(table.has_value());
  return table ? std::vector<ExternProblem>() : table.error();
}

TEST(PlainSymbols, CarryNumbersAndBooleans) {
  OneExtern c("extern_plain");
  const auto i32 = TypeTable::i32, i64 = TypeTable::i64, f64 = TypeTable::f64, boolean = TypeTable::boolean;
  EXPECT_EQ(c.call("add", {i32, i32}, i32, {Value::integer(40), Value::integer(2)})->as_integer(), 42);
  EXPECT_EQ(c.call("add", {i32, i32}, i32, {Value::integer(-40), Value::integer(-2)})->as_integer(), -42);
  EXPECT_EQ(c.call("add", {i32, i32}, i32, {Value::integer(INT32_MIN), Value::integer(0)})->as_integer(), INT32_MIN);
  EXPECT_EQ(c.call("add_wide", {i64, i64}, i64, {Value::integer(INT64_MAX), Value::integer(-1)})->as_integer(),
            INT64_MAX - 1);
  EXPECT_EQ(c.call("half", {f64}, f64, {Value::floating(-5)})->as_float(), -2.5);
  EXPECT_TRUE(std::isnan(c.call("half", {f64}, f64, {Value::floating(std::nan(""))})->as_float()));
  EXPECT_TRUE(c.call("negate", {boolean}, boolean, {Value::boolean(false)})->as_boolean());
  EXPECT_FALSE(c.call("negate", {boolean}, boolean, {Value::boolean(true)})->as_boolean());
  EXPECT_TRUE(c.call("is_long", {TypeTable::string}, boolean, {text("longer")})->as_boolean());
  EXPECT_FALSE(c.call("is_long", {TypeTable::string}, boolean, {text("sho")})->as_boolean());
  EXPECT_EQ(c.call("sum_of_ten", {i64, i32, f64, boolean, i64, i64, i64, f64, i64, TypeTable::string}, i64,
                   {Value::integer(1), Value::integer(2), Value::floating(3), Value::boolean(true), Value::integer(5),
                    Value::integer(6), Value::integer(7), Value::floating(8), Value::integer(9), text("ten")})
                ->as_integer(),
            45);
}

TEST(PlainSymbols, UnitIsVoid) {
  OneExtern c("extern_plain");
  const auto before = c.call("calls", {}, TypeTable::i64, {})->as_integer();
  EXPECT_EQ(c.call("count_call", {}, TypeTable::unit, {})->tag(), vm::Tag::Unit);
  EXPECT_EQ(c.call("calls", {}, TypeTable::i64, {})->as_integer(), before + 1);
}

TEST(PlainSymbols, CarryTexts) {
  OneExtern c("extern_plain");
  const auto string = TypeTable::string;
  EXPECT_EQ(c.call("byte_length", {string}, TypeTable::i64, {text("")})->as_integer(), 0);
  EXPECT_EQ(c.call("byte_length", {string}, TypeTable::i64, {text("Grüße, 世界")})->as_integer(), 15);
  EXPECT_EQ(c.call("byte_length", {string}, TypeTable::i64, {text(std::string(5'000'000, 'x'))})->as_integer(),
            5'000'000);
  EXPECT_EQ(c.call("greeting", {}, string, {})->as_text(), "Grüße, 世界");
  EXPECT_EQ(c.call("empty", {}, string, {})->as_text(), "");
  EXPECT_EQ(c.call("same", {c.types().text("Analysis")}, c.types().text("Analysis"), {text("a\nb")})->as_text(),
            "a\nb");
  EXPECT_EQ(c.call("same", {c.declared.team}, c.declared.team, {text("tech")})->as_text(), "tech");
  EXPECT_EQ(
      c.call("add_wide", {c.declared.level, c.declared.level}, TypeTable::i64, {Value::integer(1), Value::integer(2)})
          ->as_integer(),
      3);
}

TEST(PlainSymbols, GiveTextsBackToTheirLibrary) {
  OneExtern c("extern_plain");
  const auto count = [&](const std::string& name) { return c.call(name, {}, TypeTable::i64, {})->as_integer(); };
  const auto by_name = count("count_freed_by_name"), by_library = count("count_freed_by_library");
  EXPECT_EQ(c.call("twice", {TypeTable::string}, TypeTable::string, {text("ab")})->as_text(), "abab");
  EXPECT_EQ(count("count_freed_by_name"), by_name + 1);
  EXPECT_EQ(count("count_freed_by_library"), by_library);
  EXPECT_EQ(c.call("same", {TypeTable::string}, TypeTable::string, {text("ab")})->as_text(), "ab");
  EXPECT_EQ(count("count_freed_by_name"), by_name + 1);
  EXPECT_EQ(count("count_freed_by_library"), by_library + 1);
}

TEST(PlainSymbols, FailOnTextsThatAreNone) {
  OneExtern c("extern_plain");
  const auto string = TypeTable::string;
  EXPECT_EQ(c.fail("byte_length", {string}, TypeTable::i64, {text(std::string("ab\0c", 4))}),
            "argument 1 has a NUL at byte 2, which would end a C string");
  EXPECT_EQ(c.fail("nothing", {}, string, {}), "it returned NULL, but a text is declared");
  EXPECT_EQ(c.fail("not_utf8", {}, string, {}), "it returned a text that is not UTF-8 at byte 2");
  const auto outcome = c.call("nothing", {}, string, {});
  EXPECT_EQ(outcome.error().kind, types::FailureKind::ToolFailed);
  EXPECT_EQ(outcome.error().blame, "extern `nothing` of " + test_library("extern_plain"));
}

TEST(PlainSymbols, KeepNarrowerPromises) {
  OneExtern c("extern_plain");
  EXPECT_EQ(c.fail("give_150", {}, c.declared.percent, {}), "the result: `150` is not a value of `Percent`");
  EXPECT_EQ(c.fail("give_4", {}, c.declared.level, {}), "the result: `4` is not a value of `1 | 2 | 3`");
  EXPECT_EQ(c.fail("give_legal", {}, c.declared.team, {}), "the result: `\"legal\"` is not a value of `Team`");
  EXPECT_EQ(c.fail("greeting", {}, c.declared.code, {}), "the result: `\"Grüße, 世界\"` is not a value of `Code`");
  EXPECT_EQ(c.fail("half", {TypeTable::f64}, c.declared.share, {Value::floating(2)}),
            "the result: `1` is not a value of `Share`");
  EXPECT_EQ(c.fail("half", {TypeTable::f64}, c.declared.share, {Value::floating(std::nan(""))}),
            "the result: `nan` is not a value of `Share`");
  EXPECT_EQ(c.call("half", {TypeTable::f64}, c.declared.share, {Value::floating(1)})->as_float(), 0.5);
}

TEST(PlainSymbols, TheirExceptionsAreFailures) {
  OneExtern c("extern_cpp");
  EXPECT_EQ(c.fail("throws_through_libffi", {}, TypeTable::i32, {}), "thrown through libffi");
}

TEST(Binding, NamesWhatAMissingFunctionShouldBe) {
  DeclaredProgram declared;
  declared.declare("ad", {TypeTable::i32, TypeTable::string}, TypeTable::boolean);
  const auto problems = problems_of(declared, {"extern_plain", "extern_other_plain"});
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].message, "unresolved extern `ad`: no library exports it");
  EXPECT_EQ(problems[0].code.text(), "E4003");
  EXPECT_EQ(problems[0].place, (bytecode::Place{0, 1, 1}));
  EXPECT_EQ(problems[0].subject, 0U);
  EXPECT_THAT(problems[0].hints,
              ElementsAre("searched: " + test_library("extern_plain") + ", " + test_library("extern_other_plain"),
                          "did you mean `add`?", "a library must define: bool ad(int32_t p0, const char* p1);"));
}

TEST(Binding, ReportsEveryProblem) {
  DeclaredProgram declared;
  declared.declare("missing_one", {}, TypeTable::unit);
  declared.declare("add", {TypeTable::i32, TypeTable::i32}, TypeTable::i32);
  declared.declare("missing_two", {declared.order}, TypeTable::unit);
  const auto problems = problems_of(declared, {"extern_plain"});
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_THAT(problems[0].hints, Contains("a library must define: void missing_one(void);"));
  EXPECT_EQ(problems[1].place->line, 3U);
  EXPECT_THAT(problems[1].hints, Contains("a library must define: TENON_EXTERN(missing_two) { … }  // tenon/extern.h"));
}

TEST(Binding, ReportsAMissingLibrary) {
  DeclaredProgram declared;
  declared.declare("add", {TypeTable::i32, TypeTable::i32}, TypeTable::i32);
  const auto problems = problems_of(declared, {});
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].message, "unresolved extern `add`: no library was given");
  EXPECT_THAT(problems[0].hints, Contains("the library must define: int32_t add(int32_t p0, int32_t p1);"));
  EXPECT_TRUE(ExternTable::bind(DeclaredProgram().program, NativeLibraries()).has_value());
}

TEST(Binding, DoesNotReachIntoTheLibraryOfC) {
  DeclaredProgram declared;
  declared.declare("strlen", {TypeTable::string}, TypeTable::i64);  // extern_plain depends on it and does not define it
  EXPECT_EQ(problems_of(declared, {"extern_plain"}).front().message,
            "unresolved extern `strlen`: no library exports it");
}

TEST(Binding, RefusesAFunctionThatTwoLibrariesExport) {
  DeclaredProgram declared;
  declared.declare("add", {TypeTable::i32, TypeTable::i32}, TypeTable::i32);
  EXPECT_EQ(problems_of(declared, {"extern_plain", "extern_other_plain"}).front().message,
            "ambiguous extern `add`: 2 libraries export it: " + test_library("extern_plain") + ", " +
                test_library("extern_other_plain"));
  // Of two libraries, each with what the other has not.
  DeclaredProgram apart;
  const auto here = apart.declare("only_here", {}, TypeTable::i32);
  const auto there = apart.declare("half", {TypeTable::f64}, TypeTable::f64);
  const auto table = ExternTable::bind(apart.program, open({"extern_plain", "extern_other_plain"}));
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ((*table)->library(here), test_library("extern_other_plain"));
  EXPECT_EQ((*table)->call(here, {}, {})->as_integer(), 7);
  EXPECT_EQ((*table)->call(there, std::vector{Value::floating(3)}, {})->as_float(), 1.5);
}

TEST(Binding, RejectsTypesThatPlainCCannotPass) {
  DeclaredProgram declared;
  TypeTable& types = declared.program->types;
  declared.declare("add", {types.list(declared.order)}, TypeTable::i32);
  declared.declare("half", {TypeTable::f64}, types.option(TypeTable::f64));
  declared.declare("total", {TypeTable::context}, TypeTable::f64);
  const auto problems = problems_of(declared, {"extern_plain"});
  ASSERT_GE(problems.size(), 3U);
  EXPECT_EQ(problems[0].code.text(), "E4005");
  EXPECT_EQ(problems[0].message, "`add` takes `List<Order>`, which plain C does not support");
  EXPECT_THAT(problems[0].hints, ElementsAre(test_library("extern_plain") + " exports it as a plain symbol",
                                             "write it with tenon/extern.h: TENON_EXTERN(add) { … }"));
  EXPECT_THAT(problems[1].message, HasSubstr("returns `Option<f64>`"));
  EXPECT_EQ(problems[2].message, "`total` takes `Context`, which an extern does not support");
}

TEST(Binding, FindsWhatNoExternCanCarryInsideOfOtherTypes) {
  DeclaredProgram declared;
  TypeTable& types = declared.program->types;
  const types::TypeId pair = types.tuple({TypeTable::i32, types.option(TypeTable::context)});
  declared.declare("deep", {types.list(pair)}, TypeTable::unit);
  declared.declare("result", {}, types.result(types.map(TypeTable::context)));
  const auto problems = problems_of(declared, {"extern_plain"});
  ASSERT_GE(problems.size(), 2U);
  EXPECT_EQ(problems[0].message, "`deep` takes `Context`, which an extern does not support");
  const auto of_result = std::ranges::find_if(problems, [](const ExternProblem& problem) {
    return problem.message == "`result` returns `Context`, which an extern does not support";
  });
  EXPECT_NE(of_result, problems.end());
}

TEST(Binding, DistinguishesDataFromFunctionsAndCppNames) {
  DeclaredProgram declared;
  declared.declare("table_of_numbers", {}, TypeTable::i32);
  EXPECT_THAT(problems_of(declared, {"extern_plain"}).front().message, HasSubstr("is data in"));
  DeclaredProgram cpp;
  cpp.declare("mangled_name", {TypeTable::i32}, TypeTable::i32);
  EXPECT_THAT(problems_of(cpp, {"extern_cpp"}).front().hints,
              Contains(test_library("extern_cpp") +
                       " exports the C++ function `_Z12mangled_namei`; declare it `extern \"C\"`"));
}

TEST(Binding, ComparesSignatures) {
  DeclaredProgram declared;
  TypeTable& types = declared.program->types;
  declared.declare("other_signature", {TypeTable::string}, TypeTable::string);
  declared.declare("total", {types.list(declared.order), TypeTable::i32}, TypeTable::f64);
  declared.declare("no_signature", {}, TypeTable::string);
  const auto problems = problems_of(declared, {"extern_structured"});
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_THAT(problems[0].message, HasSubstr("does not match its declaration: argument 1 is declared `String`"));
  EXPECT_THAT(problems[0].hints, ElementsAre("the library has `other_signature(i64) -> String`",
                                             "the program declares `other_signature(p0: String) -> String`"));
  EXPECT_THAT(problems[1].message, HasSubstr("it takes 1 argument, and the declaration has 2"));
  EXPECT_THAT(problems[2].message, HasSubstr("its signature `i64 to String` cannot be parsed"));

  DeclaredProgram wrong_result;
  wrong_result.declare("other_signature", {TypeTable::i64}, TypeTable::i64);
  EXPECT_THAT(problems_of(wrong_result, {"extern_structured"}).front().message,
              HasSubstr("its result is declared `i64`"));

  DeclaredProgram rich;
  TypeTable& all = rich.program->types;
  rich.declare("rich_signature",
               {all.option(rich.order), all.map(all.tuple({TypeTable::i32, TypeTable::boolean})), rich.mood,
                all.list(rich.team), rich.percent, rich.level},
               all.result(all.text("Analysis")));
  EXPECT_TRUE(ExternTable::bind(rich.program, open({"extern_structured"})).has_value());
}

TEST(Binding, RefusesEntriesOfAnotherVersion) {
  DeclaredProgram declared;
  declared.declare("from_the_future", {}, TypeTable::unit);
  declared.declare("no_entry", {}, TypeTable::unit);
  const auto problems = problems_of(declared, {"extern_structured"});
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_THAT(problems[0].message,
              HasSubstr("was built for version 2 of tenon/extern.h, but this Tenon supports version 1"));
  EXPECT_THAT(problems[1].message, HasSubstr("was not defined with TENON_EXTERN"));
}

class Header : public testing::Test {
 protected:
  Value order(std::int64_t id, double price, std::vector<std::string> tags = {}, const char* note = nullptr) {
    std::vector<Value> items;
    for (std::string& tag : tags) items.push_back(text(std::move(tag)));
    return Value::record(c.declared.order, {Value::integer(id), Value::floating(price), Value::list(std::move(items)),
                                            note == nullptr ? Value::none() : Value::some(text(note))});
  }
  TypeTable& types() { return c.types(); }

  OneExtern c{"extern_structured"};
};

TEST_F(Header, ReadsStructsAndLists) {
  const auto total = c.call("total", {types().list(c.declared.order)}, TypeTable::f64,
                            {Value::list({order(1, 2.5), order(2, 4), order(3, -1)})});
  ASSERT_TRUE(total.has_value()) << total.error().message;
  EXPECT_EQ(total->as_float(), 5.5);
}

TEST_F(Header, WritesStructsAndLists) {
  const auto orders = c.call("make_orders", {TypeTable::i32}, types().list(c.declared.order), {Value::integer(3)});
  ASSERT_TRUE(orders.has_value()) << orders.error().message;
  const Value expected = Value::list({order(0, 0), order(1, 0.5, {"später"}), order(2, 1, {"später"}, "two")});
  EXPECT_TRUE(vm::equal(*orders, expected));
  const auto none = c.call("make_orders", {TypeTable::i32}, types().list(c.declared.order), {Value::integer(0)});
  EXPECT_EQ(none->items().size(), 0U);
}

TEST_F(Header, ValuesRoundTrip) {
  TypeTable& t = types();
  const TypeId pair = t.tuple({TypeTable::i32, TypeTable::string});
  const std::vector<std::pair<TypeId, Value>> samples = {
      {TypeTable::unit, Value::unit()},
      {TypeTable::boolean, Value::boolean(true)},
      {TypeTable::i32, Value::integer(INT32_MIN)},
      {TypeTable::i64, Value::integer(INT64_MIN)},
      {TypeTable::f64, Value::floating(-0.25)},
      {TypeTable::string, text("")},
      {TypeTable::string, text(std::string("a\0b", 3))},
      {TypeTable::string, text("Grüße, 世界 🌍")},
      {TypeTable::string, text(std::string(3'000'000, 'y'))},
      {t.text("Analysis"), text("prose")},
      {c.declared.team, text("billing")},
      {c.declared.level, Value::integer(3)},
      {c.declared.percent, Value::integer(100)},
      {c.declared.code, text("AB")},
      {t.list(TypeTable::i64), Value::list({})},
      {t.list(t.list(TypeTable::string)), Value::list({Value::list({text("a")}), Value::list({})})},
      {t.map(TypeTable::i64), Value::map({})},
      {t.map(TypeTable::i64),
       Value::map({{text("z"), Value::integer(1)}, {text(""), Value::integer(2)}, {text("ä"), Value::integer(3)}})},
      {pair, Value::record(pair, {Value::integer(1), text("one")})},
      {t.option(TypeTable::i32), Value::none()},
      {t.option(TypeTable::i32), Value::some(Value::integer(5))},
      {t.option(t.option(TypeTable::i32)), Value::some(Value::none())},
      {c.declared.mood, Value::plain_case(c.declared.mood, 0)},
      {c.declared.mood, Value::variant(c.declared.mood, 1, {text("rain")})},
      {c.declared.mood, Value::variant(c.declared.mood, 2, {Value::integer(7), text("both")})},
      {c.declared.order, order(1, 2, {"x", "y"}, "note")},
      {t.list(c.declared.order), Value::list({order(1, 2), order(3, 4)})},
      {t.result(TypeTable::i32), Value::ok(Value::integer(1))},
      {t.result(TypeTable::i32), Value::err(Value::failure(types::FailureKind::Index, "m", "p", "b"))},
  };
  for (const char* name : {"echo", "copy"}) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto& [type, value] = samples[i];
      const auto outcome = c.call(name, {type}, type, {value});
      ASSERT_TRUE(outcome.has_value()) << name << " " << i << ": " << outcome.error().message;
      EXPECT_TRUE(vm::equal(*outcome, value)) << name << " " << i;
    }
  }
}

TEST_F(Header, ReadsAMapWithHoles) {
  Value map = Value::map({});
  vm::MapObject& object = vm::own_map(map);
  for (int i = 0; i < 12; ++i) object.set(text("k" + std::to_string(i)), Value::integer(i));
  object.remove(object.find("k0"));
  object.remove(object.find("k7"));
  const TypeId type = types().map(TypeTable::i64);
  for (const char* name : {"echo", "copy"}) EXPECT_TRUE(vm::equal(*c.call(name, {type}, type, {map}), map));
}

TEST_F(Header, CopiesCarryNoLabels) {
  vm::LabelTable labels;
  Value labelled = text("from a person");
  vm::add_label(labelled, labels.intern({vm::SourceKind::Person, ""}), labels);
  const auto outcome = c.call("copy", {TypeTable::string}, TypeTable::string, {labelled});
  EXPECT_EQ(outcome->label(), vm::LabelTable::program_text);
}

TEST_F(Header, FailsWithTheFirstMessage) {
  EXPECT_EQ(c.fail("refuse", {TypeTable::string}, TypeTable::unit, {text("no stock")}), "refused: no stock (42)");
  const std::string lengthy =
      c.fail("refuse", {TypeTable::string}, TypeTable::unit, {text(std::string(1015, 'a') + "äöü")});
  EXPECT_TRUE(Value::try_string(lengthy).has_value());  // cut in the middle of a character
}

TEST_F(Header, ReturnsResults) {
  const TypeId type = types().result(TypeTable::i64);
  EXPECT_TRUE(
      vm::equal(*c.call("checked", {TypeTable::boolean}, type, {Value::boolean(true)}), Value::ok(Value::integer(5))));
  const auto err = c.call("checked", {TypeTable::boolean}, type, {Value::boolean(false)});
  ASSERT_TRUE(err.has_value());
  ASSERT_EQ(err->case_index(), 1U);
  EXPECT_EQ(err->fields()[0].fields()[1].as_text(), std::string("not\0today", 9));
  EXPECT_EQ(err->fields()[0].fields()[3].as_text(), "extern `checked` of " + test_library("extern_structured"));
}

TEST_F(Header, HandsOverTheEffectKey) {
  EXPECT_EQ(c.call("effect_key", {}, TypeTable::string, {}, "run7/3.1.0")->as_text(), "run7/3.1.0");
  EXPECT_EQ(c.call("effect_key", {}, TypeTable::string, {})->as_text(), "");
}

TEST_F(Header, EveryMisuseIsAFailure) {
  const std::string messages[] = {
      "a struct or tuple is read as an integer",
      "`Order` has no field `prise`; did you mean `price`?",
      "item 9 does not exist in a struct or tuple of length 4",
      "argument 2 does not exist: the call has 2",
      "a text is stored in the result, which is declared `Order`",
      "the result: `Order` has no field `pryce`; did you mean `price`?",
      "nothing was stored in `.price` of the result, which is declared `f64`",
      "`.tags[0]` of the result: the text is not UTF-8 at byte 0",
      "`.tags[0]` of the result: the text is NULL",
      "an item is stored in the result, which is declared `Order`",
      "`2` is read as an Option",
      "position 0 is stored in the result, which is declared `Order`",
      "nothing was stored in the result, which is declared `Order`",
      "a struct or tuple is read as a map",
      "a struct or tuple is read as an enum",
      "the result: `2` is copied to where `Order` is declared",
      "nothing was stored in the result, which is declared `Order`",
  };
  for (std::size_t i = 0; i < std::size(messages); ++i) {
    EXPECT_EQ(c.fail("blunder", {TypeTable::i32, c.declared.order}, c.declared.order,
                     {Value::integer(static_cast<std::int64_t>(i)), order(1, 2)}),
              messages[i])
        << i;
  }
}

TEST_F(Header, ReturnsNothingTooWideOrOutside) {
  const auto i64 = TypeTable::i64;
  EXPECT_EQ(c.fail("put_integer", {i64}, TypeTable::i32, {Value::integer(INT64_C(1) << 40)}),
            "the result: `1099511627776` is out of range for `i32`");
  EXPECT_EQ(c.call("put_integer", {i64}, TypeTable::i32, {Value::integer(INT32_MAX)})->as_integer(), INT32_MAX);
  EXPECT_EQ(c.fail("narrow", {i64}, i64, {Value::integer(INT64_C(1) << 31)}),
            "`2147483648` is read as an i32, but is out of range");
  EXPECT_EQ(c.fail("put_integer", {i64}, c.declared.percent, {Value::integer(101)}),
            "the result: `101` is not a value of `Percent`");
  EXPECT_EQ(c.fail("put_integer", {i64}, c.declared.level, {Value::integer(0)}),
            "the result: `0` is not a value of `1 | 2 | 3`");
  EXPECT_EQ(c.fail("put_integer", {i64}, TypeTable::f64, {Value::integer(1)}),
            "an integer is stored in the result, which is declared `f64`");
  EXPECT_EQ(c.fail("put_words", {}, c.declared.team, {}), "the result: `\"words\"` is not a value of `Team`");
  EXPECT_EQ(c.fail("put_words", {}, c.declared.code, {}), "the result: `\"words\"` is not a value of `Code`");
  EXPECT_EQ(c.fail("put_words", {}, TypeTable::unit, {}), "a text is stored in the result, which is declared `()`");
  EXPECT_EQ(c.fail("put_case_of", {TypeTable::string}, c.declared.mood, {text("Bat")}),
            "the result: `Mood` has no case `Bat`; did you mean `Bad`?");
  EXPECT_EQ(c.fail("put_case_of", {TypeTable::string}, c.declared.mood, {text("Bad")}),
            "nothing was stored in `.Bad(0)` of the result, which is declared `String`");
  EXPECT_EQ(c.call("put_case_of", {TypeTable::string}, c.declared.mood, {text("Good")})->case_index(), 0U);
}

TEST_F(Header, TakesWholeListsOfNumbers) {
  const auto integers = c.call("numbers", {}, types().list(TypeTable::i64), {});
  EXPECT_TRUE(vm::equal(*integers, Value::list({Value::integer(3), Value::integer(-1), Value::integer(INT64_MAX)})));
  const auto floats = c.call("floats", {}, types().list(TypeTable::f64), {});
  EXPECT_TRUE(vm::equal(*floats, Value::list({Value::floating(0.5), Value::floating(-2)})));
  EXPECT_EQ(c.fail("numbers", {}, types().list(TypeTable::i32), {}),
            "the result: item 2: `9223372036854775807` is out of range for `i32`");
  EXPECT_EQ(c.fail("numbers", {}, types().list(c.declared.percent), {}),
            "the result: item 1: `-1` is not a value of `Percent`");
  EXPECT_EQ(c.fail("numbers", {}, types().list(TypeTable::f64), {}),
            "a list of integers is stored in the result, which is declared `List<f64>`");
  EXPECT_EQ(c.fail("floats", {}, types().list(c.declared.share), {}),
            "the result: item 1: `-2` is not a value of `Share`");
  EXPECT_EQ(c.fail("numbers", {}, c.declared.few, {}), "the result: a list of 3 is not a value of `Few`");
}

TEST_F(Header, LaterWritesReplaceEarlierOnes) {
  const TypeId map = types().map(TypeTable::i64);
  EXPECT_TRUE(vm::equal(*c.call("overwrite", {}, map, {}),
                        Value::map({{text("a"), Value::integer(3)}, {text("b"), Value::integer(2)}})));
  EXPECT_THAT(c.fail("stale_slot", {}, map, {}), HasSubstr("a text is stored in"));
}

TEST_F(Header, BoundsNesting) {
  const auto nest = [&](std::int64_t depth) {
    return c.call("nest", {TypeTable::i32}, c.declared.tree, {Value::integer(depth)});
  };
  EXPECT_TRUE(nest(10).has_value());
  EXPECT_TRUE(nest(extern_depth_max / 2 - 1).has_value());
  EXPECT_EQ(nest(1'000'000).error().message, "the result is nested more than 1000 levels deep");
  Value deep = Value::record(c.declared.tree, {Value::list({})});
  for (int i = 0; i < 100'000; ++i) deep = Value::record(c.declared.tree, {Value::list({std::move(deep)})});
  EXPECT_EQ(c.fail("copy", {c.declared.tree}, c.declared.tree, {deep}),
            "the result is nested more than 1000 levels deep");
}

TEST_F(Header, ItsExceptionsAreFailures) {
  OneExtern cpp("extern_cpp");
  EXPECT_EQ(cpp.fail("throws_through_c", {}, TypeTable::unit, {}), "thrown through the C interface");
}

TEST(CppLayer, ConvertsBothWays) {
  OneExtern c("extern_cpp");
  TypeTable& t = c.types();
  const auto order = [&](double price, std::vector<Value> tags, Value note) {
    return Value::record(c.declared.order,
                         {Value::integer(1), Value::floating(price), Value::list(std::move(tags)), std::move(note)});
  };
  const TypeId orders = t.list(c.declared.order);
  const auto raised = c.call(
      "raise", {orders, TypeTable::f64}, orders,
      {Value::list({order(2, {text("a")}, Value::some(text("n"))), order(3, {}, Value::none())}), Value::floating(2)});
  ASSERT_TRUE(raised.has_value()) << raised.error().message;
  EXPECT_TRUE(vm::equal(*raised, Value::list({order(4, {text("a"), text("raised")}, Value::some(text("n"))),
                                              order(6, {text("raised")}, Value::some(text("none before")))})));
  EXPECT_EQ(
      c.call("opposite", {c.declared.plain_mood}, c.declared.plain_mood, {Value::plain_case(c.declared.plain_mood, 0)})
          ->case_index(),
      1U);
  EXPECT_EQ(c.call("other_team", {c.declared.team}, c.declared.team, {text("tech")})->as_text(), "billing");
  EXPECT_TRUE(vm::equal(*c.call("count_words", {t.list(TypeTable::string)}, t.map(TypeTable::i64),
                                {Value::list({text("b"), text("a"), text("b")})}),
                        Value::map({{text("a"), Value::integer(1)}, {text("b"), Value::integer(2)}})));
  const TypeId pair = t.tuple({TypeTable::boolean, TypeTable::i32}),
               swapped = t.tuple({TypeTable::i32, TypeTable::boolean});
  EXPECT_TRUE(
      vm::equal(*c.call("swap_pair", {pair}, swapped, {Value::record(pair, {Value::boolean(true), Value::integer(4)})}),
                Value::record(swapped, {Value::integer(4), Value::boolean(true)})));
  EXPECT_EQ(c.call("nothing_at_all", {TypeTable::string}, TypeTable::unit, {text("")})->tag(), vm::Tag::Unit);
  EXPECT_EQ(c.call("with_key", {TypeTable::string}, TypeTable::string, {text("t")}, "k1")->as_text(), "t@k1");
  EXPECT_TRUE(vm::equal(
      *c.call("scale_all", {t.list(TypeTable::f64)}, t.list(TypeTable::f64), {Value::list({Value::floating(1.5)})}),
      Value::list({Value::floating(3)})));
  EXPECT_EQ(c.fail("throw_out", {TypeTable::i64}, TypeTable::i64, {Value::integer(1)}), "no number will do");
}

TEST(CppLayer, MakesSignaturesFromTypes) {
  DeclaredProgram declared;
  TypeTable& t = declared.program->types;
  declared.declare("raise", {t.list(declared.tree), TypeTable::f64}, t.list(declared.order));
  declared.declare("swap_pair", {t.tuple({TypeTable::boolean, TypeTable::i32})}, TypeTable::unit);
  const auto problems = problems_of(declared, {"extern_cpp"});
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_THAT(problems[0].message, HasSubstr("argument 1 is declared `List<Tree>`"));
  EXPECT_THAT(problems[0].hints, Contains("the library has `raise(List<Order>, f64) -> List<Order>`"));
  EXPECT_THAT(problems[1].hints, Contains("the library has `swap_pair((Boolean, i32)) -> (i32, Boolean)`"));
}

}  // namespace
}  // namespace tenon::tools
