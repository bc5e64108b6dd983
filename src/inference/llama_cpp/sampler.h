#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "inference/llama_cpp/vocabulary.h"
#include "inference/model.h"

namespace tenon::inference::llama_cpp {

/// Picks the next token among those that `mask` allows (bit `t % 32` of word `t / 32`): the likeliest at temperature 0,
/// the lowest number among equals; otherwise by chance, which depends on the seed and on `position`, the number of
/// tokens that the answer has, and on nothing else. None when the mask allows nothing.
[[nodiscard]] std::optional<Token> sample(std::span<const float> logits, std::span<const std::uint32_t> mask,
                                          const Sampling& sampling, std::uint32_t position);

}  // namespace tenon::inference::llama_cpp
