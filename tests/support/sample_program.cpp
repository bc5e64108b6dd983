#include "tests/support/sample_program.h"

#include "tests/support/assembler.h"

namespace tenon::test {

using types::TypeTable;

bytecode::Program sample_program() {
  bytecode::Program base;
  base.sources.push_back({"sample.tn", "fn main(ctx: Context) {}\n"});
  TypeTable& types = base.types;
  types.add_struct({"Point", "A point.", {{"x", TypeTable::i64, "across"}, {"y", TypeTable::i64, ""}}});
  const types::TypeId mood = types.add_enum({"Mood", "", {{"Good", "fine", {}}, {"Bad", "", {TypeTable::string}}}});
  types.mutable_enum(mood).variants.push_back({"Nested", "", {mood}});
  types.text("Analysis");
  types.list(TypeTable::string);
  types.map(types.list(mood));
  types.tuple({TypeTable::i64, TypeTable::string});
  types.option(TypeTable::i64);
  types.result(TypeTable::i64);
  types::Refinement code;
  code.name = "Code";
  code.length_low = 1;
  code.length_high = 40;
  code.pattern = "[a-z ]+";
  types.refined(TypeTable::string, code);
  types::Refinement percent;
  percent.low = std::int64_t{0};
  percent.high = std::int64_t{100};
  types.refined(TypeTable::i32, percent);
  types::Refinement share;
  share.low = 0.0;
  share.high = 1.0;
  share.high_is_exclusive = true;
  types.refined(TypeTable::f64, share);
  types.make_union({"Team", std::vector<std::string>{"billing", "tech"}});
  types.make_union({"", std::vector<std::int64_t>{-1, 2}});

  base.externs.push_back({types::BuiltinEffect::Native,
                          "fetch",
                          "Fetches.",
                          {0, 9, 1},
                          {"url"},
                          {TypeTable::string},
                          TypeTable::string,
                          {}});
  base.externs.push_back(
      {types::BuiltinEffect::Ask, "ask", "Asks.", {}, {"question"}, {TypeTable::string}, TypeTable::i64, {}});
  bytecode::CallShape add{"add", "Adds.", "add(x: i64, y: i64) -> i64", {"x", "y"}, {TypeTable::i64, TypeTable::i64},
                          {1}};
  base.sites.push_back({bytecode::SiteKind::Completion, {0, 1, 1}, 0, TypeTable::string, {}, {}});
  base.sites.push_back({bytecode::SiteKind::Fill, {0, 2, 1}, 0, {}, add, {}});
  base.sites.push_back({bytecode::SiteKind::Select, {0, 3, 1}, 0, {}, {}, {{add, "sum", false}, {{}, "", true}}});
  base.budgets.push_back({{0, 4, 1}, {10, 1000, 10'000, 100, 5'000'000, 60'000}});
  base.tests.push_back(
      {"adds",
       {0, 5, 1},
       0,
       {{bytecode::RequestKind::Fill, "add", "[1]", false},
        {bytecode::RequestKind::Extern, "fetch", "no", true, bytecode::Place{0, 6, 9}, {"a", "b"}, {"1", "_"}}}});
  return assemble(R"(
fn main registers=24 params=Context,String result=List<String> context=0
  LoadConstant 2 "You are precise. "
  Inject 0 2
  Template 3 1 2
  Inject 0 3
  EnterBudget 0
@try
  LoadConstant 4 "http://localhost"
  CallExtern 4 fetch
  Fail 4
@tried
  LeaveBudget
  Return 4
@caught
  GetField 4 5 1
  Complete 5 0
  LoadInteger 6 40
  Fill 6 1
  AddI64 6 6 7
  Select 8 2
  Switch 8 [@sum else @other]
@sum
  AddI64Short 9 9 -1
@other
  LoadConstant 11 "a"
  LoadConstant 12 1.5
  LoadConstant 13 "b"
  LoadConstant 14 true
  MakeMap 11 11 2
  Move 12 6
  Move 13 9
  MakeRecord 12 12 Point
  Move 13 4
  MakeVariant 13 Mood 1
  MakeVariant 13 Mood 2
  LoadCase 14 Option<?> 0
  LoadCase 15 Mood 0
  MakeList 16 11 5
  Push 16 5
  LoadInteger 17 2
  Move 18 16
  ParallelFor 16 @item
  Parallel 19 [@left @right]
  MakeList 16 16 1
  Push 16 19
  Push 16 20
  CallBuiltin 18 ToJson 16
  LoadConstant 14 "b"
  RemoveEntry 17 11 14
  Return 16
@item
  Render 18 18
  Inject 0 18
  Complete 18 0
  EndBranch 18
@left
  Call 18 helper
  EndBranch 18
@right
  Complete 18 0
  EndBranch 18
@bad
  Unreachable
handler @try @tried @caught 5 0
fn helper registers=6 params=Context result=String
  NewContext 1
  LoadConstant 2 "inner"
  Inject 1 2
  CallBuiltin 3 ContextText 1
  Check 3 Code
  LoadInteger 4 0
  LoadInteger 5 3
@next
  GreaterEqualShort 1 4 3
  JumpIf 1 @end
  AddI32Short 4 4 1
  Append 3 2
  Jump @next
@end
  Return 3
)",
                  std::move(base));
}

}  // namespace tenon::test
