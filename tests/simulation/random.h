#pragma once

#include <cstdint>
#include <string_view>

#include "base/sha256.h"

namespace tenon::simulation {

/// Numbers derived from a seed, the same on every machine (unlike the standard library's distributions).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// For a text: the same text and seed always result in the same numbers.
  Random(std::uint64_t seed, std::string_view text) : state_(seed) {
    const Hash hash = sha256(text);
    for (std::size_t at = 0; at < sizeof(std::uint64_t); ++at) {
      state_ ^= static_cast<std::uint64_t>(static_cast<unsigned char>(hash.view()[at])) << (8U * at);
    }
  }

  /// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators).
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }
  /// In [0, bound); `bound` is at least 1.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  /// In [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  /// True once in `count` calls on average.
  bool one_in(std::uint64_t count) { return below(count) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace tenon::simulation
