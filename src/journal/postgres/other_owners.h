#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>

#include "journal/postgres/owner_rows.h"

namespace tenon::journal::postgres {

/// What an owner does about the others: it looks from time to time which of them are dead, marks those, and ends their
/// sessions, which may hold locks. Times are those of Lease::now. Used by one thread.
class OtherOwners {
 public:
  OtherOwners(std::int64_t store, std::int64_t self) : store_(store), self_(self) {}

  /// Does what is due. Returns how many have departed: they have left, or are dead and have no sessions any more.
  [[nodiscard]] Result<std::size_t, SessionError> look(Session& session, std::chrono::nanoseconds now);
  /// When `look` has something to do again.
  [[nodiscard]] std::chrono::nanoseconds next_look() const;
  /// One has joined or departed: the next look is due.
  void look_soon() { see_at_ = {}; }
  /// Whether no owner is suspected to be dead, and none that was marked has sessions.
  [[nodiscard]] bool are_settled() const { return !has_suspects_ && ending_.empty(); }

 private:
  [[nodiscard]] Result<std::size_t, SessionError> see(Session& session, std::chrono::nanoseconds now);
  [[nodiscard]] Result<void, SessionError> end_marked(Session& session, std::chrono::nanoseconds now);

  const std::int64_t store_;
  const std::int64_t self_;
  std::set<std::int64_t> known_;                             ///< that had not ended
  std::map<std::int64_t, std::chrono::nanoseconds> ending_;  ///< marked ones, and until when their sessions are ended
  bool has_suspects_ = false;
  std::chrono::nanoseconds see_at_{};
  std::chrono::nanoseconds end_at_{};
};

/// How often an owner looks at the others when there are some. With many owners each looks less often: one of them is
/// enough to find a dead one.
inline constexpr std::chrono::milliseconds look_interval{100};
inline constexpr std::chrono::milliseconds look_interval_max{1'000};

}  // namespace tenon::journal::postgres
