#include "core/selector.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <vector>

#include "core/gil.h"

namespace tenon::python {
namespace {

int rounded_up(Timeout timeout) {
  if (!timeout) return -1;
  constexpr double longest = std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp(std::ceil(*timeout * 1000), 0.0, longest));
}

}  // namespace

nb::list select_events(int epoll, Timeout timeout, std::size_t count) {
  std::vector<epoll_event> events(std::clamp<std::size_t>(count, 1, std::numeric_limits<int>::max()));
  int found = 0;
  int error = 0;
  const auto select = [&](int milliseconds) {
    found = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), milliseconds);
    error = found < 0 ? errno : 0;
    return found != 0;
  };
  const int milliseconds = rounded_up(timeout);
  if (milliseconds == 0) {
    select(0);
    note_release();
  } else {
    static_cast<void>(wait_released([&] { return select(0); }, [&] { select(milliseconds); }));
  }
  if (error != 0 && error != EINTR) {
    errno = error;
    PyErr_SetFromErrno(PyExc_OSError);
    throw nb::python_error();
  }
  nb::list ready;
  for (int at = 0; at < found; ++at) {
    const epoll_event& event = events[static_cast<std::size_t>(at)];
    ready.append(nb::make_tuple(static_cast<int>(event.data.fd), static_cast<std::uint32_t>(event.events)));
  }
  return ready;
}

}  // namespace tenon::python
