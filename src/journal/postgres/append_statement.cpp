#include "journal/postgres/append_statement.h"

#include <string>
#include <string_view>

#include "journal/postgres/append_additions.h"
#include "journal/postgres/composer.h"

namespace tenon::journal::postgres {
namespace {

/// What a layer contains.
enum Part : std::uint32_t {
  Continues = 1U << 0U,
  Starts = 1U << 1U,
  IsLone = 1U << 2U,   ///< one run that continues
  Batches = 1U << 3U,  ///< of runs that continue
  Contents = 1U << 4U,
  SharedBodies = 1U << 5U,
  Snapshots = 1U << 6U,
  Replaced = 1U << 7U,  ///< notes
  KeptFirst = 1U << 8U,
  Moves = 1U << 9U,          ///< runs that are given up
  Texts = 1U << 10U,         ///< the title or the detail of a run that continues changes
  States = 1U << 11U,        ///< its state does, or when it is due
  FirstBatches = 1U << 12U,  ///< of runs that start
};
/// What most of an agent's steps consist of: one round trip to the server is most of their time.
constexpr std::uint32_t plain_step = Continues | IsLone | Batches;

std::uint32_t parts_of(const Layer& layer) {
  std::uint32_t parts = 0;
  for (const RunStep& step : layer.steps) {
    parts |= step.kind == RunStep::Kind::Start ? Starts : Continues;
    if (step.batch) parts |= step.kind == RunStep::Kind::Start ? FirstBatches : Batches;
    if (step.snapshot != nullptr) parts |= Snapshots;
    if (step.moves_to) parts |= Moves;
    const RunSummary& before = step.before.head.summary;
    const RunSummary& after = step.after.head.summary;
    if (step.kind == RunStep::Kind::Start) continue;
    if (before.title != after.title || before.detail != after.detail) parts |= Texts;
    if (before.state != after.state || before.wake_at != after.wake_at) parts |= States;
  }
  if (!layer.contents.rows.empty()) parts |= Contents;
  if (!layer.contents.bodies.empty()) parts |= SharedBodies;
  for (const StepNote& note : layer.notes) parts |= note.note->use == NoteUse::Replace ? Replaced : KeptFirst;
  if (layer.steps.size() == 1 && (parts & (Starts | Moves)) == 0) parts |= IsLone;
  return parts;
}

using Element = ArrayValue::Element;

/// The host of the pool to which a run is given: each time the same one, as long as the pool has the same hosts.
#define TENON_NEXT_OWNER(POOL, RUN)                                                                                 \
  "(SELECT o.id FROM owners AS o WHERE o.role = 1 AND o.dead_at IS NULL AND o.lease_until > clock_timestamp() AND " \
  "o.pool = " POOL " ORDER BY hashint8extended(o.id, " RUN "), o.id LIMIT 1)"

/// Null if the column keeps its value.
const std::string* find_change(const std::string& before, const std::string& after) {
  return before == after ? nullptr : &after;
}

void add_change(ArrayValue& array, const std::string& before, const std::string& after) {
  before == after ? array.add_null() : array.add(after);
}

std::uint64_t count_records(const RunStep& step) {
  return step.after.head.records - step.before.head.records;
}

/// Columns of one run.
void compose_lone(Composer& out, const RunStep& step, std::uint32_t parts) {
  const RunHead& before = step.before.head;
  const RunHead& after = step.after.head;
  out.text("appended AS (UPDATE runs AS r SET records = ").integer(after.records);
  out.text(", appends = r.appends + 1, updated_at = ").integer(after.summary.updated_at);
  if ((parts & States) != 0) {
    out.text(", wake_at = ").optional(after.summary.wake_at);
    out.text(", state = ").integer(static_cast<std::int64_t>(after.summary.state));
  }
  out.text(", checksum = ").integer(checksum_of(step.after));
  out.text(", chain = ").bytes(after.chain.view());
  if ((parts & Texts) != 0) {
    out.text(", title = coalesce(").optional_bytes(find_change(before.summary.title, after.summary.title));
    out.text(", r.title), detail = coalesce(").optional_bytes(find_change(before.summary.detail, after.summary.detail));
    out.text(", r.detail)");
  }
  out.text(" WHERE r.id = ").integer(step.before.id);
  out.text(" AND r.epoch = ").integer(before.epoch);
  out.text(" AND r.records = ").integer(before.records);
  out.text(" AND r.appends = ").integer(step.before.appends);
  out.text(" RETURNING r.id)");
}

/// Each run's row, and its batch beside it: the table `appended` has what a batch's row consists of.
void compose_continues(Composer& out, const std::vector<const RunStep*>& steps, std::uint32_t parts) {
  using Row = const RunStep*;
  const bool has_moves = (parts & Moves) != 0;
  const bool has_states = (parts & States) != 0;
  const bool has_texts = (parts & Texts) != 0;
  out.text(
      "appended AS (UPDATE runs AS r SET records = r.records + a.count, appends = r.appends + 1, updated_at = "
      "a.updated_at, checksum = a.checksum, chain = a.chain");
  if (has_states) out.text(", wake_at = a.wake_at, state = a.state");
  if (has_texts) out.text(", title = coalesce(a.title, r.title), detail = coalesce(a.detail, r.detail)");
  if (has_moves)
    out.text(", epoch = a.next_epoch, owner = CASE WHEN a.pool IS NULL THEN r.owner ELSE " TENON_NEXT_OWNER(
        "a.pool", "r.id") " END, pool = coalesce(a.pool, r.pool)");
  out.text(" FROM ");
  std::vector<Composer::Column<std::vector<Row>>> columns = {
      {"id", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(step->before.id); }},
      {"epoch", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(step->before.head.epoch); }},
      {"records", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(step->before.head.records); }},
      {"appends", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(step->before.appends); }},
      {"count", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(count_records(*step)); }},
      {"updated_at", Element::Bigint,
       [](ArrayValue& to, const Row& step) { to.add(step->after.head.summary.updated_at); }},
      {"checksum", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(checksum_of(step->after)); }},
      {"chain", Element::Bytea, [](ArrayValue& to, const Row& step) { to.add(step->after.head.chain.view()); }},
      {"chain_before", Element::Bytea, [](ArrayValue& to, const Row& step) { to.add(step->before.head.chain.view()); }},
      {"bytes", Element::Bytea,
       [](ArrayValue& to, const Row& step) { step->batch ? to.add(*step->batch) : to.add_null(); }}};
  if (has_states) {
    columns.push_back({"wake_at", Element::Bigint,
                       [](ArrayValue& to, const Row& step) { to.add(step->after.head.summary.wake_at); }});
    columns.push_back({"state", Element::Bigint, [](ArrayValue& to, const Row& step) {
                         to.add(static_cast<std::int64_t>(step->after.head.summary.state));
                       }});
  }
  if (has_texts) {
    columns.push_back({"title", Element::Bytea, [](ArrayValue& to, const Row& step) {
                         add_change(to, step->before.head.summary.title, step->after.head.summary.title);
                       }});
    columns.push_back({"detail", Element::Bytea, [](ArrayValue& to, const Row& step) {
                         add_change(to, step->before.head.summary.detail, step->after.head.summary.detail);
                       }});
  }
  if (has_moves) {
    columns.push_back(
        {"next_epoch", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(step->after.head.epoch); }});
    columns.push_back({"pool", Element::Text, [](ArrayValue& to, const Row& step) {
                         step->moves_to ? to.add(*step->moves_to) : to.add_null();
                       }});
  }
  out.table("a", steps, columns);
  out.text(
      " WHERE r.id = a.id AND r.epoch = a.epoch AND r.records = a.records AND r.appends = a.appends "
      "RETURNING r.id, a.records + 1 AS first, r.appends, a.count, a.chain_before, a.bytes)");
}

