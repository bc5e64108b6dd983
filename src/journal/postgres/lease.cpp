#include "journal/postgres/lease.h"

#include <poll.h>
#include <time.h>

namespace tenon::journal::postgres {

std::chrono::nanoseconds Lease::now() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void Lease::hold(int descriptor, std::chrono::nanoseconds until) {
  const std::scoped_lock lock(mutex_);
  descriptor_ = descriptor;
  until_ns_ = until.count();
  is_lost_ = false;
}

void Lease::suspend() {
  const std::scoped_lock lock(mutex_);
  descriptor_ = -1;
}

void Lease::lose() {
  const std::scoped_lock lock(mutex_);
  descriptor_ = -1;
  is_lost_ = true;
}

LeaseState Lease::state() const {
  if (is_lost_) return LeaseState::Lost;
  if (now().count() >= until_ns_) return LeaseState::Suspended;
  const std::scoped_lock lock(mutex_);  // the descriptor is not closed meanwhile
  if (descriptor_ < 0) return LeaseState::Suspended;
  pollfd connection{descriptor_, POLLRDHUP, 0};
  if (::poll(&connection, 1, 0) < 0) return LeaseState::Suspended;
  return (connection.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) == 0 ? LeaseState::Held
                                                                                : LeaseState::Suspended;
}

}  // namespace tenon::journal::postgres
