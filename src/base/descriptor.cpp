#include "base/descriptor.h"

#include <unistd.h>

#include <cerrno>

namespace tenon {

void Descriptor::reset() {
  if (!is_open()) return;
  const int code = errno;
  ::close(std::exchange(number_, -1));
  errno = code;
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
