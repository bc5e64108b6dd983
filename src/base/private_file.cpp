#include "base/private_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/descriptor.h"

namespace tenon {
namespace {

constexpr std::size_t private_file_bytes_max = 4'096;

}  // namespace

Result<std::string, FileError> read_private_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return failure(last_file_error());
  if ((status.st_mode & 077U) != 0) {
    return failure(FileError{
        fmt::format("other users can access it (mode {:04o}); run `chmod 600` on it", status.st_mode & 07777U), false,
        0});
  }
  return RealFileSystem().read_file(path, private_file_bytes_max);
}

Result<void, FileError> create_private_file(const std::string& path, std::string_view text,
                                            const std::string& belongs_to) {
  const std::string draft = fmt::format("{}.{}.new", path, ::getpid());
  Descriptor file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!file.is_open()) return failure(last_file_error());
  Result<void, FileError> made;
  struct stat beside {};
  const bool has_other_user = !belongs_to.empty() && ::stat(belongs_to.c_str(), &beside) == 0 && ::geteuid() == 0;
  if (has_other_user && ::fchown(file.number(), beside.st_uid, beside.st_gid) != 0) made = failure(last_file_error());
  if (!write_all(file, text) || ::fsync(file.number()) != 0) made = failure(last_file_error());
  file.reset();
  // A hard link instead of a rename: it never replaces an existing file.
  if (made && ::link(draft.c_str(), path.c_str()) != 0 && errno != EEXIST) made = failure(last_file_error());
  ::unlink(draft.c_str());
  if (!made) return made;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor directory(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.is_open()) ::fsync(directory.number());
  return made;
}

}  // namespace tenon
