#include "journal/postgres/run_import.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "journal/batch.h"
#include "journal/postgres/append_additions.h"
#include "journal/postgres/run_reading.h"
#include "journal/postgres/stored_contents.h"
#include "journal/postgres/transaction.h"

namespace tenon::journal::postgres {
namespace {

using Element = ArrayValue::Element;

const Statement take_import_id{"SELECT nextval('run_ids')"};
const Statement insert_imported{R"sql(
  INSERT INTO runs(id, epoch, owner, records, appends, created_at, updated_at, wake_at, state, checksum, name, pool,
                   chain, title, detail)
  VALUES ($1::bigint, $2::bigint, NULL, $3::bigint, $4::bigint, $5::bigint, $6::bigint, $7::bigint, $8::bigint,
          $9::bigint, $10::text, $11::text, $12::bytea, $13::bytea, $14::bytea)
  ON CONFLICT (name) DO NOTHING RETURNING id)sql"};
const Statement insert_batches{R"sql(
  INSERT INTO batches(run, first, append, count, chain, bytes)
  SELECT $1::bigint, b.* FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bytea[]) AS b)sql"};

/// Batches or contents of about this many bytes are added together.
constexpr std::size_t import_piece_bytes = std::size_t{8} << 20U;
/// How often an import is made whose connection is lost before it is committed.
constexpr int import_attempts_max = 5;

/// Arrays of columns of `batches`.
struct BatchColumns {
  ArrayValue first{Element::Bigint}, append{Element::Bigint}, count{Element::Bigint}, chain{Element::Bytea},
      bytes{Element::Bytea};
};

}  // namespace

Result<Imported, StoreError> RunImport::perform() {
  for (int attempts = 1;; ++attempts) {
    const auto session = connection_.link().get();
    if (!session) return failure(session.error());
    const auto added = add(**session);
    if (added && *added) return Imported{file_.head.run, ImportOutcome::Imported};
    if (!added && added.error().kind == SessionError::Kind::Rejected) return failure(connection_.error(added.error()));
    // Where the connection was lost, its process has ended, and what is there now shows whether the run was imported.
    auto compared = compare();
    if (!added && !compared && compared.error().kind == StoreError::Kind::Missing) {
      if (added.error().kind == SessionError::Kind::Lost && attempts < import_attempts_max) continue;
      return failure(connection_.error(added.error()));
    }
    if (!added && compared) compared->outcome = ImportOutcome::Imported;
    return compared;
  }
}

Result<bool, SessionError> RunImport::add(Session& session) {
  Transaction transaction(session);
  if (auto begun = transaction.begin(Transaction::Kind::Write); !begun) return failure(begun.error());
  const auto is_new = add_row(session);
  if (!is_new || !*is_new) return is_new;
  if (auto done = add_batches(session); !done) return failure(done.error());
  if (auto done = add_contents(session); !done) return failure(done.error());
  if (auto done = transaction.commit(); !done) return failure(done.error());
  return true;
}

Result<bool, SessionError> RunImport::add_row(Session& session) {
  const auto id = session.run(take_import_id);
  if (!id) return failure(id.error());
  row_.id = id->get_integer(0, 0);
  row_.head = file_.head;
  row_.appends = file_.batches.size() + 1;
  const RunHead& head = row_.head;
  const RunSummary& summary = head.summary;
  Parameters given;
  given.integer(row_.id).integer(head.epoch).integer(head.records).integer(row_.appends);
  given.integer(head.created_at).integer(summary.updated_at).optional(summary.wake_at);
  given.integer(static_cast<std::int64_t>(summary.state)).integer(checksum_of(row_));
  given.bytes(head.run.text).bytes(connection_.options().pool).bytes(head.chain.view());
  given.bytes(summary.title).bytes(summary.detail);
  const auto inserted = session.run(insert_imported, given);
  if (!inserted) return failure(inserted.error());
  return inserted->size() == 1;
}

RunImport::Done RunImport::add_batches(Session& session) {
  Hash chain = chain_start(file_.head.run);
  std::uint64_t first = 1;
  std::uint64_t append = 0;
  BatchColumns columns;
  const auto insert = [&]() -> Done {
    Parameters given;
    given.integer(row_.id).array(std::move(columns.first)).array(std::move(columns.append));
    given.array(std::move(columns.count)).array(std::move(columns.chain)).array(std::move(columns.bytes));
    columns = {};
    const auto done = session.run(insert_batches, given);
    return done ? Done() : failure(done.error());
  };
  for (const RunFileBatch& batch : file_.batches) {
    const EncodedBatch encoded = encode_batch(chain, batch.records, batch.references);
    columns.first.add(first);
    columns.append.add(++append);
    columns.count.add(std::uint64_t{batch.records.size()});
    columns.chain.add(chain.view());
    columns.bytes.add(encoded.bytes);
    first += batch.records.size();
    chain = encoded.chain;
    if (columns.bytes.bytes() < import_piece_bytes) continue;
    if (auto done = insert(); !done) return done;
  }
  return columns.first.size() == 0 ? Done() : insert();
}

RunImport::Done RunImport::add_contents(Session& session) {
  if (file_.contents.empty()) return {};
  if (auto locked = session.run(lock_to_add_bodies, Parameters().integer(connection_.number())); !locked)
    return failure(locked.error());
  LaterContents piece;
  const auto insert = [&]() -> Done {
    piece.runs = {row_};
    Parameters given;
    const Statement& statement = fill_later_contents(piece, given);
    const auto done = session.run(statement, given);
    piece = {};
    return done ? Done() : failure(done.error());
  };
  for (const Content& content : file_.contents) {
    add_content(piece.contents, {row_.id, &content}, BodyUse::Sent);
    if (piece.contents.bytes < import_piece_bytes) continue;
    if (auto done = insert(); !done) return done;
  }
  return piece.contents.rows.empty() ? Done() : insert();
}

Result<Imported, StoreError> RunImport::compare() {
  const RunHead& given = file_.head;
  const auto row = RunReading(connection_).row(given.run);
  if (!row) return failure(row.error());
  const RunHead& present = row->head;
  const bool is_forgotten = present.summary.state == RunState::Forgotten;
  const bool is_to_be_forgotten = given.summary.state == RunState::Forgotten;
  if (is_forgotten == is_to_be_forgotten && present.records == given.records && present.chain == given.chain)
    return Imported{given.run, ImportOutcome::AlreadyThere};
  return failure(StoreError{
      StoreError::Kind::Conflict,
      is_forgotten && !is_to_be_forgotten
          ? fmt::format("{}: run {} was forgotten here and cannot be imported again", connection_.name(),
                        given.run.text)
          : fmt::format("{}: a different run {} exists already, with {} (the file has {}); import "
                        "into another store",
                        connection_.name(), given.run.text, counted(present.records, "record"), given.records)});
}

}  // namespace tenon::journal::postgres
