#include "cli/replace_file.h"

#include <unistd.h>

#include <cstdio>

namespace tenon::cli {

bool replace_file(const std::string& path, const std::string& text) {
  const std::string beside = path + ".tenon-new";
  std::FILE* file = std::fopen(beside.c_str(), "wb");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0 &&
                       ::fsync(::fileno(file)) == 0;
  const bool closed = std::fclose(file) == 0;
  if (written && closed && std::rename(beside.c_str(), path.c_str()) == 0) return true;
  std::remove(beside.c_str());
  return false;
}

}  // namespace tenon::cli
