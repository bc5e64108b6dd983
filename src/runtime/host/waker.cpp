#include "runtime/host/waker.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "base/ensure.h"

namespace tenon::runtime {

Waker::Waker() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  ENSURE(descriptor_ >= 0);
}

Waker::~Waker() {
  close(descriptor_);
}

void Waker::wake() const {
  static_cast<void>(eventfd_write(descriptor_, 1));
}

void Waker::clear() const {
  eventfd_t count = 0;
  static_cast<void>(eventfd_read(descriptor_, &count));
}

void Waker::wait(std::chrono::milliseconds time) const {
  pollfd waited{descriptor_, POLLIN, 0};
  const auto milliseconds = std::clamp<std::chrono::milliseconds::rep>(time.count(), 0, INT_MAX);
  static_cast<void>(poll(&waited, 1, static_cast<int>(milliseconds)));
  clear();
}

}  // namespace tenon::runtime
