#include "inference/llama_cpp/sampler.h"

#include <bit>
#include <cmath>

namespace tenon::inference::llama_cpp {
namespace {

/// Calls `visit(token, logit)` for each token that the mask allows, in ascending order.
template <class Visit>
void for_each_allowed(std::span<const float> logits, std::span<const std::uint32_t> mask, Visit visit) {
  for (std::size_t word = 0; word < mask.size(); ++word) {
    const std::size_t first = word * 32;
    if (mask[word] == UINT32_MAX && first + 32 <= logits.size()) {  // plain text: nearly all of them
      for (std::size_t token = first; token < first + 32; ++token) visit(static_cast<Token>(token), logits[token]);
      continue;
    }
    for (std::uint32_t bits = mask[word]; bits != 0; bits &= bits - 1) {
      const std::size_t token = first + static_cast<std::size_t>(std::countr_zero(bits));
      if (token < logits.size()) visit(static_cast<Token>(token), logits[token]);
    }
  }
}

/// A number in [0, 1) for one step of one answer: SplitMix64 over seed and position, the same on every machine.
double draw(std::uint64_t seed, std::uint32_t position) {
  std::uint64_t z = seed + 0x9E3779B97F4A7C15ULL * (static_cast<std::uint64_t>(position) + 1);
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  z ^= z >> 31U;
  return static_cast<double>(z >> 11U) * 0x1.0p-53;
}

}  // namespace

std::optional<Token> sample(std::span<const float> logits, std::span<const std::uint32_t> mask,
                            const Sampling& sampling, std::uint32_t position) {
  std::optional<Token> best;
  float best_logit = 0;
  for_each_allowed(logits, mask, [&](Token token, float logit) {
    if (!best || logit > best_logit) {
      best = token;
      best_logit = logit;
    }
  });
  if (!best || !(sampling.temperature > 0)) return best;

  // Below this the weight is under e^-40 of the best token's, and its exponential is not worth its time.
  const float logit_min = best_logit - 40.0F * sampling.temperature;
  const auto weigh = [&](float logit) {
    return logit < logit_min ? 0.0 : std::exp(static_cast<double>((logit - best_logit) / sampling.temperature));
  };
  double total = 0;
  for_each_allowed(logits, mask, [&](Token, float logit) { total += weigh(logit); });
  double left = draw(sampling.seed, position) * total;
  Token chosen = *best;
  bool found = false;
  for_each_allowed(logits, mask, [&](Token token, float logit) {
    if (found) return;
    const double weight = weigh(logit);
    if (weight > 0) chosen = token;  // the last one counts if rounding leaves a rest
    left -= weight;
    found = left < 0;
  });
  return chosen;
}

}  // namespace tenon::inference::llama_cpp
