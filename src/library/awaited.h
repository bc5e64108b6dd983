#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

namespace tenon::library {

/// What a thread waits for, until another one gives it or none ever will.
class Awaited {
 public:
  Awaited() = default;
  virtual ~Awaited() = default;
  Awaited(const Awaited&) = delete;
  Awaited& operator=(const Awaited&) = delete;

  /// No one gives it any more. Any thread.
  void give_up() {
    const std::scoped_lock lock(mutex_);
    is_given_up_ = true;
    changed_.notify_all();
  }

 protected:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_given_up_ = false;
};

template <class Given>
class AwaitedValue final : public Awaited {
 public:
  /// Once. Any thread.
  void give(Given given) {
    const std::scoped_lock lock(mutex_);
    given_.emplace(std::move(given));
    changed_.notify_all();
  }
  /// Nothing if the time is over, or it was given up.
  [[nodiscard]] std::optional<Given> wait(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [this] { return given_.has_value() || is_given_up_; });
    return std::exchange(given_, std::nullopt);
  }

 private:
  std::optional<Given> given_;
};

}  // namespace tenon::library
