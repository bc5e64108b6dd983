#include "server/program_files.h"

#include <algorithm>

namespace tenon::server {

const ProgramFiles::File* ProgramFiles::find(std::string_view name) const {
  const auto found = std::ranges::find(files, name, &File::name);
  return found == files.end() ? nullptr : &*found;
}

std::string without_folder(std::string message, const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  if (folder.size() <= 1) return message;
  for (std::size_t at = message.find(folder); at != std::string::npos; at = message.find(folder, at)) {
    message.erase(at, folder.size());
  }
  return message;
}

}  // namespace tenon::server
