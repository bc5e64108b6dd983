#include "journal/sqlite/owner_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

namespace tenon::journal::sqlite {
namespace {

/// As long as any process id, so that the file need not be cut.
constexpr std::size_t owner_bytes = 11;

/// The id of the process that the file says; 0 for an owner that has not announced itself.
long process_of(const Descriptor& file) {
  std::array<char, 32> text{};
  const ssize_t size = pread(file.number(), text.data(), text.size(), 0);
  long process = 0;
  if (size <= 0 || std::from_chars(text.data(), text.data() + size, process).ec != std::errc{}) return 0;
  return process;
}

std::string owner_of(const Descriptor& file) {
  const long process = process_of(file);
  if (process == 0) return "another process";
  if (process == static_cast<long>(getpid())) return "this process";
  return fmt::format("process {}", process);
}

struct flock lock_of_whole_file() {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return whole;
}

bool is_locked(const Descriptor& file) {
  struct flock whole = lock_of_whole_file();
  return file.is_open() && fcntl(file.number(), F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

Descriptor open_lock_file(const std::string& store_path) {
  return Descriptor(open((store_path + ".lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
}

/// Without `O_CREAT` where it exists: in a folder for all users (`/tmp`) Linux refuses that for the file of another
/// user, even to root. Never through a link, which may lead to a file of root's.
Descriptor make_lock_file(const std::string& path) {
  constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  Descriptor file(open(path.c_str(), flags));
  if (!file.is_open() && errno == ENOENT) file = Descriptor(open(path.c_str(), flags | O_CREAT, S_IRUSR | S_IWUSR));
  return file;
}

}  // namespace

Result<OwnerLock, StoreError> OwnerLock::acquire(const std::string& store_path, const std::string& store_name) {
  const std::string path = store_path + ".lock";
  Descriptor file = make_lock_file(path);
  if (!file.is_open()) {
    const int code = errno;
    const bool is_denied = code == EACCES || code == EPERM || code == EROFS;
    return failure(StoreError{code == ENOSPC ? StoreError::Kind::Full
                              : is_denied    ? StoreError::Kind::Denied
                                             : StoreError::Kind::Missing,
                              fmt::format("{}.lock: {}", store_name, std::strerror(code))});
  }
  // A lock of the open file: two stores of one process exclude each other too, and closing another descriptor of the
  // file does not give it up.
  struct flock whole = lock_of_whole_file();
  if (fcntl(file.number(), F_OFD_SETLK, &whole) != 0) {
    const int code = errno;
    if (code == EAGAIN || code == EACCES)
      return failure(StoreError{StoreError::Kind::InUse,
                                fmt::format("{}: the store is in use by {}", store_name, owner_of(file))});
    return failure(StoreError{StoreError::Kind::Broken, fmt::format("{}.lock: {}", store_name, std::strerror(code))});
  }
  OwnerLock lock(std::move(file));
  lock.write_owner("");
  return lock;
}

void OwnerLock::give_access_of(const struct stat& store) const {
  struct stat own {};
  // A file with other names may be anyone's.
  if (fstat(file_.number(), &own) != 0 || !S_ISREG(own.st_mode) || own.st_nlink != 1) return;
  const bool is_others = own.st_uid != store.st_uid || own.st_gid != store.st_gid;
  if (is_others) static_cast<void>(fchown(file_.number(), store.st_uid, store.st_gid) == 0);
  // A store that may not be written for a while keeps a lock that can be taken afterwards.
  const mode_t mode = (store.st_mode & (S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH)) | S_IRUSR | S_IWUSR;
  if ((own.st_mode & ALLPERMS) != mode) static_cast<void>(fchmod(file_.number(), mode) == 0);
}

void OwnerLock::announce() const {
  write_owner(std::to_string(getpid()));
}

void OwnerLock::write_owner(std::string_view owner) const {
  // An owner whose id could not be written owns the store all the same.
  const std::string text = fmt::format("{:<{}}\n", owner, owner_bytes - 1);
  static_cast<void>(pwrite(file_.number(), text.data(), text.size(), 0) == 0);
}

bool OwnerLock::is_held(const std::string& store_path) {
  return is_locked(open_lock_file(store_path));
}

bool OwnerLock::is_opening(const std::string& store_path) {
  const Descriptor file = open_lock_file(store_path);
  return is_locked(file) && process_of(file) == 0;
}

}  // namespace tenon::journal::sqlite
