#include "runtime/host/run_schedule.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace tenon::runtime {
namespace {

/// Runs that are loaded at the same time.
constexpr std::size_t loads_max = 32;
/// Interrupted runs that are claimed at the same time.
constexpr std::size_t claims_max = 128;
/// How often the next time is looked for in a store with other owners.
constexpr std::int64_t next_due_interval_ms = 1'000;
/// How often a store with other owners is searched for interrupted runs without a reason.
constexpr std::int64_t claim_interval_ms = 5'000;
/// The wait after a run could not continue, or a due one did not. While the disk is full the waits grow.
constexpr std::int64_t retry_ms = 1'000;
constexpr std::int64_t retry_ms_max = 60'000;
constexpr std::int64_t due_again_ms = 20;

}  // namespace

void RunSchedule::begin() {
  is_claim_due_ = true;
  claim_interrupted();
}

/// Not many more than are loaded at once, so that several owners share them.
bool RunSchedule::may_claim() const {
  return is_claim_due_ && !is_claiming_ && interrupted_.size() + loading_ < claims_max / 2;
}

void RunSchedule::claim_interrupted() {
  is_claiming_ = true;
  abandonments_ = ownership().abandonments();
  given_ = ownership().given();
  claim_at_ = parts_.now_ms() + claim_interval_ms;
  using Heads = Result<std::vector<journal::RunHead>, journal::StoreError>;
  const auto heads = std::make_shared<Heads>();
  parts_.store.write(
      [heads, except = parts_.loader.given_back()](journal::StoreConnection& store) {
        *heads = store.ownership().claim_abandoned(claims_max, except);
      },
      [this, heads, term = parts_.loader.term()] {
        is_claiming_ = false;
        if (!*heads) return on_read_failed(heads->error());
        is_claim_due_ = (*heads)->size() == claims_max;
        for (journal::RunHead& head : **heads) {
          interrupted_.emplace(0, head.run);
          parts_.loader.add_claimed(std::move(head), term);
        }
      });
}

/// What could not be read is read again in a while.
void RunSchedule::on_read_failed(const journal::StoreError& error) {
  report_problem(error.message);
  read_not_before_ = parts_.now_ms() + retry_ms;
}

void RunSchedule::poll() {
  add_due_released();
  load_interrupted();
  const bool may_read = read_not_before_ <= parts_.now_ms();
  const bool has_lost_owner = ownership().abandonments() != abandonments_;
  const bool was_given = ownership().given() != given_;
  if (has_lost_owner || was_given || (!ownership().is_sole() && claim_at_ <= parts_.now_ms())) is_claim_due_ = true;
  if (may_claim() && may_read) claim_interrupted();
  // Other owners give up runs that wait for a time.
  if (has_lost_owner || (!ownership().is_sole() && next_due_at_ <= parts_.now_ms())) is_next_due_known_ = false;
  if (is_reading_due_ || !may_read) return;
  if (due_pass_.may_restart() && due_pass_.retry_at.value_or(0) <= parts_.now_ms()) restart_due_pass();
  if (!is_next_due_known_) return read_next_due();
  const std::int64_t wall = parts_.wall_ms();
  if (next_due_ && *next_due_ <= wall && due_not_before_ <= parts_.now_ms()) read_due(wall);
}

/// Runs that this host has released are due by its own clock, whatever the wall clock says.
void RunSchedule::add_due_released() {
  for (const journal::RunName& run : parts_.runtime.take_due_released()) interrupted_.emplace(0, run);
}

/// While the disk is full, when it may be tried again whether there is room.
std::int64_t RunSchedule::load_not_before() const {
  const std::int64_t first = interrupted_.begin()->first;
  return room_wait_ms_ > 0 && !has_room_ ? std::max(first, check_room_at_) : first;
}

