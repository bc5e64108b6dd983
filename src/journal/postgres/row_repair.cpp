#include "journal/postgres/row_repair.h"

#include <fmt/format.h>

#include <optional>

#include "journal/postgres/stored_batches.h"
#include "journal/postgres/transaction.h"

namespace tenon::journal::postgres {
namespace {

/// A row that was changed may be one whose number of appends was: as many are tried, because some have no batch.
constexpr std::uint64_t appends_tried_max = 1'000;
constexpr std::int64_t rows_per_look = 2'000;

const Statement select_lost_id{R"sql(
  SELECT b.run FROM batches AS b
  WHERE b.first = 1 AND b.chain = $1::bytea AND NOT EXISTS (SELECT FROM runs AS r WHERE r.id = b.run)
  ORDER BY b.run LIMIT 1)sql"};
const Statement select_has_contents{"SELECT EXISTS (SELECT FROM contents WHERE run = $1::bigint)"};
const Statement lock_row{"SELECT " TENON_HEAD_COLUMNS " FROM runs AS r WHERE r.id = $1::bigint FOR UPDATE"};
const Statement write_row{R"sql(
  UPDATE runs SET id = $2::bigint, name = $3::text, records = $4::bigint, appends = $5::bigint, chain = $6::bytea,
                  state = $7::bigint, wake_at = $8::bigint, title = $9::bytea, detail = $10::bytea,
                  checksum = $11::bigint
  WHERE id = $1::bigint)sql"};
const Statement select_rows_to_verify{"SELECT " TENON_HEAD_COLUMNS
                                      " FROM runs AS r WHERE r.id > $1::bigint ORDER BY r.id LIMIT $2::bigint"};

class Derivation {
 public:
  Derivation(Session& session, const RunRow& damaged) : session_(session), damaged_(damaged), row_(damaged) {}

  Result<DerivedRow, SessionError> run() {
    if (auto done = read_batches(); !done) return failure(done.error());
    if (batch_count_ == 0 && problem_.empty()) {
      const auto id = session_.run(select_lost_id, Parameters().bytes(chain_start(damaged_.head.run).view()));
      if (!id) return failure(id.error());
      if (id->size() == 0) return without_batches();
      row_.id = id->get_integer(0, 0);
      if (auto done = read_batches(); !done) return failure(done.error());
    }
    if (!problem_.empty()) return DerivedRow{damaged_, std::move(problem_)};
    return finished(RunState::Running);
  }

 private:
  [[nodiscard]] Result<void, SessionError> read_batches() {
    std::optional<BatchCheck> batches;
    const auto visit = [&](const BatchRow& stored) {
      ++batch_count_;
      if (!batches) {
        const auto name = find_name(damaged_.head.run, stored.chain_before);
        if (!name) {
          problem_ = "its first record is missing, or its name is damaged";
          return false;
        }
        row_.head.run = *name;
        batches.emplace(*name);
      }
      if (const auto batch = batches->next(stored); !batch) {
        problem_ = fmt::format("record {}: {}", batch.error().record, batch.error().what);
        return false;
      }
      return true;
    };
    if (auto done = visit_batches(session_, row_.id, visit); !done || !batches || !problem_.empty()) return done;
    row_.head.records = batches->records();
    row_.head.chain = batches->chain();
    find_appends(batches->last_append());
    return {};
  }

  /// Appends that have only changed the summary have no batch.
  void find_appends(std::uint64_t last) {
    if (row_.checksum == checksum_of(row_) && row_.appends >= last) return;
    for (row_.appends = last; row_.appends < last + appends_tried_max; ++row_.appends)
      if (row_.checksum == checksum_of(row_)) return;
    row_.appends = last;
  }

  /// Either the run was forgotten, or it has no record yet, or its batches are lost.
  [[nodiscard]] Result<DerivedRow, SessionError> without_batches() {
    const auto contents = session_.run(select_has_contents, Parameters().integer(damaged_.id));
    if (!contents) return failure(contents.error());
    if (contents->get_boolean(0, 0)) return DerivedRow{damaged_, "its records are missing"};
    const bool is_forgotten = damaged_.head.summary.state == RunState::Forgotten || damaged_.head.records > 0;
    if (is_forgotten) return finished(RunState::Forgotten);
    row_.head.chain = chain_start(damaged_.head.run);
    return finished(RunState::Running);
  }

