#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace tenon {

struct FileError {
  std::string message;  ///< `No such file or directory`, without the path
  bool is_missing = false;
  std::size_t bytes = 0;  ///< of a file that is too large: its size, as far as it is known
};

/// What the last system call failed with: `errno`, before anything else changes it.
[[nodiscard]] FileError last_file_error();

/// Files as the program's world has them; tests have their own.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  /// The whole file. One of more than `bytes_max` bytes is not read: the error tells its size.
  [[nodiscard]] virtual Result<std::string, FileError> read_file(const std::string& path, std::size_t bytes_max) = 0;
};

/// The files of the machine.
class RealFileSystem final : public FileSystem {
 public:
  [[nodiscard]] Result<std::string, FileError> read_file(const std::string& path, std::size_t bytes_max) override;
};

}  // namespace tenon
