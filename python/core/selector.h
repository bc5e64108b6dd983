#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

#include "core/waiting.h"

namespace tenon::python {

/// What the event loop of a thread of the package waits with: pairs of a descriptor and its events (`EPOLL…`), at most
/// `count`, of a descriptor of epoll. The lock is only released for a wait, and passed on to the thread that waits for
/// what the loop has completed.
[[nodiscard]] nanobind::list select_events(int epoll, Timeout timeout, std::size_t count);

}  // namespace tenon::python