#undef TENON_NEXT_OWNER

/// Commands for runs that move go with them. One that is left at this moment is passed on later (Inbox::redirect).
void compose_moved_commands(Composer& out, const Layer& layer, std::string_view applied) {
  std::vector<const RunStep*> steps;
  for (const RunStep& step : layer.steps)
    if (step.moves_to) steps.push_back(&step);
  using Row = const RunStep*;
  out.text(", moved AS (UPDATE inbox AS i SET target = NULL, pool = m.pool FROM ");
  out.table("m", steps,
            {{"run", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(step->after.id); }},
             {"name", Element::Text, [](ArrayValue& to, const Row& step) { to.add(step->after.head.run.text); }},
             {"pool", Element::Text, [](ArrayValue& to, const Row& step) { to.add(*step->moves_to); }}});
  compose_if_applied(out, "m", applied);
  out.text(" AND i.run = m.name AND i.reply IS NULL)");
}

/// Of two owners that start the same run, one does. An owner that was marked as dead starts none.
void compose_starts(Composer& out, const std::vector<const RunStep*>& steps, std::int64_t owner) {
  using Row = const RunStep*;
  out.text(
      "started AS (INSERT INTO runs(id, epoch, owner, records, appends, created_at, updated_at, wake_at, state, "
      "checksum, name, pool, chain, title, detail) SELECT s.id, s.epoch, CASE WHEN s.is_owned = 1 THEN ");
  out.integer(owner).text(
      " END, s.records, 1, s.created_at, s.updated_at, s.wake_at, s.state, s.checksum, s.name, s.pool, s.chain, "
      "s.title, "
      "s.detail FROM ");
  out.table(
      "s", steps,
      {{"id", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(step->after.id); }},
       {"epoch", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(step->after.head.epoch); }},
       {"is_owned", Element::Bigint,
        [](ArrayValue& to, const Row& step) { to.add(std::int64_t{!step->moves_to.has_value()}); }},
       {"records", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(step->after.head.records); }},
       {"created_at", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(step->after.head.created_at); }},
       {"updated_at", Element::Bigint,
        [](ArrayValue& to, const Row& step) { to.add(step->after.head.summary.updated_at); }},
       {"wake_at", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(step->after.head.summary.wake_at); }},
       {"state", Element::Bigint,
        [](ArrayValue& to, const Row& step) { to.add(static_cast<std::int64_t>(step->after.head.summary.state)); }},
       {"checksum", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(checksum_of(step->after)); }},
       {"name", Element::Text, [](ArrayValue& to, const Row& step) { to.add(step->after.head.run.text); }},
       {"pool", Element::Text, [](ArrayValue& to, const Row& step) { to.add(step->moves_to.value_or(step->pool)); }},
       {"chain", Element::Bytea, [](ArrayValue& to, const Row& step) { to.add(step->after.head.chain.view()); }},
       {"title", Element::Bytea, [](ArrayValue& to, const Row& step) { to.add(step->after.head.summary.title); }},
       {"detail", Element::Bytea, [](ArrayValue& to, const Row& step) { to.add(step->after.head.summary.detail); }}});
  out.text(
      " "
      "WHERE EXISTS (SELECT FROM owners AS o WHERE o.id = ");
  out.integer(owner).text(" AND o.dead_at IS NULL) ON CONFLICT (name) DO NOTHING RETURNING id)");
}

