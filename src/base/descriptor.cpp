#include "base/descriptor.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace tenon {

void Descriptor::reset() {
  if (!is_open()) return;
  const int code = errno;
  ::close(std::exchange(number_, -1));
  errno = code;
}

void reserve_descriptors() {
  if (!__libc_single_threaded) return;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == 0) return;
  const Descriptor any(::eventfd(0, EFD_CLOEXEC));
  if (!any.is_open()) return;
  // The table grows to the highest number that was ever used, and does not shrink.
  const rlim_t highest = std::min<rlim_t>(limit.rlim_cur, reserved_descriptors) - 1;
  const Descriptor last(::fcntl(any.number(), F_DUPFD_CLOEXEC, static_cast<int>(highest)));
}

bool write_all(const Descriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace tenon
