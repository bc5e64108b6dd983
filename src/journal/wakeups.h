#pragma once

#include <functional>
#include <memory>

namespace tenon::journal {

/// Ends the subscription when it is destroyed: no call is made afterwards.
class Subscription {
 public:
  virtual ~Subscription() = default;
};

/// How processes that share a store notice that there is something for them. A notice may come too often, and it may be
/// lost, so a subscriber also looks from time to time by itself. Any thread.
class Wakeups {
 public:
  virtual ~Wakeups() = default;
  /// Calls `notify` soon after any process has announced something, on another thread. Null where the system offers no
  /// way to notice it.
  [[nodiscard]] virtual std::unique_ptr<Subscription> subscribe(std::function<void()> notify) = 0;
  /// There is something in the inbox, and it is durable. One call may be for many commands.
  virtual void announce() = 0;
};

}  // namespace tenon::journal
