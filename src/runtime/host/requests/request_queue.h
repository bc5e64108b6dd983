#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "runtime/host/requests/host_reply.h"

namespace tenon::runtime {

/// What other threads ask a host for, in their order, until the host ends. Any thread, except where it says `Host's`.
class RequestQueue {
 public:
  struct Request {
    std::function<void()> perform;
    OnReply reply;  ///< called if it is not performed
  };

  explicit RequestQueue(std::size_t requests_max) : requests_max_(requests_max) {}

  /// Returns why the request is refused; nothing: it will be taken.
  [[nodiscard]] std::optional<HostFailure> add(Request request);
  /// From now on requests are refused. `grace`: for effects in progress; only the first call counts.
  void end(std::chrono::milliseconds grace);

  /// Takes what has been added. Returns what was given to `end`; nothing: the host continues. Host's thread.
  [[nodiscard]] std::optional<std::chrono::milliseconds> take();
  /// The next one that was taken. Host's thread.
  [[nodiscard]] std::optional<Request> next();
  /// Refuses all that are left, and those that are added later. Host's thread, or any after its end.
  void refuse_all(const HostFailure& why);

  /// Why a request is refused while the host ends.
  [[nodiscard]] static HostFailure stopping();

 private:
  const std::size_t requests_max_;
  std::mutex mutex_;
  std::deque<Request> requests_;
  std::deque<Request> taken_;  ///< used by the host's thread
  std::optional<std::chrono::milliseconds> ending_;
};

}  // namespace tenon::runtime
