#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace tenon::cli {

/// The programs that the paths of a command name: a file itself; of a folder the `.tn` files in it and in the folders
/// below it, by name, without hidden folders. The error says which folder cannot be read or has no program.
[[nodiscard]] Result<std::vector<std::string>, std::string> find_programs(const std::vector<std::string>& paths);

}  // namespace tenon::cli
