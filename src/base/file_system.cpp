#include "base/file_system.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/descriptor.h"

namespace tenon {

FileError last_file_error() {
  const int code = errno;
  return {std::generic_category().message(code), code == ENOENT || code == ENOTDIR, 0};
}

Result<std::string, FileError> RealFileSystem::read_file(const std::string& path, std::size_t bytes_max) {
  // Non-blocking: a named pipe without a writer must not hang the compiler.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return failure(last_file_error());
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) return failure(last_file_error());
  if (S_ISDIR(status.st_mode)) return failure(FileError{"it is a folder", false, 0});
  // A pipe has no size and may never end.
  if (!S_ISREG(status.st_mode)) return failure(FileError{"it is not a regular file", false, 0});
  if (static_cast<std::size_t>(status.st_size) > bytes_max) {
    return failure(FileError{fmt::format("it has {} bytes; the maximum is {}", status.st_size, bytes_max), false,
                             static_cast<std::size_t>(status.st_size)});
  }
  std::string text;
  for (;;) {
    constexpr std::size_t block = 64 * 1024;
    const std::size_t before = text.size();
    text.resize(before + block);
    const ssize_t got = ::read(file.number(), text.data() + before, block);
    if (got < 0 && errno == EINTR) {
      text.resize(before);
      continue;
    }
    if (got < 0) return failure(last_file_error());
    text.resize(before + static_cast<std::size_t>(got));
    if (text.size() > bytes_max) {
      return failure(FileError{fmt::format("it has more than {} bytes, the most", bytes_max), false, text.size()});
    }
    if (got == 0) return text;
  }
}

}  // namespace tenon