/// The first batches of runs that start.
void compose_first_batches(Composer& out, const std::vector<const RunStep*>& starts) {
  std::vector<const RunStep*> steps = starts;
  std::erase_if(steps, [](const RunStep* step) { return !step->batch; });
  using Row = const RunStep*;
  out.text(
      ", first_batched AS (INSERT INTO batches(run, first, append, count, chain, bytes) SELECT b.run, 1, 1, b.count, "
      "b.chain, b.bytes FROM ");
  out.table("b", steps,
            {{"run", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(step->after.id); }},
             {"count", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(count_records(*step)); }},
             {"chain", Element::Bytea, [](ArrayValue& to, const Row& step) { to.add(step->before.head.chain.view()); }},
             {"bytes", Element::Bytea, [](ArrayValue& to, const Row& step) { to.add(*step->batch); }}});
  compose_if_applied(out, "b", "started");
  out.text(")");
}

void compose_lone_batch(Composer& out, const RunStep& step) {
  out.text("INSERT INTO batches(run, first, append, count, chain, bytes) SELECT a.id, ");
  out.integer(step.before.head.records + 1).text(", ");
  out.integer(step.after.appends).text(", ");
  out.integer(count_records(step)).text(", ");
  out.bytes(step.before.head.chain.view()).text(", ");
  out.bytes(*step.batch).text(" FROM appended AS a");
}

