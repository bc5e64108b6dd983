#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "journal/store.h"

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
  /// What there is for an owner.
  enum class Notice : std::uint8_t {
    Any,      ///< may be anything: a command, a reply, or runs that have lost their owner
    Command,  ///< a command
    Reply,    ///< a reply to one of its commands
  };
  /// Calls `notify` on another thread, soon after there is something for this owner. Null where the system offers no
  /// way to notice it.
  [[nodiscard]] virtual std::unique_ptr<Subscription> subscribe(std::function<void(Notice)> notify) = 0;

  /// What happens to a run that another owner continues.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    /// The run may have new records. On another thread, as the next.
    virtual void on_changed() = 0;
    /// What the owner has published for it. Messages may be lost; those that arrive are in order.
    virtual void on_message(std::string_view message) = 0;
  };
  /// Calls the watcher, which outlives the subscription. Null where no other process can own a run.
  [[nodiscard]] virtual std::unique_ptr<Subscription> watch(const RunName& run, Watcher& watcher) = 0;

  /// Which runs of the store other owners change.
  class StoreWatcher {
   public:
    virtual ~StoreWatcher() = default;
    /// The run may have new records. On another thread, as the next.
    virtual void on_changed(const RunName& run) = 0;
    /// Other runs have changed, too: too many, or their notices were lost.
    virtual void on_missed() = 0;
  };
  /// Calls the watcher, which outlives the subscription, within a second from now on. Null where no other process can
  /// own a run.
  [[nodiscard]] virtual std::unique_ptr<Subscription> watch_all(StoreWatcher& /*watcher*/) { return nullptr; }

  /// Whether an owner elsewhere would receive what is published for this run.
  [[nodiscard]] virtual bool is_watched(const RunName& run) = 0;
  /// Calls `notify` on another thread when an owner elsewhere has begun to watch a run: what was published before has
  /// not reached it. An empty one ends that: no call is made afterwards.
  virtual void on_watched(std::function<void(const RunName& run)> /*notify*/) {}
  /// Passes a message to the watchers of a run of this owner, soon after those before.
  virtual void publish(const RunName& run, std::string message) = 0;
};

}  // namespace tenon::journal
