#include "runtime/recording/commit_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/ensure.h"

namespace tenon::runtime {
namespace {

std::string describe_refusal(journal::AppendRefusal refusal) {
  switch (refusal) {
    case journal::AppendRefusal::UnknownRun:
      return "the run is no longer in the store";
    case journal::AppendRefusal::WrongNumber:
    case journal::AppendRefusal::OldEpoch:
      return "another process continues the run";
    case journal::AppendRefusal::NoteExists:
      return "another process has accepted a request with the same key or name";
    case journal::AppendRefusal::UnknownReference:
      return "the store does not have a content that the journal refers to";
    case journal::AppendRefusal::TooLarge:
      return fmt::format("the records of one step are too large (maximum {} MB)", journal::append_bytes_max >> 20U);
  }
  ENSURE(false);
}

}  // namespace

CommitGate::~CommitGate() {
  if (is_committing()) committer_->rest();
}

void CommitGate::add(PendingBatch what, journal::Append append) {
  waiting_.push_back(std::move(what));
  waiting_bytes_ += journal::bytes_of(append);
  waiting_appends_.push_back(std::move(append));
}

void CommitGate::follow(RunId run, std::vector<std::string> to_perform) {
  const auto is_of_run = [&](const PendingBatch& what) { return what.run == run; };
  auto newest = std::find_if(waiting_.rbegin(), waiting_.rend(), is_of_run);
  if (newest == waiting_.rend()) {
    newest = std::find_if(committing_.rbegin(), committing_.rend(), is_of_run);
    ENSURE(newest != committing_.rend());
  }
  std::move(to_perform.begin(), to_perform.end(), std::back_inserter(newest->to_perform));
}

std::size_t CommitGate::drop(RunId run) {
  std::size_t kept = 0;
  for (std::size_t at = 0; at < waiting_.size(); ++at) {
    if (waiting_[at].run == run) {
      waiting_bytes_ -= journal::bytes_of(waiting_appends_[at]);
      continue;
    }
    if (kept != at) {
      waiting_[kept] = std::move(waiting_[at]);
      waiting_appends_[kept] = std::move(waiting_appends_[at]);
    }
    ++kept;
  }
  const std::size_t dropped = waiting_.size() - kept;
  waiting_.resize(kept);
  waiting_appends_.resize(kept);
  return dropped;
}

void CommitGate::move_waiting() {
  ENSURE(committing_.empty());
  committing_ = std::exchange(waiting_, {});
  committing_appends_ = std::exchange(waiting_appends_, {});
  waiting_bytes_ = 0;
}

void CommitGate::begin() {
  ENSURE(committer_ != nullptr);
  if (waiting_.empty() || is_committing()) return;
  move_waiting();
  is_committing_ = true;
  committer_->begin(committing_appends_);
}

std::vector<CommittedBatch> CommitGate::commit() {
  if (waiting_.empty()) return {};
  move_waiting();
  return pass(store()->commit(committing_appends_));
}

std::vector<CommittedBatch> CommitGate::take(Wait wait) {
  if (!is_committing()) return {};
  if (wait == Wait::Yes) return pass(committer_->finish());
  const auto outcome = committer_->take();
  if (!outcome) return {};
  return pass(*outcome);
}

std::vector<CommittedBatch> CommitGate::pass(const journal::CommitOutcome& outcome) {
  is_committing_ = false;
  const std::vector<journal::Append> appends = std::exchange(committing_appends_, {});
  std::vector<CommittedBatch> passed;
  passed.reserve(committing_.size());
  for (PendingBatch& what : std::exchange(committing_, {})) {
    std::optional<RunDetached> problem;
    if (!outcome) {
      problem = RunDetached{.message = outcome.error().message,
                            .error = outcome.error().kind,
                            .bytes = journal::bytes_of(appends[passed.size()])};
    } else if (const auto& refusal = (*outcome)[passed.size()]) {
      problem = RunDetached{.message = describe_refusal(*refusal), .refusal = refusal};
    }
    passed.push_back({std::move(what), std::move(problem)});
  }
  return passed;
}

journal::Store* CommitGate::store() {
  if (committer_ != nullptr) committer_->rest();
  return store_;
}

}  // namespace tenon::runtime
