#pragma once

namespace tenon::library {

/// While it exists, this thread is within a function of the embedding program that the engine or the host `owner`
/// calls.
class CallbackScope final {
 public:
  explicit CallbackScope(const void* owner) : owner_(owner), outer_(innermost) { innermost = this; }
  ~CallbackScope() { innermost = outer_; }
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

  [[nodiscard]] static bool is_within(const void* owner) {
    const CallbackScope* scope = innermost;
    while (scope != nullptr && scope->owner_ != owner) scope = scope->outer_;
    return scope != nullptr;
  }

 private:
  static inline thread_local const CallbackScope* innermost = nullptr;

  const void* const owner_;
  const CallbackScope* const outer_;
};

}  // namespace tenon::library
