#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::effects {

/// Names a question within its run: the key of its request and, if there were `earlier` questions about the same call,
/// their number. So an answer to one of them is never taken for the next.
[[nodiscard]] std::string wait_name(std::string_view key, std::uint32_t earlier);
/// The key of the request that a question belongs to.
[[nodiscard]] std::string_view key_of_wait(std::string_view wait);

}  // namespace tenon::effects
