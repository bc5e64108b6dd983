#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file_system.h"

namespace tenon::cli {

/// The errors that the compiler reports if the file `path` contains `text`, rendered; nothing if there are none. The
/// other files are read from `files`.
[[nodiscard]] std::optional<std::string> find_compile_problem(const std::string& path, std::string_view text,
                                                              FileSystem& files);

}  // namespace tenon::cli
