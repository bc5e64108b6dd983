#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file_system.h"

namespace tenon::cli {

/// What the checker and the compiler say when `text` stands in the file `path`, the files that it uses being as they
/// are: rendered errors, or nothing.
[[nodiscard]] std::optional<std::string> find_compile_problem(const std::string& path, std::string_view text,
                                                              FileSystem& files);

}  // namespace tenon::cli
