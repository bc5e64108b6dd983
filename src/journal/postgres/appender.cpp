#include "journal/postgres/appender.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "journal/postgres/append_additions.h"
#include "journal/postgres/stored_contents.h"

namespace tenon::journal::postgres {
namespace {

/// Ids that one value of the sequence `run_ids` stands for: its increment.
constexpr std::int64_t ids_per_block = 64;
/// How often expired notes are removed, and how many at a time.
constexpr std::int64_t clear_notes_interval_ms = 1'000;
/// A plan that is made this often for one commit does not end.
constexpr std::size_t plans_max = 1'000;
/// How often a server may end the session in the middle of one commit, each time after it was reached again.
constexpr std::size_t doubts_max = 20;

const Statement select_rows{"SELECT " TENON_HEAD_COLUMNS " FROM runs AS r WHERE r.name = ANY($1::text[])"};
const Statement select_missing_contents{R"sql(
  SELECT g.run, g.hash FROM unnest($1::bigint[], $2::bytea[]) AS g(run, hash)
  WHERE NOT EXISTS (SELECT FROM contents AS c WHERE c.run = g.run AND c.hash = g.hash))sql"};
const Statement take_id_block{"SELECT nextval('run_ids')"};
const Statement require_bodies{R"sql(
  SELECT reject('TN002') FROM unnest($1::bytea[]) AS g(hash)
  WHERE NOT EXISTS (SELECT FROM shared_bodies AS s WHERE s.hash = g.hash) LIMIT 1)sql"};
const Statement clear_notes{R"sql(
  DELETE FROM notes WHERE key IN (
    SELECT key FROM notes WHERE expires_at <= $1::bigint ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED))sql"};
const Statement select_older_notes{R"sql(
  SELECT n.key FROM unnest($1::bytea[], $2::bigint[]) AS g(key, now) JOIN notes AS n ON n.key = g.key
  WHERE n.expires_at IS NULL OR n.expires_at > g.now)sql"};

bool adds_shared(const ContentRows& contents) {
  return std::ranges::any_of(contents.rows, [](const ContentRow& row) { return is_shared(*row.content); });
}

bool adds_shared(const AppendPlan& plan) {
  return std::ranges::any_of(plan.layers, [](const Layer& layer) {
    return adds_shared(layer.contents) ||
           std::ranges::any_of(layer.later, [](const LaterContents& later) { return adds_shared(later.contents); });
  });
}

/// The newest time of the plan's notes; nothing if there are none.
std::optional<std::int64_t> notes_time(const AppendPlan& plan) {
  std::optional<std::int64_t> time;
  for (const Layer& layer : plan.layers)
    for (const StepNote& note : layer.notes) time = std::max(note.now_ms, time.value_or(INT64_MIN));
  return time;
}

/// Statements that are executed together, with their parameters.
class CallList {
 public:
  Parameters& add_parameters() { return parameters_.emplace_back(); }
  void add(const Statement& statement) { calls_.push_back({&statement, &parameters_.back()}); }
  [[nodiscard]] std::span<const Call> calls() const { return calls_; }

