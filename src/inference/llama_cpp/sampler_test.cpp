#include "inference/llama_cpp/sampler.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace tenon::inference::llama_cpp {
namespace {

constexpr std::array<std::uint32_t, 2> all = {0xFFFFFFFFU, 0xFFFFFFFFU};

TEST(SamplerTest, PicksTheLikeliestAndTheLowestNumberAmongEquals) {
  std::vector<float> logits(40, 0.0F);
  logits[35] = 3.0F;
  logits[37] = 3.0F;
  EXPECT_EQ(sample(logits, all, {}, 0), 35);
}

TEST(SamplerTest, PicksOnlyWhatTheMaskAllows) {
  std::vector<float> logits(40, 0.0F);
  logits[35] = 9.0F;
  logits[3] = -5.0F;
  logits[4] = -6.0F;
  const std::array<std::uint32_t, 2> mask = {(1U << 3) | (1U << 4), 0};
  EXPECT_EQ(sample(logits, mask, {}, 0), 3);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto token = sample(logits, mask, {.temperature = 5.0F, .seed = seed}, 0);
    EXPECT_TRUE(token == 3 || token == 4);
  }
  EXPECT_EQ(sample(logits, std::array<std::uint32_t, 2>{0, 0}, {}, 0), std::nullopt);
}

TEST(SamplerTest, IgnoresMaskBitsBeyondTheVocabulary) {
  const std::vector<float> logits(3, 0.0F);
  EXPECT_EQ(sample(logits, std::array<std::uint32_t, 2>{0, 1}, {}, 0), std::nullopt);
}

TEST(SamplerTest, DrawsAsOftenAsTheProbabilitiesSay) {
  const std::vector<float> logits = {0.0F, std::log(3.0F)};  // 1 : 3
  int second = 0;
  for (std::uint32_t position = 0; position < 4000; ++position) {
    if (sample(logits, all, {.temperature = 1.0F, .seed = 42}, position) == 1) ++second;
  }
  EXPECT_NEAR(second, 3000, 120);
}

TEST(SamplerTest, DependsOnSeedAndPositionAlone) {
  const std::vector<float> logits(32, 0.0F);
  const Sampling sampling{.temperature = 1.0F, .seed = 5};
  EXPECT_EQ(sample(logits, all, sampling, 7), sample(logits, all, sampling, 7));
  int changes = 0;
  for (std::uint32_t position = 1; position < 50; ++position) {
    changes += sample(logits, all, sampling, position) != sample(logits, all, sampling, 0) ? 1 : 0;
  }
  EXPECT_GT(changes, 30);
}

}  // namespace
}  // namespace tenon::inference::llama_cpp
