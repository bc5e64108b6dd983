#pragma once

#include <string_view>

namespace tenon::tools {

/// The program of a worker process in Python: cmake/python_worker.cmake makes it from files of python/tenon.
[[nodiscard]] std::string_view worker_source();

}  // namespace tenon::tools
