#pragma once

#include <string>
#include <string_view>

namespace tenon {

/// The path of the file that a path leads to: while its last part is a symbolic link, that is followed. The file need
/// not exist; what leads in a circle is returned as it is. A path that is not a link does not change.
[[nodiscard]] std::string follow_links(const std::string& path);

/// The name under which clients of a server see a file: its path, if that is relative and stays in the working
/// directory; otherwise only its last part, so that clients do not learn where a server keeps its files.
[[nodiscard]] std::string_view public_file_name(std::string_view path);

}  // namespace tenon
