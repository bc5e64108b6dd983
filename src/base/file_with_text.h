#pragma once

#include <string>
#include <string_view>

#include "base/file_system.h"

namespace tenon {

/// The files of `files`, except that one has another text.
class FileWithText final : public FileSystem {
 public:
  /// All of it must outlive the object.
  FileWithText(FileSystem& files, const std::string& path, std::string_view text)
      : files_(files), path_(path), text_(text) {}

  [[nodiscard]] Result<std::string, FileError> read_file(const std::string& path, std::size_t bytes_max) override {
    if (path != path_) return files_.read_file(path, bytes_max);
    if (text_.size() > bytes_max) return failure(FileError{"the text is too long", false, text_.size()});
    return std::string(text_);
  }

 private:
  FileSystem& files_;
  const std::string& path_;
  std::string_view text_;
};

}  // namespace tenon
