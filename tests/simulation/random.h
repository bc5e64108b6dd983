#pragma once

#include <cstdint>
#include <string_view>

#include "base/sha256.h"

namespace tenon::simulation {

/// Numbers that a seed decides, the same on every machine (the standard library's distributions are not).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// Of a text: the same text under the same seed gives the same numbers, whenever it is asked for.
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
  /// True once in so many times.
  bool one_in(std::uint64_t count) { return below(count) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace tenon::simulation
