#pragma once

#include <cstdint>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "base/waker.h"

namespace tenon::tools {

/// What any thread orders from the one that starts processes and looks after them. `Job` has a `number`.
template <class Job>
class ProcessOrders final {
 public:
  ProcessOrders() { ENSURE(waker_.is_open()); }

  /// Returns the number by which the job can be given up.
  std::uint64_t add(Job job) {
    std::uint64_t number = 0;
    {
      const std::scoped_lock lock(mutex_);
      number = next_number_++;
      job.number = number;
      jobs_.push_back(std::move(job));
    }
    waker_.wake();
    return number;
  }
  void give_up(std::uint64_t number) {
    {
      const std::scoped_lock lock(mutex_);
      given_up_.push_back(number);
    }
    waker_.wake();
  }
  void stop() {
    {
      const std::scoped_lock lock(mutex_);
      stops_ = true;
    }
    waker_.wake();
  }

  struct Taken {
    std::vector<Job> jobs;
    std::vector<std::uint64_t> given_up;
    bool stops = false;  ///< true from `stop` on
  };
  [[nodiscard]] Taken take() {
    const std::scoped_lock lock(mutex_);
    return {std::exchange(jobs_, {}), std::exchange(given_up_, {}), stops_};
  }
  /// Awake when there is something to take.
  [[nodiscard]] const Waker& waker() const { return waker_; }

 private:
  const Waker waker_;
  std::mutex mutex_;
  std::uint64_t next_number_ = 1;
  std::vector<Job> jobs_;
  std::vector<std::uint64_t> given_up_;
  bool stops_ = false;
};

}  // namespace tenon::tools
