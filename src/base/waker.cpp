#include "base/waker.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <climits>

namespace tenon {

Waker::Waker() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Waker::wake() const {
  static_cast<void>(::eventfd_write(descriptor_.number(), 1));  // fails only if the counter is full, which wakes, too
}

void Waker::clear() const {
  eventfd_t count = 0;
  static_cast<void>(::eventfd_read(descriptor_.number(), &count));
}

void Waker::wait(std::chrono::milliseconds time) const {
  pollfd waited{descriptor_.number(), POLLIN, 0};
  const auto milliseconds = std::clamp<std::chrono::milliseconds::rep>(time.count(), 0, INT_MAX);
  static_cast<void>(::poll(&waited, 1, static_cast<int>(milliseconds)));
  clear();
}

}  // namespace tenon
