#pragma once

#include <chrono>
#include <cstddef>

namespace tenon::tools {

/// Between SIGTERM and SIGKILL for a process that is to end, and for one that stays after it has given its result.
inline constexpr std::chrono::milliseconds process_grace{2'000};
/// Of what a process may give back. One that gives more is ended.
inline constexpr std::size_t process_reply_bytes_max = std::size_t{64} << 20U;
/// Processes at once; further calls wait in line.
inline constexpr std::size_t processes_max = 64;

}  // namespace tenon::tools
