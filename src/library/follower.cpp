#include "library/follower.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "json/reader.h"

namespace tenon::library {
namespace {

/// Taken from the store at once.
constexpr std::size_t read_bytes_max = std::size_t{256} << 10U;

tenon_run_state state_of(const journal::RunHead& head) {
  switch (head.summary.state) {
    case journal::RunState::Running:
      return TENON_RUN_RUNNING;
    case journal::RunState::Waiting: {
      const Json details = parse_own_json(head.summary.detail);
      const auto asks = [](const Json& detail) { return detail.contains("wait"); };
      return std::ranges::any_of(details.items_or_none(), asks) ? TENON_RUN_ASKS : TENON_RUN_RUNNING;
    }
    case journal::RunState::Idle:
      return TENON_RUN_READY;
    case journal::RunState::Done:
      return TENON_RUN_RETURNED;
    case journal::RunState::Failed:
      return TENON_RUN_FAILED;
    case journal::RunState::Cancelled:
      return TENON_RUN_CANCELLED;
    case journal::RunState::Forgotten:
      break;
  }
  return TENON_RUN_DETACHED;
}

}  // namespace

Follower::Follower(std::shared_ptr<HostState> host, journal::RunHead head, std::uint64_t after)
    : host_(std::move(host)) {
  host_->read([&](journal::StoreConnection& store) {
    journal::Store& journals = store.journals();
    reader_.emplace(host_->hub(), journals, host_->programs().program_at(journals), std::move(head), after);
    return true;
  });
  reader_->watch([this] { waker_.wake(); });
  host_->add_waker(waker_);
  waker_.wake();
}

Follower::~Follower() {
  host_->remove_waker(waker_);
}

Result<tenon_run_state, engine::EngineError> Follower::state() {
  if (!ready_.empty()) return TENON_RUN_RUNNING;
  const auto head = host_->read([this](journal::StoreConnection&) { return reader_->settled_head(); });
  if (reader_->problem()) {
    return failure(engine::EngineError{engine::EngineError::Kind::Failed, *reader_->problem()});
  }
  return head ? state_of(*head) : TENON_RUN_RUNNING;
}

void Follower::interrupt() {
  ++interrupts_;
  waker_.wake();
}

void Follower::read() {
  waker_.clear();  // what comes from now on wakes it again
  host_->read([this](journal::StoreConnection&) {
    for (engine::EventReader::Read& read : reader_->take(read_bytes_max)) ready_.push_back(std::move(read));
    return true;
  });
  if (!ready_.empty() || reader_->is_at_end() || reader_->problem()) waker_.wake();
}

Result<Follower::State, engine::EngineError> Follower::next(std::chrono::milliseconds timeout, protocol::Event& event) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + timeout;
  const std::uint64_t interrupts = interrupts_;
  while (true) {
    if (ready_.empty()) read();
    if (!ready_.empty()) {
      event = *ready_.front().event;
      ready_.pop_front();
      return State::Event;
    }
    if (reader_->problem()) {
      return failure(engine::EngineError{engine::EngineError::Kind::Failed, *reader_->problem()});
    }
    if (reader_->is_at_end()) return State::Ended;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0 || interrupts_ != interrupts || host_->is_stopped()) return State::Nothing;
    waker_.wait(left);
  }
}

}  // namespace tenon::library
