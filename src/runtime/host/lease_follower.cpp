#include "runtime/host/lease_follower.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace tenon::runtime {
namespace {

/// Between attempts to join the store again.
constexpr std::int64_t rejoin_interval_ms = 500;
/// After so long without the right to begin effects, people hear of it, and requests do not wait any longer.
constexpr std::int64_t outage_reported_ms = 1'000;
constexpr std::int64_t request_patience_ms = 5'000;
constexpr std::chrono::milliseconds outage_interval{500};

}  // namespace

void LeaseFollower::poll() {
  const journal::LeaseState lease = parts_.store.owner().ownership().lease();
  watch_outage(lease);
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

void LeaseFollower::watch_outage(journal::LeaseState lease) {
  if (lease == journal::LeaseState::Held) {
    not_held_since_.reset();
    if (std::exchange(is_outage_reported_, false)) parts_.report_solved("the store's server replies again");
    return;
  }
  const std::int64_t now = parts_.now_ms();
  if (!not_held_since_) not_held_since_ = now;
  const std::int64_t past = now - *not_held_since_;
  if (past >= outage_reported_ms && !std::exchange(is_outage_reported_, true)) {
    parts_.report("the store's server does not reply: no effects begin until it does");
  }
  if (past < request_patience_ms) return;
  parts_.pending.fail_all({HostFailure::Kind::Unknown,
                           "the store's server does not reply, and it is not known whether the request was accepted; "
                           "repeat it only with the same Idempotency-Key"});
}

std::chrono::milliseconds LeaseFollower::time_to_next() const {
  const bool may_refuse = !parts_.pending.is_empty() && !parts_.store.owner().ownership().is_sole();
  const bool may_report = not_held_since_ && !is_outage_reported_;
  const auto next = may_refuse || may_report ? outage_interval : std::chrono::milliseconds::max();
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
