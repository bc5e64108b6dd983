#pragma once

#include <string>

namespace tenon {

/// The path of the file that a path leads to: while its last part is a symbolic link, that is followed. The file need
/// not exist; what leads in a circle is returned as it is. A path that is not a link does not change.
[[nodiscard]] std::string follow_links(const std::string& path);

}  // namespace tenon
