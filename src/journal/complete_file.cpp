#include "journal/complete_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/descriptor.h"

namespace tenon::journal {
namespace {

Result<void, StoreError> problem(const std::string& path, int reason, StoreError::Kind kind) {
  return failure(StoreError{kind, fmt::format("{}: {}", path, std::generic_category().message(reason))});
}

Result<void, StoreError> sync_file(const std::string& path, int flags) {
  const Descriptor file(::open(path.c_str(), flags | O_CLOEXEC));
  if (file.is_open() && ::fsync(file.number()) == 0) return {};
  return problem(path, errno, StoreError::Kind::Broken);
}

Result<void, StoreError> refuse(const std::string& path, int reason) {
  return problem(path, reason, reason == EEXIST ? StoreError::Kind::Conflict : StoreError::Kind::Denied);
}

/// Renames the file; one that has the name is never replaced. It has one name at every moment: a store with two is
/// refused. Some file systems cannot rename like that, where a link keeps the promise, and some have no links.
Result<void, StoreError> give_name(const std::string& partial, const std::string& path) {
  if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return refuse(path, errno);
  if (::link(partial.c_str(), path.c_str()) == 0) return {};
  const bool has_links = errno != EPERM && errno != EOPNOTSUPP;
  if (has_links || ::rename(partial.c_str(), path.c_str()) != 0) return refuse(path, errno);
  return {};
}

}  // namespace

Result<void, StoreError> make_complete_file(
    const std::string& path, const std::function<Result<void, StoreError>(const std::string& partial)>& write) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return refuse(path, EEXIST);
  const std::string partial = path + ".partial";
  const auto remove_partial = [&] {
    for (const char* const ending : {"", "-journal", "-wal", "-shm", ".lock"})
      std::filesystem::remove(partial + ending, ignored);
  };
  remove_partial();  // of an attempt that was interrupted
  auto made = write(partial);
  if (made) made = sync_file(partial, O_RDONLY);
  if (made) made = give_name(partial, path);
  remove_partial();
  if (!made) return made;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return sync_file(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
}

}  // namespace tenon::journal
