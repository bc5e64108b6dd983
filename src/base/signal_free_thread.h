#pragma once

#include <functional>
#include <thread>

namespace tenon {

/// Starts a thread with all signals blocked: they are the process's to handle. Throws std::system_error if the system
/// starts no more threads.
[[nodiscard]] std::thread start_signal_free_thread(std::function<void()> work);

}  // namespace tenon
