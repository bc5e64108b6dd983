#include "runtime/host/lease_follower.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace tenon::runtime {
namespace {

/// Between attempts to join the store again.
constexpr std::int64_t rejoin_interval_ms = 500;
/// How long requests wait for the store once this process may begin no effects, and how often that is looked at.
constexpr std::int64_t request_patience_ms = 5'000;
constexpr std::chrono::milliseconds request_interval{500};

}  // namespace

void LeaseFollower::poll() {
  const journal::LeaseState lease = parts_.store.owner().ownership().lease();
  refuse_late(lease);
  if (is_without_lease_) {
    if (rejoin_at_ && *rejoin_at_ <= parts_.now_ms()) rejoin();
    return;
  }
  if (lease != journal::LeaseState::Lost) return;
  is_without_lease_ = true;
  parts_.report("this process was silent for longer than its lease: other processes continue the runs that it had");
  parts_.runtime.detach_recorded();  // before it has a lease again
  parts_.loader.forget_claims();
  rejoin();
}

void LeaseFollower::refuse_late(journal::LeaseState lease) {
  const bool is_held = lease == journal::LeaseState::Held;
  if (is_held || parts_.pending.is_empty()) {
    if (is_held) not_held_since_.reset();
    return;
  }
  const std::int64_t now = parts_.now_ms();
  if (!not_held_since_) not_held_since_ = now;
  if (now - *not_held_since_ < request_patience_ms) return;
  parts_.pending.fail_all({HostFailure::Kind::Unavailable,
                           "the store's server cannot be reached, and it is not known whether the request was "
                           "recorded: send it again with the same Idempotency-Key"});
}

std::chrono::milliseconds LeaseFollower::time_to_next() const {
  const bool may_refuse = !parts_.pending.is_empty() && !parts_.store.owner().ownership().is_sole();
  const auto next = may_refuse ? request_interval : std::chrono::milliseconds::max();
  if (!rejoin_at_) return next;
  return std::min(next, std::chrono::milliseconds(std::max<std::int64_t>(*rejoin_at_ - parts_.now_ms(), 0)));
}

void LeaseFollower::rejoin() {
  rejoin_at_.reset();
  const auto joined = std::make_shared<Result<void, journal::StoreError>>();
  parts_.store.write([joined](journal::StoreConnection& store) { *joined = store.ownership().rejoin(); },
                     [this, joined] {
                       if (!*joined) {
                         rejoin_at_ = parts_.now_ms() + rejoin_interval_ms;
                         return parts_.report(joined->error().message);
                       }
                       is_without_lease_ = false;
                       parts_.schedule.begin();
                     });
}

void LeaseFollower::note_runs(std::size_t resident, std::vector<journal::RunName> released) {
  journal::Ownership& ownership = parts_.store.owner().ownership();
  if (ownership.is_sole()) return;
  ownership.report_load(resident);
  if (released.empty()) return;
  // A run that is not given up goes to the next owner when this one ends.
  parts_.store.write([runs = std::move(released)](
                         journal::StoreConnection& store) { static_cast<void>(store.ownership().release(runs)); },
                     {});
}

}  // namespace tenon::runtime
