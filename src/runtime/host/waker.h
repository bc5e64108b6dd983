#pragma once

#include <chrono>

namespace tenon::runtime {

/// Ends the wait of one thread from any other. A call that comes before the wait ends the next one.
class Waker {
 public:
  Waker();
  ~Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  /// From any thread.
  void wake() const;
  /// Returns after `wake`, or when the time is over.
  void wait(std::chrono::milliseconds time) const;
  /// Forgets earlier calls of `wake`.
  void clear() const;
  /// Readable from `wake` until `wait` or `clear`: for callers that wait for several things. Not to be read.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  const int descriptor_;
};

}  // namespace tenon::runtime
