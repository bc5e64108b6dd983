#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "runtime/host/requests/host_reply.h"

namespace tenon::runtime {

/// What other threads ask a host for, in their order, until the host ends. Any thread.
class RequestQueue {
 public:
  using Request = std::function<void()>;

  explicit RequestQueue(std::size_t requests_max) : requests_max_(requests_max) {}

  /// Returns why the request is refused; nothing: it will be taken.
  [[nodiscard]] std::optional<HostFailure> add(Request request);
  /// From now on requests are refused. `grace`: for effects in progress; only the first call counts.
  void end(std::chrono::milliseconds grace);

  struct Taken {
    std::deque<Request> requests;
    std::optional<std::chrono::milliseconds> ending;  ///< as given to `end`; nothing: the host continues
  };
  [[nodiscard]] Taken take();

  /// Why a request is refused while the host ends.
  [[nodiscard]] static HostFailure stopping();

 private:
  const std::size_t requests_max_;
  std::mutex mutex_;
  std::deque<Request> requests_;
  std::optional<std::chrono::milliseconds> ending_;
};

}  // namespace tenon::runtime
