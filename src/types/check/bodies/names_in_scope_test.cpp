#include "types/check/bodies/names_in_scope.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace tenon::types {
namespace {

/// The same by a search from the innermost variable.
std::optional<LocalId> found_one_by_one(const NamesInScope& scope, std::string_view name) {
  for (std::size_t at = scope.size(); at-- > 0;) {
    if (scope.all()[at].first == name) return scope.all()[at].second;
  }
  return std::nullopt;
}

TEST(NamesInScope, FindsTheInnermostInScopesOfAnySize) {
  std::vector<std::string> names;
  for (int at = 0; at < 60; ++at) names.push_back("name" + std::to_string(at));
  std::mt19937 random(1);
  NamesInScope scope;
  std::uint32_t next = 0;
  for (int step = 0; step < 5'000; ++step) {
    if (random() % 40 == 0) {
      scope.shrink(random() % (scope.size() + 1));
    } else {
      scope.add(names[random() % names.size()], LocalId{next++});
    }
    for (const std::string& name : names) ASSERT_EQ(scope.find(name), found_one_by_one(scope, name)) << name;
  }
}

TEST(NamesInScope, KnowsWhatIsOutsideOfABranch) {
  NamesInScope scope;
  for (std::uint32_t at = 0; at < 4; ++at) scope.add("name", LocalId{10 + at});
  EXPECT_TRUE(scope.is_among_first(2, LocalId{11}));
  EXPECT_FALSE(scope.is_among_first(2, LocalId{12}));
  EXPECT_FALSE(scope.is_among_first(0, LocalId{10}));
}

}  // namespace
}  // namespace tenon::types
