#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenon::inference::answers {

/// One reason why JSON is not what was asked for.
struct Mismatch {
  std::string path;  ///< `items[2].name`; empty: the whole
  std::string
      message;  ///< what stands there and what would be right: `is the text "three", where integer is asked for`
};
/// `items[2].name is …`, with `whole` in the place of an empty path.
[[nodiscard]] std::string describe(const Mismatch& mismatch, std::string_view whole);

/// How many mismatches are told of one value; what comes after them is not looked at.
inline constexpr std::size_t mismatches_max = 20;

}  // namespace tenon::inference::answers
