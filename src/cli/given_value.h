#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/command_line.h"
#include "cli/environment.h"

namespace tenon::cli {

/// The value that an option's text means: the content of a file for `@FILE`, all of stdin for `@-`, the text `@…`
/// for `@@…`, and otherwise the text itself. A file may have up to 1 GiB. Fails with a sentence if the file cannot be
/// read.
[[nodiscard]] Result<std::string, std::string> read_given_value(const std::string& text,
                                                                const Environment& environment);

/// Reads the values of an option whose form is NAME=…. A name is given only once, in all options of `run`.
[[nodiscard]] Result<void, UsageError> read_given_pairs(std::string_view option, std::string_view form,
                                                        const std::vector<std::string>& texts, const RunCommand& run,
                                                        std::vector<std::pair<std::string, std::string>>& pairs);

}  // namespace tenon::cli
