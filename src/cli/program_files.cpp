#include "cli/program_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

Result<void, std::error_code> add_programs_below(const std::string& folder, std::vector<std::string>& files) {
  std::error_code error;
  const std::size_t first = files.size();
  fs::recursive_directory_iterator at(folder, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    const fs::path& path = at->path();
    std::error_code unknown;  // what cannot be looked at is reported when it is read
    if (at->is_directory(unknown)) {
      if (path.filename().string().starts_with('.')) at.disable_recursion_pending();
    } else if (path.extension() == ".tn") {
      files.push_back(path.string());
    }
  }
  if (error) return failure(error);
  std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
  return {};
}

}  // namespace

Result<std::vector<std::string>, std::string> find_programs(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code unknown;
    if (!fs::is_directory(path, unknown)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    if (auto added = add_programs_below(path, files); !added) {
      return failure(fmt::format("cannot read the folder `{}`: {}", path, added.error().message()));
    }
    if (files.size() == before) return failure(fmt::format("the folder `{}` contains no `.tn` file", path));
  }
  // A file that is named, and is in a folder that is named, is one file.
  std::set<fs::path> known;
  std::erase_if(files, [&](const std::string& file) {
    std::error_code unknown;
    const fs::path place = fs::weakly_canonical(file, unknown);
    return !known.insert(unknown ? fs::path(file) : place).second;
  });
  return files;
}

}  // namespace tenon::cli