 private:
  std::deque<Parameters> parameters_;
  std::vector<Call> calls_;
};

}  // namespace

Appender::Commit::Commit(std::span<const Append> given, KnownRuns& known)
    : appends(given), planner(given, known), outcomes(given.size()) {
  for (std::size_t place = 0; place < given.size(); ++place) open.insert(open.end(), place);
}

Result<AppendOutcomes, StoreError> Appender::commit(std::span<const Append> appends) {
  if (auto writable = connection_.require_writable(); !writable) return failure(writable.error());
  known_.make_room();
  Commit commit(appends, known_);
  for (std::size_t plans = 0; !commit.open.empty(); ++plans) {
    if (plans == plans_max)
      return failure(
          StoreError{StoreError::Kind::Broken,
                     fmt::format("{}: a commit does not end: its runs change all the time", connection_.name())});
    const std::vector<std::size_t> places(commit.open.begin(), commit.open.end());
    AppendPlan plan = commit.planner.plan(places);
    if (!plan.is_complete()) {
      if (auto done = read_what_is_unknown(plan, commit); !done) return failure(done.error());
      continue;
    }
    for (const auto& [place, why] : plan.refused) {
      commit.outcomes[place] = why;
      commit.open.erase(place);
    }
    if (plan.layers.empty()) continue;
    const auto ids = take_ids(count_starts(plan));
    if (!ids) return failure(ids.error());
    encode(plan, appends, *ids, known_);
    if (auto done = perform(plan, commit); !done) return failure(done.error());
  }
  return std::move(commit.outcomes);
}

Appender::Done Appender::read_what_is_unknown(const AppendPlan& plan, Commit& commit) {
  if (!plan.unknown_runs.empty()) {
    const auto rows = read_rows({plan.unknown_runs.begin(), plan.unknown_runs.end()}, commit);
    return rows ? Done() : failure(rows.error());
  }
  ArrayValue runs(ArrayValue::Element::Bigint), hashes(ArrayValue::Element::Bytea);
  for (const auto& [run, hash] : plan.unknown_contents) {
    runs.add(run);
    hashes.add(hash.view());
  }
  const auto missing = query(select_missing_contents, Parameters().array(std::move(runs)).array(std::move(hashes)));
  if (!missing) return failure(missing.error());
  using Presence = AppendPlanner::Presence;
  for (const auto& [run, hash] : plan.unknown_contents) commit.planner.note_content(run, hash, Presence::Stored);
  for (std::size_t row = 0; row < missing->size(); ++row)
    commit.planner.note_content(missing->get_integer(row, 0), missing->get_hash(row, 1), Presence::Missing);
  return {};
}

Result<Rows, StoreError> Appender::query(const Statement& statement, const Parameters& parameters) {
  return connection_.link().query(statement, parameters, ServerLink::Patience::UntilStop);
}

Result<std::vector<RunRow>, StoreError> Appender::read_rows(const std::vector<RunName>& runs, Commit& commit) {
  ArrayValue names(ArrayValue::Element::Text);
  for (const RunName& run : runs) names.add(run.text);
  const auto found = query(select_rows, Parameters().array(std::move(names)));
  if (!found) return failure(found.error());
  for (const RunName& run : runs) commit.planner.note_row(run, std::nullopt);
  std::vector<RunRow> rows;
  for (std::size_t at = 0; at < found->size(); ++at) {
    rows.push_back(read_run_row(*found, at));
    commit.planner.note_row(rows.back().head.run, rows.back());
  }
  return rows;
}

Result<std::vector<std::int64_t>, StoreError> Appender::take_ids(std::size_t count) {
  while (free_ids_.size() < count) {
    const auto block = query(take_id_block);
    if (!block) return failure(block.error());
    for (std::int64_t at = ids_per_block; at-- > 0;) free_ids_.push_back(block->get_integer(0, 0) + at);
  }
  std::vector<std::int64_t> ids(free_ids_.end() - static_cast<std::ptrdiff_t>(count), free_ids_.end());
  free_ids_.resize(free_ids_.size() - count);
  return ids;
}

Appender::Done Appender::perform(AppendPlan& plan, Commit& commit) {
  CallList list;
  if (adds_shared(plan)) {
    list.add_parameters().integer(connection_.number());
    list.add(lock_to_add_bodies);
  }
  if (!plan.assumed_bodies.empty()) {
    ArrayValue hashes(ArrayValue::Element::Bytea);
    for (const Hash& hash : plan.assumed_bodies) hashes.add(hash.view());
    list.add_parameters().array(std::move(hashes));
    list.add(require_bodies);
  }
  const auto now = notes_time(plan);
  const bool clears_notes = now && *now >= notes_cleared_at_ + clear_notes_interval_ms;
  if (clears_notes) {
    list.add_parameters().integer(*now);
    list.add(clear_notes);
  }
  std::vector<std::size_t> layer_calls;
  for (const Layer& layer : plan.layers) {
    layer_calls.push_back(list.calls().size());
    list.add(statements_.fill(layer, connection_.owner(), list.add_parameters()));
    for (const LaterContents& later : layer.later) list.add(fill_later_contents(later, list.add_parameters()));
  }
  const auto session = connection_.link().get(ServerLink::Patience::UntilStop);
  if (!session) return failure(session.error());
  const auto results = (*session)->run(list.calls());
  if (!results) {
    if (results.error().kind == SessionError::Kind::Rejected) return on_rejected(results.error(), plan, commit);
    return resolve_doubt(results.error(), plan, commit);
  }
  if (clears_notes) notes_cleared_at_ = *now;
  for (std::size_t at = 0; at < plan.layers.size(); ++at) {
    const Layer& layer = plan.layers[at];
    const Rows& result = (*results)[layer_calls[at]];
    std::vector<std::int64_t> applied = result.size() == 0 ? std::vector<std::int64_t>() : result.get_integers(0, 0);
    std::ranges::sort(applied);
    for (const RunStep& step : layer.steps) {
      if (std::ranges::binary_search(applied, step.after.id)) {
        note_applied(layer, step, commit);
      } else {
        commit.planner.note_outdated(step);
      }
    }
    for (const ContentRow& row : layer.contents.rows)
      if (is_shared(*row.content) && std::ranges::binary_search(applied, row.run))
        known_.add_shared_body(row.content->hash);
  }
  return {};
}

void Appender::note_applied(const Layer& layer, const RunStep& step, Commit& commit) {
  commit.planner.note_applied(step);
  for (const std::size_t place : step.appends) commit.open.erase(place);
  for (const StepNote& note : layer.notes)
    if (note.run == step.after.id && note.note->expires_at.value_or(INT64_MAX) > note.now_ms)
      commit.planner.note_existing(note.note->key);
}

Appender::Done Appender::on_rejected(const SessionError& reason, const AppendPlan& plan, Commit& commit) {
  if (is_transient(reason)) return {};
  if (reason.state == note_exists_state) return find_older_notes(plan, commit);
  if (reason.state == body_missing_state) {
    known_.forget_shared_bodies();
    return {};
  }
  return failure(connection_.error(reason));
}

Appender::Done Appender::find_older_notes(const AppendPlan& plan, Commit& commit) {
  ArrayValue keys(ArrayValue::Element::Bytea), times(ArrayValue::Element::Bigint);
  for (const Layer& layer : plan.layers) {
    for (const StepNote& note : layer.notes) {
      if (note.note->use != NoteUse::KeepFirst) continue;
      keys.add(note.note->key);
      times.add(note.now_ms);
    }
    // Whether a run has another owner is found out first.
    for (const RunStep& step : layer.steps) commit.planner.note_doubtful(step.after.head.run);
  }
  const auto older = query(select_older_notes, Parameters().array(std::move(keys)).array(std::move(times)));
  if (!older) return failure(older.error());
  for (std::size_t row = 0; row < older->size(); ++row) commit.planner.note_existing(older->get_text(row, 0));
  return {};
}

/// The link has ended the former session before it returns a new one, so that what is read now is final. An epoch has
/// one owner, so only this process can have changed a run whose epoch is still the planned one.
Appender::Done Appender::resolve_doubt(const SessionError& reason, const AppendPlan& plan, Commit& commit) {
  if (++commit.doubts > doubts_max)
    return failure(
        StoreError{StoreError::Kind::Broken, fmt::format("{}: the server ends the session whenever it is to commit: {}",
                                                         connection_.name(), reason.message)});
  std::vector<RunName> runs;
  for (const Layer& layer : plan.layers)
    for (const RunStep& step : layer.steps) runs.push_back(step.after.head.run);
  const auto rows = read_rows(runs, commit);
  if (!rows) return failure(rows.error());
  std::unordered_map<std::string_view, const RunRow*> by_name;
  for (const RunRow& row : *rows) by_name.emplace(row.head.run.text, &row);
  for (const Layer& layer : plan.layers) {
    for (const RunStep& step : layer.steps) {
      const auto found = by_name.find(step.after.head.run.text);
      if (found == by_name.end()) continue;
      const RunRow& row = *found->second;
      bool is_applied =
          row.id == step.after.id && row.head.epoch == step.after.head.epoch && row.appends >= step.after.appends;
      // A run that was given up has another owner: if that has appended, this append is reported as a former owner's.
      if (step.moves_to) is_applied = is_applied && row.head.chain == step.after.head.chain;
      if (is_applied) note_applied(layer, step, commit);
    }
  }
  return {};
}

}  // namespace tenon::journal::postgres
