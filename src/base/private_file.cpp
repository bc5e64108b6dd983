#include "base/private_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace tenon {
namespace {

constexpr std::size_t private_file_bytes_max = 4'096;

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(file) == 0;
}

}  // namespace

Result<std::string, FileError> read_private_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return failure(last_file_error());
  if ((status.st_mode & 077U) != 0) {
    return failure(FileError{
        fmt::format("others may use it (mode {:04o}); `chmod 600` makes it yours alone", status.st_mode & 07777U),
        false, 0});
  }
  return RealFileSystem().read_file(path, private_file_bytes_max);
}

Result<void, FileError> create_private_file(const std::string& path, std::string_view text) {
  const std::string draft = fmt::format("{}.{}.new", path, ::getpid());
  const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (file < 0) return failure(last_file_error());
  Result<void, FileError> made;
  if (!write_all(file, text)) made = failure(last_file_error());
  ::close(file);
  // A hard link instead of a rename: it never replaces an existing file.
  if (made && ::link(draft.c_str(), path.c_str()) != 0 && errno != EEXIST) made = failure(last_file_error());
  ::unlink(draft.c_str());
  if (!made) return made;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int directory = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
  return made;
}

}  // namespace tenon
