#pragma once

#include <string>

namespace tenon::cli {

/// Writes a temporary file next to the file and renames it, so that a crash leaves either the old or the new text.
/// Keeps the file's permissions and follows links. Returns false if nothing was written.
[[nodiscard]] bool replace_file(const std::string& path, const std::string& text);

}  // namespace tenon::cli
