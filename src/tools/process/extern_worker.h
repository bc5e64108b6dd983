#pragma once

#include <string_view>

namespace tenon::tools {

/// The one argument of a process that performs a call: hidden from the help.
inline constexpr std::string_view extern_worker_argument = "extern-worker";

/// The main function of a worker: reads a request from `worker_descriptor`, calls the function, writes the reply. Ends
/// with its parent. Returns the exit code.
[[nodiscard]] int run_extern_worker();

}  // namespace tenon::tools
