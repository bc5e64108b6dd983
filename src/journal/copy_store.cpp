#include "journal/copy_store.h"

#include <fmt/format.h>

#include <span>
#include <utility>

namespace tenon::journal {
namespace {

constexpr std::size_t runs_per_look = 500;
constexpr std::size_t notes_per_look = 500;

bool is_forgotten(const RunHead& head) {
  return head.summary.state == RunState::Forgotten;
}

bool is_same(const RunHead& one, const RunHead& other) {
  return one.records == other.records && one.chain == other.chain && is_forgotten(one) == is_forgotten(other);
}

class Copying {
 public:
  Copying(StoreConnection& from, StoreConnection& to) : from_(from), to_(to) {}

  using Done = Result<void, StoreError>;

  Result<StoreCopy, StoreError> perform(std::int64_t now_ms, const std::function<void(std::uint64_t)>& progress) {
    if (auto done = require_no_other_owner(); !done) return failure(std::move(done.error()));
    if (auto done = copy_runs(progress); !done) return failure(std::move(done.error()));
    if (auto done = copy_notes(now_ms); !done) return failure(std::move(done.error()));
    if (auto done = verify(); !done) return failure(std::move(done.error()));
    if (auto done = require_no_other_owner(); !done) return failure(std::move(done.error()));
    return std::move(copy_);
  }

 private:
  Done require_no_other_owner() {
    for (StoreConnection* const store : {&from_, &to_}) {
      const auto owners = store->ownership().owners();
      if (!owners) return failure(owners.error());
      for (const Owner& owner : *owners)
        if (owner.id != store->ownership().self())
          return failure(StoreError{
              StoreError::Kind::InUse,
              fmt::format("{} uses the store, and its runs may change while they are copied; end it, and copy again: "
                          "what was copied is not copied twice",
                          owner.label)});
    }
    return {};
  }

  /// False when there are too many problems.
  bool tell(std::string problem) {
    copy_.problems.push_back(std::move(problem));
    return copy_.problems.size() < copy_problems_max;
  }

  /// Calls `visit` with the heads of all runs, some at a time, until it returns false.
  template <class Visit>
  Done visit_heads(Visit visit) {
    RunFilter filter{.limit = runs_per_look};
    while (true) {
      const auto heads = from_.runs().list(filter);
      if (!heads) return failure(heads.error());
      if (heads->empty()) return {};
      filter.after = heads->back().run.text;
      const Result<bool, StoreError> continues = visit(*heads);
      if (!continues) return failure(continues.error());
      if (!*continues) return {};
    }
  }

  Done copy_runs(const std::function<void(std::uint64_t)>& progress) {
    return visit_heads([&](const std::vector<RunHead>& heads) -> Result<bool, StoreError> {
      for (const RunHead& head : heads) {
        const auto copied = copy_run(head);
        if (!copied || !*copied) return copied;
      }
      if (progress) progress(copy_.runs + copy_.runs_there);
      return true;
    });
  }

  /// False when there are too many problems.
  Result<bool, StoreError> copy_run(const RunHead& head) {
    const auto there = to_.journals().head(head.run);
    if (there && is_same(*there, head)) {
      ++copy_.runs_there;
      return true;
    }
    if (!there && there.error().kind != StoreError::Kind::Missing) return failure(there.error());
    if (there && is_forgotten(head) && !is_forgotten(*there))
      return tell(
          fmt::format("run {} was forgotten in the first store, and the second one still has it; forget it there, too",
                      head.run.text));
    std::string exported;
    std::optional<Snapshot> snapshot;
    if (!is_forgotten(head)) {
      auto file = from_.admin().export_run(head.run);
      if (!file && file.error().kind == StoreError::Kind::Damaged) return tell(file.error().message);
      if (!file) return failure(std::move(file.error()));
      exported = std::move(*file);
    }
    if (!has_ended(head.summary.state))
      if (auto found = from_.journals().snapshot(head.run)) snapshot = std::move(*found);  // it can be made again
    const auto added = add_copied_run(to_, head, exported, snapshot);
    if (!added && added.error().kind == StoreError::Kind::Conflict) return tell(added.error().message);
    if (!added) return failure(added.error());
    ++copy_.runs;
    return true;
  }

  Done copy_notes(std::int64_t now_ms) {
    std::string after;
    while (true) {
      const auto notes = from_.admin().list_notes(after, notes_per_look);
      if (!notes) return failure(notes.error());
      if (notes->empty()) return {};
      for (const Note& note : *notes) {
        if (note.expires_at.value_or(INT64_MAX) <= now_ms) continue;
        if (auto done = copy_note(note, now_ms); !done) return done;
      }
      after = notes->back().key;
    }
  }

  Done copy_note(const Note& note, std::int64_t now_ms) {
    const auto there = to_.journals().find_note(note.key);
    if (!there) return failure(there.error());
    ++copy_.notes;
    const bool is_there = *there && (*there)->bytes == note.bytes;
    if (is_there) return {};
    if (*there && (*there)->expires_at.value_or(INT64_MAX) > now_ms) {
      --copy_.notes;
      tell(fmt::format("the note `{}` is different in both stores; it was not copied", note.key));
      return {};
    }
    return to_.admin().keep_note(note, now_ms);
  }

  /// Compares what both stores say of each run now.
  Done verify() {
    return visit_heads([&](const std::vector<RunHead>& heads) -> Result<bool, StoreError> {
      for (const RunHead& head : heads) {
        const auto there = to_.journals().head(head.run);
        if (!there && there.error().kind != StoreError::Kind::Missing) return failure(there.error());
        if (there && is_same(*there, head)) continue;
        const bool is_known = has_problem_of(head.run);
        if (!is_known && !tell(fmt::format("run {}: its copy has other records", head.run.text))) return false;
      }
      return true;
    });
  }

  [[nodiscard]] bool has_problem_of(const RunName& run) const {
    for (const std::string& problem : copy_.problems)
      if (problem.find(run.text) != std::string::npos) return true;
    return false;
  }

  StoreConnection& from_;
  StoreConnection& to_;
  StoreCopy copy_;
};

}  // namespace

Result<StoreCopy, StoreError> copy_store(StoreConnection& from, StoreConnection& to, std::int64_t now_ms,
                                         const std::function<void(std::uint64_t)>& progress) {
  return Copying(from, to).perform(now_ms, progress);
}

Result<Imported, StoreError> add_copied_run(StoreConnection& to, const RunHead& head, const std::string& exported,
                                            const std::optional<Snapshot>& snapshot) {
  if (is_forgotten(head)) return to.admin().import_forgotten(head);
  auto imported = to.admin().import_run(exported);
  if (!imported || !snapshot || snapshot->after > head.records) return imported;
  Append append;
  append.run = head.run;
  append.epoch = head.epoch;
  append.first = head.records + 1;
  append.summary = head.summary;
  append.snapshot = snapshot;
  const auto outcomes = to.journals().commit({&append, 1});
  if (!outcomes) return failure(outcomes.error());
  return imported;  // without its snapshot the run only takes longer to load
}

}  // namespace tenon::journal
