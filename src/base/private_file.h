#pragma once

#include <string>
#include <string_view>

#include "base/file_system.h"
#include "base/result.h"

namespace tenon {

/// A small file that only the process's user can access (mode 0600), such as a key. If others can read or write it, it
/// is rejected with a message that says how to change the mode.
[[nodiscard]] Result<std::string, FileError> read_private_file(const std::string& path);

/// Creates the file with this text, durably. If it already exists, it does not change. The file is never visible with a
/// part of its text. It belongs to the user of the file `belongs_to`, if there is such a file and this process is root.
[[nodiscard]] Result<void, FileError> create_private_file(const std::string& path, std::string_view text,
                                                          const std::string& belongs_to = {});

}  // namespace tenon
