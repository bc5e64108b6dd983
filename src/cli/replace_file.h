#pragma once

#include <string>

namespace tenon::cli {

/// Writes beside the file and renames, so that a crash leaves the old text or the new one. The file's permissions stay,
/// and of a link the file that it names is replaced. False: nothing was written.
[[nodiscard]] bool replace_file(const std::string& path, const std::string& text);

}  // namespace tenon::cli
