#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/waker.h"
#include "journal/postgres/connection.h"
#include "journal/postgres/lease.h"
#include "journal/postgres/other_owners.h"
#include "journal/postgres/store_watches.h"

namespace tenon::journal::postgres {

/// Keeps a process an owner of its store, on a thread and a session of its own: renews the lease, looks whether others
/// are dead, and receives and sends notices. The session holds the owner's lock.
class Keeper {
 public:
  /// The connection outlives it.
  explicit Keeper(Connection& connection);
  /// Leaves the store, if the server can be reached.
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// Joins the store as a new owner: at the beginning, and when the lease was lost. Owners that are dead have been
  /// marked when it returns. Not on two threads at once.
  [[nodiscard]] Result<void, StoreError> join();

  // Any thread.
  [[nodiscard]] LeaseState lease() const { return lease_.state(); }
  void report_load(std::uint64_t runs) { runs_ = runs; }
  [[nodiscard]] std::uint64_t abandonments() const { return abandonments_; }
  [[nodiscard]] std::uint64_t given() const { return given_count_; }
  /// The runs that others said they have given to this owner, since the last call.
  [[nodiscard]] std::vector<RunName> take_given();
  /// As Wakeups::subscribe.
  [[nodiscard]] std::unique_ptr<Subscription> subscribe(std::function<void(Wakeups::Notice)> notify);
  [[nodiscard]] Watches& watches() { return watches_; }
  /// These runs have moved: the hosts that they were given to are notified soon, or all of a pool without one.
  void announce_moves(const std::vector<RunName>& runs);

 private:
  using Done = Result<void, SessionError>;
  using Time = std::chrono::nanoseconds;  ///< of Lease::now
  class Listener;

  /// An owner that has just joined, on its way to the thread.
  struct Joined {
    std::int64_t owner = 0;
    std::unique_ptr<ServerLink> link;
    Session* session = nullptr;  ///< of the link
    std::unique_ptr<OtherOwners> others;
  };

  void keep();
  void take_joined();
  /// Does everything that is due. The session is lost when it fails.
  [[nodiscard]] Done work(Session& session);
  [[nodiscard]] Done set_up(Session& session, std::int64_t owner) const;
  [[nodiscard]] Done renew_lease(Session& session);
  /// Connects again, and renews the lease if no other owner has marked this one meanwhile.
  void try_to_return();
  void on_connection_lost();
  void on_marked();
  [[nodiscard]] Done take_notices(Session& session);
  void on_notice(const Notification& notice);
  [[nodiscard]] Done send_moves(Session& session);
  [[nodiscard]] Done send_notices(Session& session);
  [[nodiscard]] Done look_at_watched(Session& session);
  [[nodiscard]] Done clean(Session& session);
  void hold_lease(const Session& session, Time asked_at);
  void on_abandoned(std::uint64_t count);
  void on_given(std::vector<RunName> runs);
  void notify_listeners(Wakeups::Notice notice = Wakeups::Notice::Any);
  [[nodiscard]] Time next_work() const;
  void wait() const;

  Connection& connection_;
  const std::chrono::milliseconds lease_time_;
  Lease lease_;
  std::atomic<std::uint64_t> runs_{0};
  std::atomic<std::uint64_t> abandonments_{0};
  Waker waker_;
  Watches watches_{[this] { waker_.wake(); }};

  std::mutex listeners_mutex_;  ///< held while they are called, so that none is called after its end
  std::list<std::function<void(Wakeups::Notice)>> listeners_;

  std::mutex moves_mutex_;
  std::vector<RunName> moves_;  ///< runs that have moved, to be announced
  std::vector<RunName> given_;  ///< that were given to this owner
  std::atomic<std::uint64_t> given_count_{0};

  std::mutex joined_mutex_;
  std::optional<Joined> joined_;

  // The thread's.
  std::int64_t owner_ = 0;
  std::unique_ptr<ServerLink> link_;
  std::unique_ptr<OtherOwners> others_;
  Session* session_ = nullptr;  ///< of `link_`; null while it is lost
  Time renew_at_{}, return_at_{}, look_at_watched_at_{}, clean_at_{}, send_at_{}, sent_at_{}, pause_until_{};
  std::uint32_t returns_ = 0;  ///< attempts

  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace tenon::journal::postgres
