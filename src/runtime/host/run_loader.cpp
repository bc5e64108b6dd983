#include "runtime/host/run_loader.h"

#include <fmt/format.h>

#include <utility>

namespace tenon::runtime {

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
  std::vector<Then>& waiting = loading_[run.text];
  waiting.push_back(std::move(then));
  if (waiting.size() > 1) return;
  const auto head = std::make_shared<Result<journal::RunHead, journal::StoreError>>();
  parts_.store.write(
      [run, head](journal::StoreConnection& store) {
        *head = store.journals().head(run);
        const bool can_continue = *head && !journal::has_ended((*head)->summary.state);
        if (can_continue) *head = store.journals().claim(run);
      },
      [this, run, head] { on_claimed(run, std::move(*head)); });
}

void RunLoader::note_started(const journal::RunName& run) {
  if (parts_.model.follows_a_script()) script_followed_.insert(run.text);
}

void RunLoader::on_claimed(const journal::RunName& run, Result<journal::RunHead, journal::StoreError> head) {
  if (stopped_) return end(run, failure(*stopped_));
  if (!head) return end(run, failure(make_failure(head.error())));
  if (journal::has_ended(head->summary.state)) {
    return end(run, failure(HostFailure{HostFailure::Kind::Conflict,
                                        fmt::format("the run has ended ({})", journal::name_of(head->summary.state))}));
  }
  const bool is_same_model = parts_.model.follows_a_script() && script_followed_.insert(run.text).second;
  const auto use = snapshot_use(parts_.model, is_same_model ? SameModel::Yes : SameModel::No);
  const auto loaded = std::make_shared<std::optional<LoadedRun>>();
  parts_.store.read([loaded, head = std::move(*head),
                     use](journal::StoreConnection& store) { loaded->emplace(store.journals(), head, use); },
                    [this, run, loaded] { on_loaded(run, **loaded); });
}

void RunLoader::on_loaded(const journal::RunName& run, LoadedRun& loaded) {
  if (stopped_) return end(run, failure(*stopped_));
  const auto id = parts_.runtime.resume(loaded, parts_.images);
  if (!id && id.error().store) return end(run, failure(make_failure({*id.error().store, id.error().message})));
  if (!id) return end(run, failure(HostFailure{HostFailure::Kind::Damaged, id.error().message}));
  parts_.residents.add(*id, run);
  ++parts_.counts.runs_loaded;
  parts_.residents.touch(*id);
  end(run, *id);
}

void RunLoader::end(const journal::RunName& run, const Result<RunId, HostFailure>& outcome) {
  const auto ended = loading_.extract(run.text);
  for (const Then& then : ended.mapped()) then(outcome);
}

}  // namespace tenon::runtime
