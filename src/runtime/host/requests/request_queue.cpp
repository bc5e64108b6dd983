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

std::optional<std::chrono::milliseconds> RequestQueue::take() {
  const std::scoped_lock lock(mutex_);
  taken_ = std::exchange(requests_, {});
  return ending_;
}

std::optional<RequestQueue::Request> RequestQueue::next() {
  if (taken_.empty()) return std::nullopt;
  Request request = std::move(taken_.front());
  taken_.pop_front();
  return request;
}

void RequestQueue::refuse_all(const HostFailure& why) {
  end(std::chrono::milliseconds{0});
  while (const auto request = next()) request->reply(failure(why));
  static_cast<void>(take());
  while (const auto request = next()) request->reply(failure(why));
}

}  // namespace tenon::runtime