std::optional<std::chrono::milliseconds> RunSchedule::time_to_next() const {
  std::optional<std::int64_t> next;
  const auto add = [&](std::int64_t time) { next = std::min(time, next.value_or(time)); };
  if (!interrupted_.empty() && loading_ < loads_max && !is_checking_room_) add(load_not_before());
  if (may_claim()) add(read_not_before_);
  if (!ownership().is_sole() && !is_claiming_) add(claim_at_);
  if (!ownership().is_sole() && !is_reading_due_) add(std::max(next_due_at_, read_not_before_));
  if (!is_reading_due_ && !is_next_due_known_) add(read_not_before_);
  if (!is_reading_due_ && due_pass_.may_restart()) add(std::max(due_pass_.retry_at.value_or(0), read_not_before_));
  const std::int64_t now = parts_.now_ms();
  if (!is_reading_due_ && next_due_) {
    add(std::max({now + std::max<std::int64_t>(*next_due_ - parts_.wall_ms(), 0), due_not_before_, read_not_before_}));
  }
  if (const auto released = parts_.runtime.time_to_released()) add(now + released->count());
  if (!next) return std::nullopt;
  return std::chrono::milliseconds(std::max<std::int64_t>(*next - now, 0));
}

void RunSchedule::load_interrupted() {
  const std::int64_t now = parts_.now_ms();
  if (interrupted_.empty() || is_checking_room_ || load_not_before() > now) return;
  if (room_wait_ms_ > 0 && !std::exchange(has_room_, false)) {
    skip_claimed();
    if (!interrupted_.empty()) check_room();
    return;
  }
  // One that cannot be loaded comes again after those that have not been tried.
  while (!interrupted_.empty() && interrupted_.begin()->first <= now && loading_ < loads_max) {
    load_one(interrupted_.extract(interrupted_.begin()).mapped());
  }
}

void RunSchedule::load_one(const journal::RunName& run) {
  ++loading_;
  parts_.loader.load(run, [this, run](const auto& loaded) { on_interrupted_loaded(run, loaded); });
}

/// Takes the runs that a request has brought into memory, or is loading, from the queue: another claim would make their
/// appends stale.
void RunSchedule::skip_claimed() {
  for (auto at = interrupted_.begin(); at != interrupted_.end();) {
    const bool is_loading = parts_.loader.is_loading(at->second);
    if (is_loading) load_one(at->second);
    at = is_loading || parts_.residents.find(at->second) ? interrupted_.erase(at) : std::next(at);
  }
}

/// Whether the store can write again, which an append without records shows.
void RunSchedule::check_room() {
  is_checking_room_ = true;
  const auto has_room = std::make_shared<bool>(true);
  const auto claimed = std::make_shared<std::optional<journal::RunHead>>();
  parts_.store.write(
      [has_room, claimed, run = interrupted_.begin()->second](journal::StoreConnection& store) {
        const auto head = claim_run(store.journals(), run);
        if (!head) return;  // loading it reports why
        *claimed = *head;
        journal::Append nothing_new;
        nothing_new.run = run;
        nothing_new.epoch = head->epoch;
        nothing_new.first = head->records + 1;
        nothing_new.summary = head->summary;
        const auto committed = store.journals().commit({&nothing_new, 1});
        *has_room = committed.has_value() || committed.error().kind != journal::StoreError::Kind::Full;
      },
      [this, has_room, claimed, term = parts_.loader.term()] {
        is_checking_room_ = false;
        if (*claimed) parts_.loader.add_claimed(std::move(**claimed), term);
        has_room_ = *has_room;
        if (has_room_) return;
        room_wait_ms_ = std::min(2 * room_wait_ms_, retry_ms_max);
        check_room_at_ = parts_.now_ms() + room_wait_ms_;
      });
}

void RunSchedule::on_interrupted_loaded(const journal::RunName& run, const Result<RunId, HostFailure>& loaded) {
  --loading_;
  if (loaded) {
    reported_problem_.clear();
  } else if (loaded.error().kind == HostFailure::Kind::Unavailable) {
    report_problem(loaded.error().message);
    interrupted_.emplace(parts_.now_ms() + retry_ms, run);
  } else if (loaded.error().kind == HostFailure::Kind::Damaged) {
    parts_.report(loaded.error().message);
  } else if (loaded.error().kind == HostFailure::Kind::Unequipped) {
    parts_.report(loaded.error().message + "; it was given back to the other servers of the store");
  }
  if (!loaded && loaded.error().kind != HostFailure::Kind::Unavailable) parts_.runtime.forget_released(run);
}

