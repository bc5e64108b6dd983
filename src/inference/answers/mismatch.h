#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenon::inference::answers {

/// One reason why JSON is not what was asked for.
struct Mismatch {
  std::string path;     ///< `items[2].name`; empty: the whole
  std::string message;  ///< what was found and what is expected: `is the text "three", where integer is asked for`
};
/// `items[2].name is …`, with `whole` in the place of an empty path.
[[nodiscard]] std::string describe(const Mismatch& mismatch, std::string_view whole);

/// How many mismatches of one value are reported; the check ends there.
inline constexpr std::size_t mismatches_max = 20;

}  // namespace tenon::inference::answers
