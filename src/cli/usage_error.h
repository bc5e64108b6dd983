#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"

namespace tenon::cli {

/// What is wrong with a command line that `app`, the parser of all commands, rejected with `error`: an unknown option
/// first, with a suggestion, since a misspelt option also causes most of the other errors.
[[nodiscard]] UsageError describe_parse_error(const CLI::App& app, const CLI::ParseError& error);

/// A check of an option that accepts at least two `values`.
[[nodiscard]] std::function<std::string(const std::string&)> one_of(std::vector<std::string> values);

/// `; did you mean …?` with the candidate that is closest to `name`, or nothing.
[[nodiscard]] std::string suggest(std::string_view name, const std::vector<std::string_view>& candidates,
                                  std::string_view prefix = "");

}  // namespace tenon::cli
