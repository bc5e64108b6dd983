#pragma once

#include <chrono>

#include "base/descriptor.h"

namespace tenon {

/// Ends the wait of one thread from any other. A call that comes before the wait ends the next one.
class Waker final {
 public:
  Waker();

  /// False if the process has too many open files. Then it must not be used.
  [[nodiscard]] bool is_open() const { return descriptor_.is_open(); }
  /// From any thread and from signal handlers.
  void wake() const;
  /// Returns after `wake`, or when the time is over.
  void wait(std::chrono::milliseconds time) const;
  /// Forgets earlier calls of `wake`.
  void clear() const;
  /// Readable from `wake` until `wait` or `clear`: for callers that wait for several things. Not to be read.
  [[nodiscard]] int descriptor() const { return descriptor_.number(); }

 private:
  const Descriptor descriptor_;
};

}  // namespace tenon