  /// Where the checksum does not match yet, the summary is damaged as well.
  [[nodiscard]] DerivedRow finished(RunState state) {
    row_.head.is_damaged = !is_intact(row_);
    if (row_.head.is_damaged) {
      RunSummary& summary = row_.head.summary;
      summary.state = state;
      summary.wake_at.reset();
      summary.detail.clear();
      if (state == RunState::Forgotten) summary.title.clear();
    }
    return {row_, {}};
  }

  Session& session_;
  const RunRow& damaged_;
  RunRow row_;
  std::size_t batch_count_ = 0;
  std::string problem_;
};

Result<void, SessionError> write(Session& session, std::int64_t id, const RunRow& row) {
  const RunHead& head = row.head;
  const RunSummary& summary = head.summary;
  Parameters given;
  given.integer(id).integer(row.id).bytes(head.run.text).integer(head.records).integer(row.appends);
  given.bytes(head.chain.view()).integer(static_cast<std::int64_t>(summary.state)).optional(summary.wake_at);
  given.bytes(summary.title).bytes(summary.detail).integer(checksum_of(row));
  const auto done = session.run(write_row, given);
  return done ? Result<void, SessionError>() : failure(done.error());
}

/// A sentence if the row was damaged. While the row is locked, no append changes it.
Result<std::optional<std::string>, SessionError> repair_row(Session& session, std::int64_t id) {
  Transaction transaction(session);
  if (auto begun = transaction.begin(Transaction::Kind::Write); !begun) return failure(begun.error());
  const auto rows = session.run(lock_row, Parameters().integer(id));
  if (!rows) return failure(rows.error());
  if (rows->size() == 0) return std::optional<std::string>{};
  const RunRow damaged = read_unverified_run_row(*rows, 0);
  if (is_intact(damaged)) return std::optional<std::string>{};
  const auto derived = derive_run_row(session, damaged);
  if (!derived) return failure(derived.error());
  if (!derived->problem.empty())
    return std::optional(fmt::format("run {}: its row is damaged, and its records cannot be read: {}",
                                     damaged.head.run.text, derived->problem));
  if (auto done = write(session, id, derived->row); !done) return failure(done.error());
  if (auto done = transaction.commit(); !done) return failure(done.error());
  return std::optional(fmt::format("the summary of run {} was damaged; it is derived from the run's records",
                                   derived->row.head.run.text));
}

}  // namespace

Result<DerivedRow, SessionError> derive_run_row(Session& session, const RunRow& unverified) {
  return Derivation(session, unverified).run();
}

Result<std::vector<std::string>, StoreError> repair_rows(Connection& connection, const std::vector<std::int64_t>& ids) {
  std::vector<std::string> sentences;
  for (const std::int64_t id : ids) {
    const auto session = connection.link().get();
    if (!session) return failure(session.error());
    const auto sentence = repair_row(**session, id);
    if (!sentence) return failure(connection.error(sentence.error()));
    if (*sentence) sentences.push_back(fmt::format("{}: {}", connection.name(), **sentence));
  }
  return sentences;
}

Result<std::vector<std::string>, StoreError> repair_all_rows(Connection& connection) {
  std::vector<std::int64_t> damaged;
  for (std::int64_t last = INT64_MIN;;) {
    const auto rows = connection.link().query(select_rows_to_verify, Parameters().integer(last).integer(rows_per_look));
    if (!rows) return failure(rows.error());
    for (std::size_t at = 0; at < rows->size(); ++at) {
      const RunRow row = read_run_row(*rows, at);
      last = row.id;
      if (row.head.is_damaged) damaged.push_back(row.id);
    }
    if (rows->size() < static_cast<std::size_t>(rows_per_look)) break;
  }
  return repair_rows(connection, damaged);
}

}  // namespace tenon::journal::postgres