void compose(Composer& out, const Layer& layer, std::int64_t owner, std::uint32_t parts) {
  std::vector<const RunStep*> starts, continues;
  for (const RunStep& step : layer.steps) (step.kind == RunStep::Kind::Start ? starts : continues).push_back(&step);
  std::string_view applied = "appended";
  out.text("WITH ");
  if ((parts & IsLone) != 0) {
    compose_lone(out, layer.steps.front(), parts);
  } else if ((parts & Continues) != 0) {
    compose_continues(out, continues, parts);
  }
  if ((parts & Starts) != 0) {
    if ((parts & Continues) != 0) out.text(", ");
    compose_starts(out, starts, owner);
    applied = "started";
    if ((parts & Continues) != 0) {
      out.text(", applied AS (SELECT id FROM appended UNION ALL SELECT id FROM started)");
      applied = "applied";
    }
  }
  if ((parts & ~(Texts | States)) == plain_step) {
    out.text(" ");
    compose_lone_batch(out, layer.steps.front());
    out.text(" RETURNING ARRAY[run]");
    return;
  }
  if ((parts & Batches) != 0 && (parts & IsLone) != 0) {
    out.text(", batched AS (");
    compose_lone_batch(out, layer.steps.front());
    out.text(")");
  } else if ((parts & Batches) != 0) {
    out.text(
        ", batched AS (INSERT INTO batches(run, first, append, count, chain, bytes) SELECT * FROM appended AS a WHERE "
        "a.bytes IS NOT NULL)");
  }
  if ((parts & FirstBatches) != 0) compose_first_batches(out, starts);
  if ((parts & Contents) != 0) compose_contents(out, layer.contents, applied);
  if ((parts & SharedBodies) != 0) compose_bodies(out, layer.contents);
  if ((parts & Snapshots) != 0) compose_snapshots(out, layer, applied);
  if ((parts & Moves) != 0) compose_moved_commands(out, layer, applied);
  if ((parts & Replaced) != 0) compose_replaced_notes(out, layer, applied);
  if ((parts & KeptFirst) != 0) compose_first_notes(out, layer, applied);
  out.text(" SELECT array_agg(id)");
  if ((parts & KeptFirst) != 0)
    out.text(", CASE WHEN (SELECT count(*) FROM kept) < (SELECT count(*) FROM keeping) THEN reject('TN001') END");
  out.text(" FROM ").text(applied);
}

}  // namespace

const Statement& AppendStatements::fill(const Layer& layer, std::int64_t owner, Parameters& parameters) {
  const std::uint32_t parts = parts_of(layer);
  std::unique_ptr<const Statement>& statement = statements_[parts];
  std::string sql;
  Composer out(statement ? nullptr : &sql, parameters);
  compose(out, layer, owner, parts);
  if (!statement) statement = std::make_unique<const Statement>(std::move(sql));
  return *statement;
}

}  // namespace tenon::journal::postgres
