#include "journal/postgres/append_plan.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "base/ensure.h"
#include "journal/batch.h"

namespace tenon::journal::postgres {
namespace {

/// A layer has room for this many steps at first.
constexpr std::size_t steps_reserved_max = 4'096;

std::size_t size_of(const Append& append) {
  std::size_t size = append.summary.title.size() + append.summary.detail.size();
  for (const std::string& record : append.records) size += record.size();
  for (const Note& note : append.notes) size += note.key.size() + note.bytes.size();
  if (append.snapshot) size += append.snapshot->bytes.size();
  return size;
}

std::size_t size_of(const std::vector<const Content*>& contents) {
  return std::accumulate(contents.begin(), contents.end(), std::size_t{0},
                         [](std::size_t size, const Content* content) { return size + content->bytes.size(); });
}

/// The row of a run before its first append.
RunRow new_run(const Append& append) {
  ENSURE(is_run_name(append.run.text));
  RunRow row;
  row.head.run = append.run;
  row.head.epoch = append.epoch;
  row.head.chain = chain_start(append.run);
  row.head.created_at = append.summary.updated_at;
  return row;
}

}  // namespace

void AppendPlanner::note_outdated(const RunStep& step) {
  note_doubtful(step.after.head.run);
  if (step.kind == RunStep::Kind::Start) not_started_.insert(step.after.head.run.text);
}

void AppendPlanner::note_doubtful(const RunName& run) {
  read_.erase(run.text);
  outdated_.insert(run.text);
}

void AppendPlanner::note_applied(const RunStep& step) {
  const RunName& name = step.after.head.run;
  read_.erase(name.text);
  outdated_.erase(name.text);
  if (step.moves_to) return known_.forget(name);
  KnownRun& known = known_.put(step.after);
  for (const Content* const content : step.contents) known_.add_content(known, content->hash);
}

AppendPlanner::PlannedRun* AppendPlanner::find_run(const Append& append, AppendPlan& plan) {
  const std::string& name = append.run.text;
  if (const auto planned = runs_.find(name); planned != runs_.end()) return &planned->second;
  PlannedRun run;
  run.known = known_.find(append.run);
  if (const auto read = read_.find(name); read != read_.end()) {
    run.row = read->second;
    run.is_certain = true;
    if (run.row) run.known = &known_.put(*run.row);
  } else if (outdated_.contains(name)) {
    plan.unknown_runs.insert(append.run);
    return nullptr;
  } else if (run.known != nullptr) {
    run.row = run.known->row;
  } else if (append.first != 1 || append.records.empty()) {
    plan.unknown_runs.insert(append.run);
    return nullptr;
  }  // else it is new, most probably
  return &runs_.emplace(name, std::move(run)).first->second;
}

std::optional<AppendRefusal> AppendPlanner::find_refusal(const Append& append, const PlannedRun& run) const {
  if (run.row) {
    const RunHead& head = run.row->head;
    if (head.summary.state == RunState::Forgotten) return AppendRefusal::UnknownRun;
    if (append.epoch != head.epoch) return AppendRefusal::OldEpoch;
    if (append.first != head.records + 1) return AppendRefusal::WrongNumber;
  } else if (append.first != 1) {
    return AppendRefusal::UnknownRun;
  } else if (run.is_certain && not_started_.contains(append.run.text)) {
    return AppendRefusal::OldEpoch;
  }
  if (append.snapshot && append.snapshot->after > append.first - 1 + append.records.size())
    return AppendRefusal::WrongNumber;
  return std::nullopt;
}

bool AppendPlanner::has_existing_note(const Append& append) const {
  return std::ranges::any_of(append.notes, [&](const Note& note) {
    return note.use == NoteUse::KeepFirst && existing_notes_.contains(note.key);
  });
}

bool AppendPlanner::has_planned_note(const Append& append) const {
  return std::ranges::any_of(append.notes, [&](const Note& note) {
    return note.use == NoteUse::KeepFirst && planned_notes_.contains(note.key);
  });
}

/// Collects in `added` the contents that the append refers to and that its run does not have yet, as far as it is
/// known.
std::optional<AppendRefusal> AppendPlanner::find_contents(const Append& append, PlannedRun& run, AppendPlan& plan,
                                                          std::vector<const Content*>& added) {
  if (append.references.empty()) return std::nullopt;
  std::unordered_map<Hash, const Content*> offered;
  for (const Content& content : append.contents) offered.emplace(content.hash, &content);
  std::unordered_set<Hash> seen;
  std::vector<Hash> open(append.references.rbegin(), append.references.rend());
  while (!open.empty()) {
    const Hash hash = open.back();
    open.pop_back();
    if (!seen.insert(hash).second || run.contents.contains(hash)) continue;
    if (run.row && run.known != nullptr && run.known->contents.contains(hash)) continue;
    if (const auto content = offered.find(hash); content != offered.end()) {
      added.push_back(content->second);
      open.insert(open.end(), content->second->refers.rbegin(), content->second->refers.rend());
      continue;
    }
    if (!run.row || run.row->id == 0) return AppendRefusal::UnknownReference;
    const auto looked_up = contents_.find({run.row->id, hash});
    if (looked_up == contents_.end()) {
      plan.unknown_contents.emplace(run.row->id, hash);
    } else if (looked_up->second == Presence::Missing) {
      return AppendRefusal::UnknownReference;
    } else if (run.known != nullptr) {
      known_.add_content(*run.known, hash);
    }
  }
  return std::nullopt;
}

bool AppendPlanner::is_new_layer_due(const Append& append, std::size_t bytes, const AppendPlan& plan) const {
  if (plan.layers.empty()) return true;
  const Layer& last = plan.layers.back();
  if (last.bytes + bytes > layer_bytes_max) return true;
  if (std::ranges::any_of(append.notes, [&](const Note& note) { return last_notes_.contains(note.key); })) return true;
  return last_steps_.contains(append.run.text) && bytes > merged_bytes_max;
}

void AppendPlanner::add(std::size_t place, PlannedRun& run, std::vector<const Content*> contents, AppendPlan& plan) {
  const Append& append = appends_[place];
  const std::size_t bytes = size_of(append) + size_of(contents);
  if (is_new_layer_due(append, bytes, plan)) {
    plan.layers.emplace_back();
    last_notes_.clear();
    last_steps_.clear();
    plan.layers.back().steps.reserve(std::min(appends_.size(), steps_reserved_max));
  }
  Layer& layer = plan.layers.back();
  const auto [at, is_first] = last_steps_.emplace(append.run.text, layer.steps.size());
  if (is_first) {
    RunStep& step = layer.steps.emplace_back();
    step.kind = run.row ? RunStep::Kind::Continue : RunStep::Kind::Start;
    step.pool = append.pool;
    step.before = run.row ? *run.row : new_run(append);
    step.after = step.before;
    ++step.after.appends;
  }
  RunStep& step = layer.steps[at->second];
  step.appends.push_back(place);
  step.after.head.records += append.records.size();
  step.after.head.summary = append.summary;
  if (append.snapshot) step.snapshot = &*append.snapshot;
  if (append.moves_to) {
    step.moves_to = append.moves_to;
    ++step.after.head.epoch;  // so that no append follows
  }
  for (const Content* const content : contents) run.contents.insert(content->hash);
  step.contents.insert(step.contents.end(), contents.begin(), contents.end());
  for (const Note& note : append.notes) {
    layer.notes.push_back({at->second, &note, append.summary.updated_at});
    last_notes_.insert(note.key);
    planned_notes_.insert(note.key);
  }
  layer.bytes += bytes;
  run.row = step.after;
}

AppendPlan AppendPlanner::plan(std::span<const std::size_t> places) {
  runs_.clear();
  planned_notes_.clear();
  last_notes_.clear();
  last_steps_.clear();
  AppendPlan plan;
  const auto refuse = [&](std::size_t place, AppendRefusal why) { plan.refused.emplace_back(place, why); };
  for (const std::size_t place : places) {
    const Append& append = appends_[place];
    if (is_too_large(append) || size_of(append) > statement_bytes_max) {
      refuse(place, AppendRefusal::TooLarge);
      continue;
    }
    if (append.first == 0) {
      refuse(place, AppendRefusal::WrongNumber);
      continue;
    }
    PlannedRun* const run = find_run(append, plan);
    if (run == nullptr) continue;
    if (run->is_deferred) {
      plan.deferred.push_back(place);
      continue;
    }
    std::vector<const Content*> contents;
    const std::size_t unknown_before = plan.unknown_contents.size();
    std::optional<AppendRefusal> refusal = find_refusal(append, *run);
    if (!refusal && has_existing_note(append)) refusal = AppendRefusal::NoteExists;
    if (!refusal && has_planned_note(append)) {
      // Whether it is kept first depends on an append before this one.
      run->is_deferred = true;
      plan.deferred.push_back(place);
      continue;
    }
    if (!refusal) refusal = find_contents(append, *run, plan, contents);
    if (refusal && !run->is_certain) {
      plan.unknown_runs.insert(append.run);
    } else if (refusal) {
      refuse(place, *refusal);
    } else if (plan.unknown_contents.size() == unknown_before) {
      add(place, *run, std::move(contents), plan);
    }
  }
  return plan;
}

namespace {

/// The batch of a step, and the row after it.
void encode(RunStep& step, std::span<const Append> appends) {
  std::vector<std::string> merged_records;
  std::vector<Hash> merged_references;
  std::span<const std::string> records = appends[step.appends.front()].records;
  std::span<const Hash> references = appends[step.appends.front()].references;
  if (step.appends.size() > 1) {
    for (const std::size_t place : step.appends) {
      const Append& append = appends[place];
      merged_records.insert(merged_records.end(), append.records.begin(), append.records.end());
      merged_references.insert(merged_references.end(), append.references.begin(), append.references.end());
    }
    records = merged_records;
    references = merged_references;
  }
  step.after.id = step.before.id;
  step.after.owner = step.moves_to ? 0 : step.before.owner;
  step.after.head.chain = step.before.head.chain;
  if (records.empty() && references.empty()) return;
  EncodedBatch batch = encode_batch(step.before.head.chain, records, references);
  step.after.head.chain = batch.chain;
  step.batch = std::move(batch.bytes);
}

void divide_contents(Layer& layer, AppendPlan& plan, const KnownRuns& known) {
  ContentRows* contents = &layer.contents;
  for (const RunStep& step : layer.steps) {
    for (const Content* const content : step.contents) {
      if (!contents->rows.empty() && contents->bytes + content->bytes.size() > layer_bytes_max)
        contents = &layer.later.emplace_back().contents;
      const bool is_later = contents != &layer.contents;
      if (is_later && (contents->rows.empty() || contents->rows.back().run != step.after.id))
        layer.later.back().runs.push_back(step.after);
      const bool is_stored = is_shared(*content) && known.has_shared_body(content->hash);
      if (is_stored) plan.assumed_bodies.insert(content->hash);
      add_content(*contents, {step.after.id, content}, is_stored ? BodyUse::Stored : BodyUse::Sent);
    }
  }
}

}  // namespace

bool is_shared(const Content& content) {
  return content.sharing == Sharing::Store || content.bytes.size() >= shared_content_bytes_min;
}

std::string encode_hashes(const std::vector<Hash>& hashes) {
  std::string bytes;
  bytes.reserve(hashes.size() * Hash::size);
  for (const Hash& hash : hashes) bytes += hash.view();
  return bytes;
}

void add_content(ContentRows& contents, const ContentRow& row, BodyUse body) {
  contents.rows.push_back(row);
  contents.bytes += Hash::size * (1 + row.content->refers.size());
  if (is_shared(*row.content)) {
    if (body == BodyUse::Stored) return;
    const auto place = std::ranges::lower_bound(contents.bodies, row.content->hash, {}, &Content::hash);
    if (place != contents.bodies.end() && (*place)->hash == row.content->hash) return;
    contents.bodies.insert(place, row.content);
  }
  contents.bytes += row.content->bytes.size();
}

void encode(AppendPlan& plan, std::span<const Append> appends, std::span<const std::int64_t> new_ids,
            const KnownRuns& known) {
  std::unordered_map<std::string, RunRow> last;  // what the layers before have made of runs
  std::size_t used_ids = 0;
  for (Layer& layer : plan.layers) {
    for (RunStep& step : layer.steps) {
      if (plan.layers.size() > 1)
        if (const auto before = last.find(step.before.head.run.text); before != last.end())
          step.before = before->second;
      if (step.kind == RunStep::Kind::Start) step.before.id = new_ids[used_ids++];
      encode(step, appends);
      if (plan.layers.size() > 1) last.insert_or_assign(step.after.head.run.text, step.after);
    }
    std::int64_t now_ms = INT64_MAX;
    for (const StepNote& note : layer.notes) now_ms = std::min(now_ms, note.now_ms);
    for (StepNote& note : layer.notes) {
      note.run = layer.steps[note.step].after.id;
      note.now_ms = now_ms;
    }
    // Two commits that change the same runs change them in the same order, and the same for notes.
    std::ranges::sort(layer.steps, {}, [](const RunStep& step) { return step.after.id; });
    std::ranges::sort(layer.notes, {}, [](const StepNote& note) -> const std::string& { return note.note->key; });
    divide_contents(layer, plan, known);
  }
}

std::size_t count_starts(const AppendPlan& plan) {
  std::size_t count = 0;
  for (const Layer& layer : plan.layers)
    count += static_cast<std::size_t>(std::ranges::count(layer.steps, RunStep::Kind::Start, &RunStep::kind));
  return count;
}

}  // namespace tenon::journal::postgres
