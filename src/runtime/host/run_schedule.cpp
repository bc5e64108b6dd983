#include "runtime/host/run_schedule.h"

#include <algorithm>
#include <memory>

namespace tenon::runtime {
namespace {

/// Runs that are loaded at the same time.
constexpr std::size_t loads_max = 32;
/// The wait after a run could not continue, or a due one did not. While the disk is full the waits grow.
constexpr std::int64_t retry_ms = 1'000;
constexpr std::int64_t retry_ms_max = 60'000;
constexpr std::int64_t due_again_ms = 20;
/// Due runs that could not be loaded and that are read past, at most.
constexpr std::size_t failed_due_max = 4'096;

}  // namespace

void RunSchedule::begin() {
  is_list_due_ = true;
  list_interrupted();
}

void RunSchedule::list_interrupted() {
  is_list_due_ = false;
  using Heads = Result<std::vector<journal::RunHead>, journal::StoreError>;
  const auto heads = std::make_shared<Heads>();
  parts_.store.read(
      [heads](journal::StoreConnection& store) {
        journal::RunFilter running;
        running.state = journal::RunState::Running;
        *heads = store.runs().list(running);
      },
      [this, heads] {
        if (!*heads) {
          is_list_due_ = true;
          return on_read_failed(heads->error());
        }
        for (journal::RunHead& head : **heads) interrupted_.push_back(std::move(head.run));
      });
}

/// What could not be read is read again in a while.
void RunSchedule::on_read_failed(const journal::StoreError& error) {
  report_problem(error.message);
  read_not_before_ = parts_.now_ms() + retry_ms;
}

void RunSchedule::poll() {
  load_interrupted();
  const bool may_read = read_not_before_ <= parts_.now_ms();
  if (is_list_due_ && may_read) list_interrupted();
  if (is_reading_due_ || !may_read) return;
  if (!is_next_due_known_) return read_next_due();
  const std::int64_t now = parts_.now_ms();
  if (next_due_ && *next_due_ <= now && due_not_before_ <= now) read_due(now);
}

std::optional<std::chrono::milliseconds> RunSchedule::time_to_next() const {
  std::optional<std::int64_t> next;
  const auto add = [&](std::int64_t time) { next = std::min(time, next.value_or(time)); };
  if (!interrupted_.empty() && loading_ < loads_max && !is_checking_room_) add(load_not_before_);
  if (is_list_due_) add(read_not_before_);
  if (!is_reading_due_ && !is_next_due_known_) add(read_not_before_);
  if (!is_reading_due_ && next_due_) add(std::max({*next_due_, due_not_before_, read_not_before_}));
  if (!next) return std::nullopt;
  return std::chrono::milliseconds(std::max<std::int64_t>(*next - parts_.now_ms(), 0));
}

void RunSchedule::load_interrupted() {
  if (interrupted_.empty() || is_checking_room_ || load_not_before_ > parts_.now_ms()) return;
  if (retry_ms_ > 0 && !std::exchange(has_room_, false)) {
    skip_claimed();
    if (!interrupted_.empty()) check_room();
    return;
  }
  // A load that ends at once may add to the queue.
  for (std::size_t left = interrupted_.size(); left > 0 && loading_ < loads_max; --left) {
    const journal::RunName run = std::move(interrupted_.front());
    interrupted_.pop_front();
    ++loading_;
    parts_.loader.load(run, [this, run](const auto& loaded) { on_interrupted_loaded(run, loaded); });
  }
}

/// Takes the runs that a request has brought into memory, or is loading, from the queue: another claim would make their
/// appends stale.
void RunSchedule::skip_claimed() {
  for (std::size_t left = interrupted_.size(); left > 0; --left) {
    journal::RunName run = std::move(interrupted_.front());
    interrupted_.pop_front();
    if (parts_.residents.find(run)) continue;
    if (parts_.loader.is_loading(run)) {
      ++loading_;
      parts_.loader.load(run, [this, run](const auto& loaded) { on_interrupted_loaded(run, loaded); });
    } else {
      interrupted_.push_back(std::move(run));
    }
  }
}

/// Whether the store can write again, which an append without records shows.
void RunSchedule::check_room() {
  is_checking_room_ = true;
  const auto has_room = std::make_shared<bool>(true);
  parts_.store.write(
      [has_room, run = interrupted_.front()](journal::StoreConnection& store) {
        const auto head = store.journals().claim(run);
        if (!head) return;  // loading it reports why
        journal::Append nothing_new;
        nothing_new.run = run;
        nothing_new.epoch = head->epoch;
        nothing_new.first = head->records + 1;
        nothing_new.summary = head->summary;
        const auto committed = store.journals().commit({&nothing_new, 1});
        *has_room = committed.has_value() || committed.error().kind != journal::StoreError::Kind::Full;
      },
      [this, has_room] {
        is_checking_room_ = false;
        has_room_ = *has_room;
        if (has_room_) return;
        retry_ms_ = std::min(2 * retry_ms_, retry_ms_max);
        load_not_before_ = parts_.now_ms() + retry_ms_;
      });
}

void RunSchedule::on_interrupted_loaded(const journal::RunName& run, const Result<RunId, HostFailure>& loaded) {
  --loading_;
  if (loaded) {
    reported_problem_.clear();
  } else if (loaded.error().kind == HostFailure::Kind::Unavailable) {
    // For example without space on the disk: it continues when there is some again.
    report_problem(loaded.error().message);
    interrupted_.push_front(run);
    load_not_before_ = parts_.now_ms() + retry_ms;
  } else if (loaded.error().kind == HostFailure::Kind::Damaged) {
    parts_.report(loaded.error().message);
  }
}

void RunSchedule::retry(const journal::RunName& run, Reason reason) {
  if (reason == Reason::DiskFull) retry_ms_ = std::clamp(2 * retry_ms_, retry_ms, retry_ms_max);
  interrupted_.push_back(run);
  load_not_before_ = parts_.now_ms() + std::max(retry_ms_, retry_ms);
}

void RunSchedule::note_released() {
  is_next_due_known_ = false;
}

void RunSchedule::read_next_due() {
  is_reading_due_ = true;
  is_next_due_known_ = true;  // a run that is released from now on may change it
  using Next = Result<std::optional<std::int64_t>, journal::StoreError>;
  const auto next = std::make_shared<Next>();
  parts_.store.read([next](journal::StoreConnection& store) { *next = store.runs().next_due(); },
                    [this, next] {
                      is_reading_due_ = false;
                      if (*next) {
                        next_due_ = **next;
                      } else {
                        is_next_due_known_ = false;
                        on_read_failed(next->error());
                      }
                    });
}

void RunSchedule::read_due(std::int64_t now) {
  is_reading_due_ = true;
  is_next_due_known_ = false;
  due_not_before_ = now + due_again_ms;
  std::erase_if(failed_due_, [&](const auto& entry) { return entry.second <= now; });
  const auto due = std::make_shared<Result<std::vector<journal::RunHead>, journal::StoreError>>();
  // Those in memory fire by themselves, and are not due any more when that is recorded. Those that could not be loaded
  // remain due.
  parts_.store.read([due, now, limit = loads_max + parts_.residents.size() + failed_due_.size()](
                        journal::StoreConnection& store) { *due = store.runs().due(now, limit); },
                    [this, due] {
                      is_reading_due_ = false;
                      if (!*due) return on_read_failed(due->error());
                      load_due(**due);
                    });
}

void RunSchedule::load_due(const std::vector<journal::RunHead>& due) {
  std::size_t count = 0;
  std::optional<std::int64_t> next_try;  // of those that could not be loaded
  for (const journal::RunHead& head : due) {
    if (parts_.residents.find(head.run) || parts_.loader.is_loading(head.run)) continue;
    if (const auto failed = failed_due_.find(head.run.text); failed != failed_due_.end()) {
      next_try = std::min(failed->second, next_try.value_or(failed->second));
      continue;
    }
    parts_.loader.load(head.run, [this, run = head.run](const auto& loaded) {
      if (!loaded) on_due_failed(run, loaded.error());
    });
    if (++count == loads_max) break;
  }
  if (count == 0 && next_try) due_not_before_ = std::max(due_not_before_, *next_try);
}

void RunSchedule::on_due_failed(const journal::RunName& run, const HostFailure& why) {
  if (why.kind != HostFailure::Kind::Conflict) report_problem(why.message);
  const std::int64_t again = parts_.now_ms() + retry_ms;
  // Without room on the disk, for example, no other run could be loaded either.
  if (why.kind == HostFailure::Kind::Unavailable || failed_due_.size() >= failed_due_max) {
    due_not_before_ = again;
  } else {
    failed_due_.insert_or_assign(run.text, again);
  }
}

void RunSchedule::report_problem(const std::string& message) {
  if (std::exchange(reported_problem_, message) != message) parts_.report(message);
}

}  // namespace tenon::runtime
