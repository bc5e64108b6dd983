#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon {

/// `1 run`, `2 runs`, `0 runs`: for messages. `plural`: of a noun that does not only get an `s`, as `entries`.
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun, std::string_view plural = {});
/// `1 was`, `2 were`.
[[nodiscard]] std::string counted_were(std::uint64_t count);

}  // namespace tenon
