#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tenon::cli {

/// A bash script that completes the commands of `app`, with the options of all of them added, and file names.
[[nodiscard]] std::string write_bash_completion(const CLI::App& app);

}  // namespace tenon::cli
