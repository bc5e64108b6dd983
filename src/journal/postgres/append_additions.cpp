#include "journal/postgres/append_additions.h"

#include <vector>

namespace tenon::journal::postgres {
namespace {

using Element = ArrayValue::Element;
using Row = const RunStep*;

/// The notes with this use, as the table `name`.
void compose_notes(Composer& out, const Layer& layer, NoteUse use, std::string_view name, std::string_view applied) {
  std::vector<StepNote> notes = layer.notes;
  std::erase_if(notes, [&](const StepNote& note) { return note.note->use != use; });
  out.text(", ").text(name).text(" AS (SELECT n.* FROM ");
  out.table(
      "n", notes,
      {{"run", Element::Bigint, [](ArrayValue& to, const StepNote& note) { to.add(note.run); }},
       {"key", Element::Bytea, [](ArrayValue& to, const StepNote& note) { to.add(note.note->key); }},
       {"bytes", Element::Bytea, [](ArrayValue& to, const StepNote& note) { to.add(note.note->bytes); }},
       {"expires_at", Element::Bigint, [](ArrayValue& to, const StepNote& note) { to.add(note.note->expires_at); }},
       {"now", Element::Bigint, [](ArrayValue& to, const StepNote& note) { to.add(note.now_ms); }}});
  compose_if_applied(out, "n", applied);
  out.text(")");
}

}  // namespace

/// `IS TRUE` makes the planner look each row up in a hash table. It would make a plain IN a join, and might then
/// compare each row with each.
void compose_if_applied(Composer& out, std::string_view table, std::string_view applied) {
  out.text(" WHERE (").text(table).text(".run IN (SELECT id FROM ").text(applied).text(")) IS TRUE");
}

void compose_contents(Composer& out, const ContentRows& contents, std::string_view applied) {
  const std::vector<ContentRow>& rows = contents.rows;
  out.text(", contained AS (INSERT INTO contents(run, hash, refers, bytes) SELECT c.* FROM ");
  out.table("c", rows,
            {{"run", Element::Bigint, [](ArrayValue& to, const ContentRow& row) { to.add(row.run); }},
             {"hash", Element::Bytea, [](ArrayValue& to, const ContentRow& row) { to.add(row.content->hash.view()); }},
             {"refers", Element::Bytea,
              [](ArrayValue& to, const ContentRow& row) { to.add(encode_hashes(row.content->refers)); }},
             {"bytes", Element::Bytea, [](ArrayValue& to, const ContentRow& row) {
                is_shared(*row.content) ? to.add_null() : to.add(row.content->bytes);
              }}});
  compose_if_applied(out, "c", applied);
  out.text(" ON CONFLICT (run, hash) DO NOTHING RETURNING hash)");
}

void compose_bodies(Composer& out, const ContentRows& contents) {
  using Body = const Content*;
  out.text(", shared AS (INSERT INTO shared_bodies(hash, bytes) SELECT s.* FROM ");
  out.table("s", contents.bodies,
            {{"hash", Element::Bytea, [](ArrayValue& to, const Body& body) { to.add(body->hash.view()); }},
             {"bytes", Element::Bytea, [](ArrayValue& to, const Body& body) { to.add(body->bytes); }}});
  out.text(" WHERE (s.hash IN (SELECT hash FROM contained)) IS TRUE ON CONFLICT (hash) DO NOTHING)");
}

void compose_snapshots(Composer& out, const Layer& layer, std::string_view applied) {
  std::vector<Row> steps;
  for (const RunStep& step : layer.steps)
    if (step.snapshot != nullptr) steps.push_back(&step);
  out.text(", snapped AS (INSERT INTO snapshots(run, after, hash, bytes) SELECT p.* FROM ");
  out.table(
      "p", steps,
      {{"run", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(step->after.id); }},
       {"after", Element::Bigint, [](ArrayValue& to, const Row& step) { to.add(step->snapshot->after); }},
       {"hash", Element::Bytea, [](ArrayValue& to, const Row& step) { to.add(sha256(step->snapshot->bytes).view()); }},
       {"bytes", Element::Bytea, [](ArrayValue& to, const Row& step) { to.add(step->snapshot->bytes); }}});
  compose_if_applied(out, "p", applied);
  out.text(" ON CONFLICT (run) DO UPDATE SET after = excluded.after, hash = excluded.hash, bytes = excluded.bytes)");
}

void compose_replaced_notes(Composer& out, const Layer& layer, std::string_view applied) {
  compose_notes(out, layer, NoteUse::Replace, "replacing", applied);
  out.text(
      ", replaced AS (INSERT INTO notes(key, bytes, expires_at) SELECT key, bytes, expires_at FROM replacing "
      "ON CONFLICT (key) DO UPDATE SET bytes = excluded.bytes, expires_at = excluded.expires_at)");
}

void compose_first_notes(Composer& out, const Layer& layer, std::string_view applied) {
  compose_notes(out, layer, NoteUse::KeepFirst, "keeping", applied);
  out.text(
      ", kept AS (INSERT INTO notes AS old (key, bytes, expires_at) SELECT key, bytes, expires_at FROM keeping "
      "ON CONFLICT (key) DO UPDATE SET bytes = excluded.bytes, expires_at = excluded.expires_at "
      "WHERE old.expires_at <= (SELECT min(now) FROM keeping) RETURNING 1)");
}

namespace {

enum class Bodies : bool { Without, With };

void compose_later_contents(Composer& out, const LaterContents& later, Bodies bodies) {
  out.text("WITH applied AS (SELECT r.id FROM runs AS r, ");
  out.table("a", later.runs,
            {{"id", Element::Bigint, [](ArrayValue& to, const RunRow& run) { to.add(run.id); }},
             {"epoch", Element::Bigint, [](ArrayValue& to, const RunRow& run) { to.add(run.head.epoch); }},
             {"appends", Element::Bigint, [](ArrayValue& to, const RunRow& run) { to.add(run.appends); }}});
  out.text(" WHERE r.id = a.id AND r.epoch = a.epoch AND r.appends = a.appends)");
  compose_contents(out, later.contents, "applied");
  if (bodies == Bodies::With) compose_bodies(out, later.contents);
  out.text(" SELECT 1");
}

std::string make_later_contents(Bodies bodies) {
  std::string sql;
  Parameters none;
  Composer out(&sql, none);
  compose_later_contents(out, {}, bodies);
  return sql;
}

}  // namespace

const Statement& fill_later_contents(const LaterContents& later, Parameters& parameters) {
  static const Statement with_bodies{make_later_contents(Bodies::With)};
  static const Statement without_bodies{make_later_contents(Bodies::Without)};
  const bool has_bodies = !later.contents.bodies.empty();
  Composer out(nullptr, parameters);
  compose_later_contents(out, later, has_bodies ? Bodies::With : Bodies::Without);
  return has_bodies ? with_bodies : without_bodies;
}

}  // namespace tenon::journal::postgres
