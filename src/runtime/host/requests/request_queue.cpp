#include "runtime/host/requests/request_queue.h"

#include <utility>

namespace tenon::runtime {

HostFailure RequestQueue::stopping() {
  return {HostFailure::Kind::Unavailable, "the server is stopping; send it again when it is back"};
}

std::optional<HostFailure> RequestQueue::add(Request request) {
  const std::scoped_lock lock(mutex_);
  if (ending_) return stopping();
  if (requests_.size() >= requests_max_) {
    return HostFailure{HostFailure::Kind::Unavailable, "too many requests wait; send it again in a while"};
  }
  requests_.push_back(std::move(request));
  return std::nullopt;
}

void RequestQueue::end(std::chrono::milliseconds grace) {
  const std::scoped_lock lock(mutex_);
  if (!ending_) ending_ = grace;
}

RequestQueue::Taken RequestQueue::take() {
  const std::scoped_lock lock(mutex_);
  return {std::exchange(requests_, {}), ending_};
}

}  // namespace tenon::runtime
