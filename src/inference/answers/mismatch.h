#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "json/message_version.h"

namespace tenon::inference::answers {

/// One reason why JSON is not a value of the expected type.
struct Mismatch {
  std::string path;     ///< `items[2].name`; empty: the whole
  std::string message;  ///< `expected integer, found the string "three"`
};
/// `items[2].name: expected …`, with `whole` in the place of an empty path. Without both, the message alone.
[[nodiscard]] std::string describe(const Mismatch& mismatch, std::string_view whole,
                                   MessageVersion version = newest_messages);
/// All of them, with `; ` between them.
[[nodiscard]] std::string describe_all(const std::vector<Mismatch>& mismatches, std::string_view whole,
                                       MessageVersion version = newest_messages);

/// The number of mismatches of one value that are reported; the check ends there.
inline constexpr std::size_t mismatches_max = 20;

}  // namespace tenon::inference::answers
