#include "server/program_files.h"

#include <algorithm>
#include <utility>

#include "server/catalog.h"

namespace tenon::server {

const ProgramFiles::File* ProgramFiles::find(std::string_view name) const {
  const auto found = std::ranges::find(files, name, &File::name);
  return found == files.end() ? nullptr : &*found;
}

bool reload(const ProgramFiles& programs, const ProgramFiles::File& file, Catalog& catalog) {
  const auto loaded = programs.load(file.path);
  if (loaded) catalog.replace_program(file.path, loaded->image, loaded->options);
  return loaded.has_value();
}

void ChangedPrograms::add(std::size_t file) {
  const std::scoped_lock lock(mutex_);
  files_.insert(file);
  has_some_ = true;
}

std::set<std::size_t> ChangedPrograms::take() {
  if (!has_some_) return {};
  const std::scoped_lock lock(mutex_);
  has_some_ = false;
  return std::exchange(files_, {});
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
