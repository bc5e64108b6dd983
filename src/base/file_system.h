#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace tenon {

struct FileError {
  std::string message;  ///< `No such file or directory`, without the path
  bool is_missing = false;
  std::size_t bytes = 0;  ///< of a file that is too large: its size, as far as known
};

/// The error of the last system call: must be called before anything else changes `errno`.
[[nodiscard]] FileError last_file_error();

/// An interface to files; tests have their own implementation.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  /// Reads an entire file. A file larger than `bytes_max` is not read: the error contains its size.
  [[nodiscard]] virtual Result<std::string, FileError> read_file(const std::string& path, std::size_t bytes_max) = 0;
};

/// The files of this machine.
class RealFileSystem final : public FileSystem {
 public:
  [[nodiscard]] Result<std::string, FileError> read_file(const std::string& path, std::size_t bytes_max) override;
};

}  // namespace tenon
