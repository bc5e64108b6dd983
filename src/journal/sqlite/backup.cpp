// Copying the whole store.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/descriptor.h"

#include "journal/sqlite/sqlite_admin.h"

namespace tenon::journal::sqlite {
namespace {

Result<void, StoreError> sync_file(const std::string& path, int flags) {
  const Descriptor file(::open(path.c_str(), flags | O_CLOEXEC));
  if (file.is_open() && ::fsync(file.number()) == 0) return {};
  const int reason = errno;
  return failure(
      StoreError{StoreError::Kind::Broken, fmt::format("{}: {}", path, std::generic_category().message(reason))});
}

}  // namespace

Result<void, StoreError> SqliteAdmin::backup(const std::string& path) {
  if (auto usable = connection_.require_usable(); !usable) return usable;
  const auto problem = [&](int reason) {
    return failure(StoreError{reason == EEXIST ? StoreError::Kind::Conflict : StoreError::Kind::Denied,
                              fmt::format("{}: {}", path, std::generic_category().message(reason))});
  };
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return problem(EEXIST);
  const std::string partial = path + ".partial";
  const auto remove_partial = [&] {
    std::filesystem::remove(partial, ignored);
    std::filesystem::remove(partial + "-journal", ignored);
  };
  remove_partial();  // of a backup that was interrupted
  auto copied = connection_.database().copy_to(partial);
  if (copied) copied = sync_file(partial, O_RDONLY);
  // Unlike a rename, a link never replaces a file; not every file system has links.
  if (copied && ::link(partial.c_str(), path.c_str()) != 0) {
    const bool has_links = errno != EPERM && errno != EOPNOTSUPP;
    if (has_links || ::rename(partial.c_str(), path.c_str()) != 0) copied = problem(errno);
  }
  remove_partial();
  if (!copied) return copied;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return sync_file(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
}

}  // namespace tenon::journal::sqlite
