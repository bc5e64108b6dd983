#include "journal/postgres/other_owners.h"

#include <algorithm>
#include <vector>

#include "journal/postgres/channels.h"
#include "journal/postgres/notice_sending.h"

namespace tenon::journal::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds look_interval_per_owner{10};
/// Between looks whether the sessions of a marked owner have ended, and how long that may take.
constexpr milliseconds end_interval{5};
constexpr milliseconds end_time_max{2'000};

}  // namespace

nanoseconds OtherOwners::next_look() const {
  return ending_.empty() ? see_at_ : std::min(see_at_, end_at_);
}

Result<std::size_t, SessionError> OtherOwners::look(Session& session, nanoseconds now) {
  if (!ending_.empty() && end_at_ <= now)
    if (auto done = end_marked(session, now); !done) return failure(done.error());
  if (see_at_ > now) return 0;
  return see(session, now);
}

Result<std::size_t, SessionError> OtherOwners::see(Session& session, nanoseconds now) {
  const auto others = see_others(session, store_, self_);
  if (!others) return failure(others.error());
  std::vector<std::int64_t> suspects;
  std::set<std::int64_t> present;
  milliseconds wait =
      std::clamp(look_interval_per_owner * static_cast<std::int64_t>(others->size()), look_interval, look_interval_max);
  if (others->empty()) wait = look_interval_max;
  for (const SeenOwner& other : *others) {
    present.insert(other.id);
    if (other.is_suspect) suspects.push_back(other.id);
    // The owner that has marked it may have died since.
    if (other.is_marked_long) ending_.try_emplace(other.id, now + end_time_max);
    if (other.is_suspect) wait = std::min(wait, std::max(missing_grace - milliseconds(other.missing_ms), end_interval));
  }
  if (!suspects.empty()) {
    const auto marked = mark_dead(session, store_, suspects);
    if (!marked) return failure(marked.error());
    for (const std::int64_t id : *marked) ending_.try_emplace(id, now + end_time_max);
    has_suspects_ = marked->size() < suspects.size();
  } else {
    has_suspects_ = false;
  }
  std::vector<std::int64_t> departed;
  std::ranges::set_difference(known_, present, std::back_inserter(departed));
  known_ = std::move(present);
  see_at_ = now + wait;
  end_at_ = now;
  return departed.size();
}

Result<void, SessionError> OtherOwners::end_marked(Session& session, nanoseconds now) {
  end_at_ = now + end_interval;
  bool has_ended = false;
  for (auto owner = ending_.begin(); owner != ending_.end();) {
    const auto left = end_sessions(session, application_name_of(store_, owner->first));
    if (!left && left.error().kind != SessionError::Kind::Rejected) return failure(left.error());
    if (!(left && *left == 0) && now < owner->second) {
      ++owner;
      continue;
    }
    if (auto done = note_ended(session, owner->first); !done) return done;
    owner = ending_.erase(owner);
    has_ended = true;
  }
  if (!has_ended) return {};
  see_at_ = now;
  return notify(session, {{owners_channel(store_), "gone"}});
}

}  // namespace tenon::journal::postgres
