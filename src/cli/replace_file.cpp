#include "cli/replace_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

namespace tenon::cli {

bool replace_file(const std::string& path, const std::string& text) {
  std::error_code error;
  const std::string resolved = std::filesystem::canonical(path, error).string();
  const std::string target = error ? path : resolved;
  const std::string temporary = target + ".tenon-new";
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) return false;
  struct stat old = {};
  const bool permitted = ::stat(target.c_str(), &old) != 0 || ::fchmod(::fileno(file), old.st_mode & 07777) == 0;
  const bool written = permitted && std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
                       std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0;
  const bool closed = std::fclose(file) == 0;
  if (written && closed && std::rename(temporary.c_str(), target.c_str()) == 0) return true;
  std::remove(temporary.c_str());
  return false;
}

}  // namespace tenon::cli