void RunSchedule::retry(const journal::RunName& run, Reason reason) {
  const std::int64_t now = parts_.now_ms();
  // Runs that find the disk full together grow the wait once.
  if (reason == Reason::DiskFull && (room_wait_ms_ == 0 || check_room_at_ <= now)) {
    room_wait_ms_ = std::clamp(2 * room_wait_ms_, retry_ms, retry_ms_max);
    check_room_at_ = now + room_wait_ms_;
  }
  interrupted_.emplace(now + retry_ms, run);
}

void RunSchedule::note_released() {
  is_next_due_known_ = false;
}

void RunSchedule::read_next_due() {
  is_reading_due_ = true;
  next_due_at_ = parts_.now_ms() + next_due_interval_ms;
  is_next_due_known_ = true;  // a run that is released from now on may change it
  using Next = Result<std::optional<std::int64_t>, journal::StoreError>;
  const auto next = std::make_shared<Next>();
  parts_.store.read([next, after = due_pass_.after, owner = ownership().self()](
                        journal::StoreConnection& store) { *next = store.runs().next_due(after, owner); },
                    [this, next] {
                      is_reading_due_ = false;
                      if (*next) {
                        next_due_ = **next;
                        const bool has_more = next_due_ && *next_due_ <= parts_.wall_ms();
                        if (due_pass_.after && !has_more) end_due_pass();
                      } else {
                        is_next_due_known_ = false;
                        on_read_failed(next->error());
                      }
                    });
}

/// `wall_ms`: since 1970.
void RunSchedule::read_due(std::int64_t wall_ms) {
  is_reading_due_ = true;
  is_next_due_known_ = false;
  due_not_before_ = parts_.now_ms() + due_again_ms;
  const auto due = std::make_shared<Result<std::vector<journal::DueRun>, journal::StoreError>>();
  // Those in memory fire by themselves, and are not due any more when that is recorded.
  const journal::DueFilter filter{wall_ms, due_pass_.after, loads_max + parts_.residents.size(), ownership().self()};
  parts_.store.read([due, filter](journal::StoreConnection& store) { *due = store.runs().due(filter); },
                    [this, due, limit = filter.limit] {
                      is_reading_due_ = false;
                      if (!*due) return on_read_failed(due->error());
                      load_due(**due, limit);
                    });
}

/// `limit`: how many there are in `due` at most.
void RunSchedule::load_due(const std::vector<journal::DueRun>& due, std::size_t limit) {
  std::size_t count = 0, seen = 0;
  while (seen < due.size() && count < loads_max) {
    const auto& [wake_at, run] = due[seen];
    due_pass_.after = due[seen++];
    if (parts_.loader.is_loading(run)) continue;
    if (parts_.loader.was_given_back(run) || parts_.residents.find(run) ||
        parts_.runtime.is_released_until_later(run, wake_at)) {
      due_pass_.has_skipped = true;
      continue;
    }
    ++count;
    ++due_pass_.loading;
    parts_.loader.load(run, [this](const auto& loaded) {
      --due_pass_.loading;
      if (!loaded) on_due_failed(loaded.error());
    });
  }
  due_pass_.has_seen_all = false;
  if (seen == due.size() && due.size() < limit) end_due_pass();
}

/// After the wall clock was set forward, runs that fire by themselves are due in the store for a while: they are no
/// reason to look at once again.
void RunSchedule::end_due_pass() {
  due_pass_.has_seen_all = true;
  if (due_pass_.has_skipped && !due_pass_.retry_at) due_pass_.retry_at = parts_.now_ms() + retry_ms;
}

void RunSchedule::on_due_failed(const HostFailure& why) {
  if (why.kind == HostFailure::Kind::Elsewhere) return;
  if (why.kind != HostFailure::Kind::Conflict) report_problem(why.message);
  if (!due_pass_.retry_at) due_pass_.retry_at = parts_.now_ms() + retry_ms;
}

/// Those that could not be loaded are tried again in the next pass.
void RunSchedule::restart_due_pass() {
  due_pass_ = {};
  is_next_due_known_ = false;
}

void RunSchedule::report_problem(const std::string& message) {
  if (std::exchange(reported_problem_, message) != message) parts_.report(message);
}

}  // namespace tenon::runtime
