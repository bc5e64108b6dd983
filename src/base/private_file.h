#pragma once

#include <string>
#include <string_view>

#include "base/file_system.h"
#include "base/result.h"

namespace tenon {

/// A small file of the process's user alone (mode 0600), such as a key. One that others may read or write is refused:
/// the message says so, and how it is changed.
[[nodiscard]] Result<std::string, FileError> read_private_file(const std::string& path);

/// Makes the file with this text, durably, unless there is one already: then that one stays as it is. Nobody sees half
/// of it.
[[nodiscard]] Result<void, FileError> create_private_file(const std::string& path, std::string_view text);

}  // namespace tenon
