#include "runtime/host/run_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/host/stall_note.h"

namespace tenon::runtime {
namespace {

/// For how long a run that this process cannot continue is left to others: what it lacks rarely comes later.
constexpr std::int64_t given_back_ms = 60'000;
/// Such runs; of more, those come again soonest that were given back first.
constexpr std::size_t given_back_max = 1'000;

}  // namespace

void RunLoader::load(const journal::RunName& run, Then then) {
  if (stopped_) return then(failure(*stopped_));
  if (const auto found = parts_.residents.find(run)) {
    const auto& end = parts_.runtime.end(*found);
    // It is about to leave the memory.
    if (const auto* const detached = end ? std::get_if<RunDetached>(&*end) : nullptr) {
      return then(failure(HostFailure{HostFailure::Kind::Unavailable, detached->message}));
    }
    parts_.residents.touch(*found);
    return then(*found);
  }
  if (!has_claimed(run) && was_given_back(run)) return then(failure(given_back_.at(run.text).why));
  std::vector<Then>& waiting = loading_[run.text];
  waiting.push_back(std::move(then));
  if (waiting.size() > 1) return;
  claim(run);
}

void RunLoader::claim(const journal::RunName& run) {
  if (auto head = take_claimed(run)) return on_claimed(run, std::move(*head));
  to_claim_.push_back(run);
  claim_waiting();
}

void RunLoader::add_claimed(journal::RunHead head, std::uint64_t term) {
  // A load in progress claims it after this, has done so, or needs this: it was refused before.
  if (term != term_) return;
  // The run may have moved, and have been given back already: then the one in memory is about to leave it.
  const auto resident = parts_.residents.find(head.run);
  if (resident && parts_.runtime.epoch(*resident) >= head.epoch) return;
  std::string name = head.run.text;
  claimed_.insert_or_assign(std::move(name), std::move(head));
}

std::optional<journal::RunHead> RunLoader::take_claimed(const journal::RunName& run) {
  auto found = claimed_.extract(run.text);
  if (found.empty()) return std::nullopt;
  return std::move(found.mapped());
}

void RunLoader::forget_claims() {
  ++term_;
  claimed_.clear();
}

/// Whether a load that began in this term continues. Otherwise it ends, or begins again with another claim.
bool RunLoader::may_continue(const journal::RunName& run, std::uint64_t term) {
  if (stopped_) {
    end(run, failure(*stopped_));
  } else if (term != term_) {
    claim(run);
  } else {
    return true;
  }
  return false;
}

void RunLoader::claim_waiting() {
  if (is_claiming_ || to_claim_.empty()) return;
  is_claiming_ = true;
  const auto runs = std::make_shared<const std::vector<journal::RunName>>(std::exchange(to_claim_, {}));
  const auto claimed = std::make_shared<Result<journal::ClaimOutcomes, journal::StoreError>>();
  parts_.store.write(
      [runs, claimed](journal::StoreConnection& store) {
        *claimed = store.journals().claim(*runs, journal::ClaimMode::IfExpired);
      },
      [this, runs, claimed, term = term_] {
        is_claiming_ = false;
        for (std::size_t at = 0; at < runs->size(); ++at) {
          const journal::RunName& run = (*runs)[at];
          if (!may_continue(run, term)) continue;
          auto earlier = take_claimed(run);
          auto head = *claimed ? std::move((**claimed)[at]) : failure(claimed->error());
          const bool is_refused = !head && head.error().kind == journal::StoreError::Kind::Owned;
          on_claimed(run, is_refused && earlier ? std::move(*earlier) : std::move(head));
        }
        claim_waiting();
      });
}

void RunLoader::note_started(const journal::RunName& run) {
  if (parts_.model.follows_a_script()) script_followed_.insert(run.text);
}

void RunLoader::on_claimed(const journal::RunName& run, Result<journal::RunHead, journal::StoreError> head) {
  if (!head) return end(run, failure(make_failure(head.error())));
  if (journal::has_ended(head->summary.state)) {
    return end(run, failure(HostFailure{HostFailure::Kind::Conflict,
                                        fmt::format("the run has ended ({})", journal::name_of(head->summary.state))}));
  }
  const bool is_same_model = parts_.model.follows_a_script() && script_followed_.insert(run.text).second;
  const auto use = snapshot_use(parts_.model, is_same_model ? SameModel::Yes : SameModel::No);
  const auto loaded = std::make_shared<std::optional<LoadedRun>>();
  const auto parked = use == SnapshotUse::Use ? parts_.runtime.take_parked(run) : nullptr;
  parts_.store.read([loaded, head = std::move(*head), use,
                     parked](journal::StoreConnection& store) { loaded->emplace(store.journals(), head, use, parked); },
                    [this, run, loaded, parked, term = term_] {  // destroys `parked` on this thread
                      if (may_continue(run, term)) on_loaded(run, **loaded);
                    });
}

void RunLoader::on_loaded(const journal::RunName& run, LoadedRun& loaded) {
  const auto id = parts_.runtime.resume(loaded, parts_.images);
  if (!id) return on_failed(loaded.head(), id.error());
  parts_.residents.add(*id, run);
  ++parts_.counts.runs_loaded;
  parts_.residents.touch(*id);
  end(run, *id);
}

void RunLoader::on_failed(const journal::RunHead& head, const RecoveryError& why) {
  const bool may_be_continued_elsewhere = why.is_of_process && !parts_.store.owner().ownership().is_sole();
  if (may_be_continued_elsewhere) return give_back(head, {HostFailure::Kind::Unequipped, why.message});
  const HostFailure failed =
      why.store ? make_failure({*why.store, why.message}) : HostFailure{HostFailure::Kind::Damaged, why.message};
  const bool may_be_read_later = failed.kind == HostFailure::Kind::Unavailable;
  const bool has_work = head.summary.state == journal::RunState::Running;
  if (may_be_read_later && has_work && parts_.on_unread) parts_.on_unread(head.run);
  end(head.run, failure(failed));
}

/// The run is free for the others before the load ends, so that a request for it can be passed on.
void RunLoader::give_back(const journal::RunHead& head, const HostFailure& why) {
  if (given_back_.size() >= given_back_max) forget_given_back();
  given_back_.insert_or_assign(head.run.text, GivenBack{why, parts_.now_ms() + given_back_ms});
  const std::int64_t now = parts_.wall_ms();
  journal::Note reason = make_stall_note(head, why.message, now);
  parts_.store.write(
      [reason = std::move(reason), run = head.run, now](journal::StoreConnection& store) {
        // A reason that cannot be kept is only not shown.
        static_cast<void>(store.admin().keep_note(reason, now));
        static_cast<void>(store.ownership().give_back({&run, 1}));
      },
      [this, run = head.run, why] { end(run, failure(why)); });
}

/// Those whose time is over, or else the one whose time is over first.
void RunLoader::forget_given_back() {
  const std::int64_t now = parts_.now_ms();
  std::erase_if(given_back_, [&](const auto& entry) { return entry.second.until <= now; });
  if (given_back_.size() < given_back_max) return;
  const auto earlier = [](const auto& one, const auto& other) { return one.second.until < other.second.until; };
  given_back_.erase(std::min_element(given_back_.begin(), given_back_.end(), earlier));
}

bool RunLoader::was_given_back(const journal::RunName& run) {
  const auto found = given_back_.find(run.text);
  if (found == given_back_.end()) return false;
  if (found->second.until > parts_.now_ms()) return true;
  given_back_.erase(found);
  return false;
}

std::vector<journal::RunName> RunLoader::given_back() {
  const std::int64_t now = parts_.now_ms();
  std::vector<journal::RunName> runs;
  for (const auto& [name, entry] : given_back_)
    if (entry.until > now) runs.push_back({name});
  return runs;
}

void RunLoader::end(const journal::RunName& run, const Result<RunId, HostFailure>& outcome) {
  claimed_.erase(run.text);  // older than the claim of the load
  const auto ended = loading_.extract(run.text);
  for (const Then& then : ended.mapped()) then(outcome);
}

}  // namespace tenon::runtime
