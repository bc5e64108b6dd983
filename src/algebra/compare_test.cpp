#include "algebra/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algebra/form.h"

namespace tenon::algebra {
namespace {

Artifacts one_cycle() {
  Artifacts artifacts;
  artifacts.h.emplace_back().function = "main";
  artifacts.h.back().arguments = "[]";
  return artifacts;
}

TEST(Compare, TheSameIsTheSame) {
  EXPECT_TRUE(compare(one_cycle(), one_cycle()).empty());
}

TEST(Compare, TheLimitOfACycleIsReportedIfNothingElseDiffers) {
  const Artifacts a = one_cycle();
  Artifacts b = a;
  b.h.front().control.is_stopped = true;
  ASSERT_NE(hash_of(a), hash_of(b));
  const auto found = compare(a, b);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().kind, DifferenceKind::Control);
  EXPECT_EQ(found.front().cycle, 0U);
  EXPECT_NE(found.front().a, found.front().b);
  EXPECT_THAT(describe(found.front()), testing::HasSubstr("control"));

  b.h.front().arguments = "[1]";
  const auto others = compare(a, b);
  ASSERT_EQ(others.size(), 1U);
  EXPECT_EQ(others.front().kind, DifferenceKind::Input);
}

}  // namespace
}  // namespace tenon::algebra
