#pragma once

#include <string>

#include "base/result.h"
#include "cli/environment.h"

namespace tenon::cli {

/// The value that an option's text means: the content of a file for `@FILE`, all of stdin for `@-`, the text `@…`
/// for `@@…`, and otherwise the text itself. A file may have up to 1 GiB. Fails with a sentence if the file cannot be
/// read.
[[nodiscard]] Result<std::string, std::string> read_given_value(const std::string& text,
                                                                const Environment& environment);

}  // namespace tenon::cli
