#include "journal/sqlite/store_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/file_names.h"
#include "base/shell_word.h"

namespace tenon::journal::sqlite {
namespace {

/// The owner's lock on the file: a byte of the page that SQLite keeps free for locks (it uses 512 bytes from 2^30 on),
/// so that it is never data.
constexpr off_t lock_byte = (off_t{1} << 30) + 1'024;

struct FileId {
  dev_t device = 0;
  ino_t number = 0;
  friend auto operator<=>(const FileId&, const FileId&) = default;
};

FileId id_of(const struct stat& status) {
  return {status.st_dev, status.st_ino};
}

/// What this process has open of one file.
struct OpenFile {
  std::size_t uses = 0;
  bool is_owned = false;
  std::vector<Descriptor> descriptors;
};

struct Registry {
  std::mutex mutex;
  std::map<FileId, OpenFile> files;
};

Registry& registry() {
  static Registry shared;
  return shared;
}

Result<void, StoreError> problem(const std::string& name, int reason) {
  if (reason == EACCES || reason == EPERM || reason == EROFS)
    return failure(StoreError{StoreError::Kind::Denied, fmt::format("{}: this user may not write the store", name)});
  return failure(StoreError{reason == ENOSPC ? StoreError::Kind::Full : StoreError::Kind::Missing,
                            fmt::format("{}: {}", name, std::generic_category().message(reason))});
}

struct flock owner_lock(short type) {
  struct flock one {};
  one.l_type = type;
  one.l_whence = SEEK_SET;
  one.l_start = lock_byte;
  one.l_len = 1;
  return one;
}

}  // namespace

Result<std::string, StoreError> resolve_store_path(const std::string& name) {
  const std::filesystem::path target = follow_links(name);
  const std::filesystem::path folder = target.parent_path();
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::canonical(folder.empty() ? "." : folder, error);
  if (error) {
    const bool is_denied = error == std::errc::permission_denied;
    return failure(StoreError{is_denied ? StoreError::Kind::Denied : StoreError::Kind::Missing,
                              fmt::format("{}: {}", name, error.message())});
  }
  return (resolved / target.filename()).string();
}

Result<void, StoreError> require_one_name(const std::string& path, const std::string& name) {
  struct statx status {};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &status) != 0) return {};
  if (!S_ISREG(status.stx_mode)) return {};
  if (status.stx_nlink > 1)
    return failure(StoreError{
        StoreError::Kind::Denied,
        fmt::format("{0}: the store's file has {1} names (hard links), and the log of the store ({2}-wal) belongs to "
                    "one of them: commits would be missing under the others. Remove the other names (`find / -xdev "
                    "-samefile {2}` lists them), or copy the file and use the copy",
                    name, status.stx_nlink, make_shell_word(path))});
  if ((status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0)
    return failure(
        StoreError{StoreError::Kind::Denied,
                   fmt::format("{}: the store's file is mounted here without its folder, and the log of the store "
                               "(`-wal`) is in that folder: commits would be missing here. Mount the folder instead",
                               name)});
  return {};
}

Result<StoreFile, StoreError> StoreFile::open(const std::string& path, const std::string& name, Access access) {
  StoreFile file;
  if (access == Access::Owner) {
    if (auto owned = file.own(path, name); !owned) return failure(std::move(owned.error()));
    return file;
  }
  if (::stat(path.c_str(), &file.status_) != 0) return file;
  const std::lock_guard guard(registry().mutex);
  ++registry().files[id_of(file.status_)].uses;
  file.is_registered_ = true;
  return file;
}

Result<void, StoreError> StoreFile::own(const std::string& path, const std::string& name) {
  constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  Descriptor file(::open(path.c_str(), flags));
  if (!file.is_open() && errno == ENOENT) file = Descriptor(::open(path.c_str(), flags | O_CREAT, S_IRUSR | S_IWUSR));
  if (!file.is_open() || ::fstat(file.number(), &status_) != 0) return problem(name, errno);
  const std::lock_guard guard(registry().mutex);
  OpenFile& known = registry().files[id_of(status_)];
  ++known.uses;
  is_registered_ = true;
  const int number = file.number();
  known.descriptors.push_back(std::move(file));
  struct flock one = owner_lock(F_WRLCK);
  if (!known.is_owned && ::fcntl(number, F_OFD_SETLK, &one) == 0) {
    known.is_owned = true;
    locked_ = number;
    return {};
  }
  if (!known.is_owned && errno != EAGAIN && errno != EACCES)
    return failure(
        StoreError{StoreError::Kind::Broken, fmt::format("{}: {}", name, std::generic_category().message(errno))});
  return failure(StoreError{StoreError::Kind::InUse,
                            fmt::format("{}: the store is in use by {} process, which opened it under another name",
                                        name, known.is_owned ? "this" : "another")});
}

StoreFile::StoreFile(StoreFile&& other) noexcept
    : is_registered_(std::exchange(other.is_registered_, false)),
      locked_(std::exchange(other.locked_, -1)),
      status_(other.status_) {}

StoreFile::~StoreFile() {
  if (!is_registered_) return;
  const std::lock_guard guard(registry().mutex);
  const auto found = registry().files.find(id_of(status_));
  if (locked_ >= 0) {
    found->second.is_owned = false;
    struct flock none = owner_lock(F_UNLCK);
    static_cast<void>(::fcntl(locked_, F_OFD_SETLK, &none));
  }
  if (--found->second.uses == 0) registry().files.erase(found);
}

}  // namespace tenon::journal::sqlite
