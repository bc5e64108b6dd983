#include "types/table/type_parts.h"

#include <gtest/gtest.h>

namespace tenon::types {
namespace {

TEST(TypeParts, AreVisitedOnceInTheOrderOfTheDeclaration) {
  TypeTable types;
  const TypeId node = types.add_struct({"Node", "", {}});
  const TypeId next = types.option(node);
  const TypeId pair = types.tuple({TypeTable::i32, TypeTable::boolean});
  types.mutable_struct(node).fields = {{"next", next, ""}, {"pair", pair, ""}, {"count", TypeTable::i32, ""}};
  std::vector<TypeId> seen;
  for_each_within(types, node, TypeParts::OfValues, [&](TypeId part) { seen.push_back(part); });
  EXPECT_EQ(seen, (std::vector{node, next, pair, TypeTable::i32, TypeTable::boolean}));
  seen.clear();
  for_each_within(types, next, TypeParts::AsWritten, [&](TypeId part) { seen.push_back(part); });
  EXPECT_EQ(seen, (std::vector{next, node}));
}

TEST(TypeParts, TheFirstThatIsWantedIsFound) {
  TypeTable types;
  const TypeId tools = types.tools();
  const TypeId both = types.tuple({types.list(tools), TypeTable::context});
  EXPECT_EQ(find_unanswerable(types, both), tools);
  EXPECT_FALSE(find_unanswerable(types, types.secret(TypeTable::i32), Answerer::Person).exists());
}

TEST(TypeParts, OperationsOnUnionsWorkOnTheirLiterals) {
  TypeTable types;
  const TypeId few = types.make_union({"", std::vector<std::string>{"a"}});
  EXPECT_EQ(operand_kind(types, few), TypeKind::String);
  EXPECT_EQ(operand_kind(types, types.text("Plan")), TypeKind::String);
  EXPECT_EQ(operand_kind(types, types.make_union({"", std::vector<std::int64_t>{1}})), TypeKind::I64);
  EXPECT_EQ(operand_kind(types, types.refined(TypeTable::i32, {})), TypeKind::I32);
}

}  // namespace
}  // namespace tenon::types
