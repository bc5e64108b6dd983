#include "journal/sqlite/owner_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace tenon::journal::sqlite {
namespace {

/// What the file says; an owner that has the lock but has not yet written is unknown.
std::string owner_of(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t size = pread(descriptor, text.data(), text.size(), 0);
  long process = 0;
  if (size <= 0 || std::from_chars(text.data(), text.data() + size, process).ec != std::errc{})
    return "another process";
  if (process == static_cast<long>(getpid())) return "this process";
  return fmt::format("process {}", process);
}

}  // namespace

Result<OwnerLock, StoreError> OwnerLock::acquire(const std::string& store_path) {
  const std::string path = store_path + ".lock";
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    const int code = errno;
    const bool is_denied = code == EACCES || code == EPERM || code == EROFS;
    return failure(StoreError{code == ENOSPC ? StoreError::Kind::Full
                              : is_denied    ? StoreError::Kind::Denied
                                             : StoreError::Kind::Missing,
                              fmt::format("{}: {}", path, std::strerror(code))});
  }
  OwnerLock lock(descriptor);
  // A lock of the open file: two stores of one process exclude each other too, and closing another descriptor of the
  // file does not give it up.
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (fcntl(descriptor, F_OFD_SETLK, &whole) != 0) {
    const int code = errno;
    if (code == EAGAIN || code == EACCES)
      return failure(StoreError{StoreError::Kind::InUse,
                                fmt::format("{}: the store is in use by {}", store_path, owner_of(descriptor))});
    return failure(StoreError{StoreError::Kind::Broken, fmt::format("{}: {}", path, std::strerror(code))});
  }
  // As long as any other, so that the file need not be cut. Only for people: an owner whose id could not be written
  // owns the store all the same.
  const std::string process = fmt::format("{:<10}\n", getpid());
  static_cast<void>(pwrite(descriptor, process.data(), process.size(), 0) == 0);
  return lock;
}

bool OwnerLock::is_held(const std::string& store_path) {
  const int descriptor = open((store_path + ".lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  const bool is_held = fcntl(descriptor, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
  close(descriptor);
  return is_held;
}

OwnerLock::~OwnerLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace tenon::journal::sqlite
