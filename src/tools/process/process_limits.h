#pragma once

#include <chrono>
#include <cstddef>

namespace tenon::tools {

/// The time between SIGTERM and SIGKILL for a process that is cancelled, or that does not exit after its reply.
inline constexpr std::chrono::milliseconds process_grace{2'000};
/// Maximum size of a process's reply. A process that sends more is ended.
inline constexpr std::size_t process_reply_bytes_max = std::size_t{64} << 20U;
/// How often a process is looked at where the kernel does not report its end.
inline constexpr std::chrono::milliseconds process_glance{20};
/// Processes at once; further calls are queued.
inline constexpr std::size_t processes_max = 64;

}  // namespace tenon::tools
