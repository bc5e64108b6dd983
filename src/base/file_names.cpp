#include "base/file_names.h"

#include <filesystem>
#include <system_error>

namespace tenon {
namespace {

/// As many as Linux follows.
constexpr int links_max = 40;

}  // namespace

std::string follow_links(const std::string& path) {
  std::filesystem::path at = path;
  for (int followed = 0; followed < links_max; ++followed) {
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(at, error);
    if (error) return at.string();
    at = at.parent_path() / target;  // an absolute target replaces the folder
  }
  return path;
}

std::string_view public_file_name(std::string_view path) {
  const bool is_outside = path.starts_with('/') || path.starts_with("..");
  return is_outside ? path.substr(path.rfind('/') + 1) : path;
}

}  // namespace tenon
