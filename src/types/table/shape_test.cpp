#include "types/table/shape.h"

#include <gtest/gtest.h>

namespace tenon::types {
namespace {

TEST(Shape, StructsAreReadByTheNamesOfTheirFields) {
  TypeTable before, after;
  after.text("Other");  // so that the tables number their types differently
  const TypeId old_state =
      before.add_struct({"A", "", {{"items", before.list(TypeTable::string), ""}, {"count", TypeTable::i32, ""}}});
  const TypeId reordered =
      after.add_struct({"B", "", {{"count", TypeTable::i32, ""}, {"items", after.list(TypeTable::string), ""}}});
  EXPECT_TRUE(reads_as(before, old_state, after, reordered));
  EXPECT_TRUE(list_shape_differences(before, old_state, after, reordered).empty());
  const TypeId changed =
      after.add_struct({"C", "", {{"items", after.list(TypeTable::i64), ""}, {"more", TypeTable::i32, ""}}});
  EXPECT_FALSE(reads_as(before, old_state, after, changed));
  EXPECT_EQ(list_shape_differences(before, old_state, after, changed),
            (std::vector<std::string>{"`items` was `List<String>` and is now `List<i64>`", "`count` was removed",
                                      "`more` was added"}));
  EXPECT_EQ(declare_struct(before, old_state, "Before"), "struct Before { items: List<String>, count: i32 }");
}

TEST(Shape, EnumsAndUnionsMayGrow) {
  TypeTable before, after;
  const TypeId small = before.add_enum({"E", "", {{"One", "", {}}, {"Two", "", {TypeTable::i32}}}});
  const TypeId large = after.add_enum({"E", "", {{"Zero", "", {}}, {"Two", "", {TypeTable::i32}}, {"One", "", {}}}});
  EXPECT_TRUE(reads_as(before, small, after, large));
  EXPECT_FALSE(reads_as(after, large, before, small));
  const TypeId few = before.make_union({"", std::vector<std::string>{"a"}});
  const TypeId many = after.make_union({"", std::vector<std::string>{"b", "a"}});
  EXPECT_TRUE(reads_as(before, few, after, many));
  EXPECT_FALSE(reads_as(after, many, before, few));
  EXPECT_TRUE(reads_as(after, many, before, TypeTable::string));
  EXPECT_FALSE(reads_as(before, TypeTable::string, after, many));
}

TEST(Shape, PromisesMayBeDropped) {
  TypeTable types;
  Refinement bounded;
  bounded.low = std::int64_t{0};
  const TypeId refined = types.refined(TypeTable::i32, bounded);
  EXPECT_TRUE(reads_as(types, refined, types, TypeTable::i32));
  EXPECT_TRUE(reads_as(types, refined, types, refined));
  EXPECT_FALSE(reads_as(types, TypeTable::i32, types, refined));
}

TEST(Shape, DifferentDeclarationsHaveDifferentShapes) {
  TypeTable types;
  EXPECT_FALSE(reads_as(types, TypeTable::i32, types, TypeTable::i64));
  EXPECT_FALSE(reads_as(types, TypeTable::string, types, types.option(TypeTable::string)));
  EXPECT_FALSE(reads_as(types, TypeTable::string, types, types.secret(TypeTable::string)));
  EXPECT_FALSE(reads_as(types, types.secret(TypeTable::string), types, TypeTable::string));
  EXPECT_TRUE(reads_as(types, types.secret(TypeTable::string), types, types.secret(TypeTable::string)));
  EXPECT_FALSE(reads_as(types, types.text("Plan"), types, types.text("Goal")));
  EXPECT_TRUE(reads_as(types, types.text("Plan"), types, TypeTable::string));
}

TEST(Shape, TypesThatContainThemselves) {
  TypeTable before, after;
  const auto tree = [](TypeTable& types, TypeId leaf) {
    const TypeId node = types.add_struct({"Tree", "", {}});
    types.mutable_struct(node).fields = {{"value", leaf, ""}, {"children", types.list(node), ""}};
    return node;
  };
  const TypeId old_tree = tree(before, TypeTable::string);
  EXPECT_TRUE(reads_as(before, old_tree, after, tree(after, TypeTable::string)));
  EXPECT_FALSE(reads_as(before, old_tree, after, tree(after, TypeTable::i32)));
}

}  // namespace
}  // namespace tenon::types
