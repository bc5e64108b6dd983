#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::server {

/// The texts of the served programs, and how they are reached. Used by the server's thread alone.
struct ProgramFiles {
  struct File {
    std::string name;  ///< without folder and ending
    std::string path;
  };
  std::vector<File> files;
  /// The text, or why it cannot be read.
  std::function<Result<std::string, std::string>(const std::string& path)> read;
  /// Whether it worked; the old text is there otherwise.
  std::function<bool(const std::string& path, std::string_view text)> write;
  /// Why a text is no program, or nothing.
  std::function<std::optional<std::string>(const std::string& path, std::string_view text)> check;

  [[nodiscard]] const File* find(std::string_view name) const;
};

}  // namespace tenon::server
