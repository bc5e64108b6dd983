#pragma once

#include <string>
#include <utility>

#include "base/file_system.h"

namespace tenon::test {

/// Files for the checker: `program.tn`, and nothing else.
class OneFile final : public FileSystem {
 public:
  explicit OneFile(std::string text) : text_(std::move(text)) {}
  Result<std::string, FileError> read_file(const std::string& path, std::size_t /*bytes_max*/) override {
    if (path == "program.tn") return text_;
    return failure(FileError{"No such file or directory", true, 0});
  }

 private:
  std::string text_;
};

}  // namespace tenon::test
