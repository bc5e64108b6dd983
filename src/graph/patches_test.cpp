#include "graph/patches.h"

#include <gtest/gtest.h>

#include <random>

namespace tenon::graph {
namespace {

/// Sorted patches of a text that do not overlap.
std::vector<Patch> random_patches(std::mt19937& random, std::size_t length) {
  const auto below = [&](std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound)(random); };
  std::vector<Patch> patches;
  std::size_t at = 0;
  while (at <= length && patches.size() < 4) {
    Patch patch;
    patch.offset = at + below(std::min<std::size_t>(length - at, 8));
    patch.removed = below(std::min<std::size_t>(length - patch.offset, 5));
    patch.inserted = std::string(below(4), static_cast<char>('a' + below(25)));
    at = patch.offset + patch.removed + 1;
    patches.push_back(std::move(patch));
  }
  return patches;
}

TEST(PatchSteps, AreJoined) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const std::string first = seed % 7 == 0 ? "" : "0123456789ABCDEFGHIJ";
    PatchSteps steps(first.size());
    std::string text = first;
    for (int step = 0; step < 5; ++step) {
      const std::vector<Patch> patches = random_patches(random, text.size());
      text = patched(text, patches);
      steps.add(patches);
      const std::vector<Patch> joined = steps.joined();
      ASSERT_EQ(patched(first, joined), text) << "seed " << seed << ", step " << step;
      for (std::size_t at = 1; at < joined.size(); ++at) {
        ASSERT_GT(joined[at].offset, joined[at - 1].offset + joined[at - 1].removed) << "touching patches are one";
      }
    }
  }
}

TEST(PatchSteps, KeepWhatNoStepConcerns) {
  PatchSteps steps(10);
  steps.add({{2, 1, "xy"}, {8, 0, "z"}});
  steps.add({{3, 1, ""}});  // the y
  const std::vector<Patch> joined = steps.joined();
  ASSERT_EQ(joined.size(), 2U);
  EXPECT_EQ(joined[0].offset, 2U);
  EXPECT_EQ(joined[0].removed, 1U);
  EXPECT_EQ(joined[0].inserted, "x");
  EXPECT_EQ(joined[1].offset, 8U);
  EXPECT_EQ(joined[1].removed, 0U);
  EXPECT_EQ(joined[1].inserted, "z");
}

}  // namespace
}  // namespace tenon::graph
