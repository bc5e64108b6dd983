#include "journal/sqlite/derive_row.h"

#include <fmt/format.h>

#include <vector>

#include "journal/batch.h"

namespace tenon::journal::sqlite {
namespace {

class Derivation {
 public:
  Derivation(Database& database, const RunRow& damaged) : database_(database), damaged_(damaged), row_(damaged) {}

  Result<DerivedRow, StoreError> run() {
    auto batches = find_batches(row_.id);
    if (!batches) return failure(batches.error());
    if (batches->empty()) {
      const auto id = find_id();
      if (!id) return failure(id.error());
      if (!*id) return without_batches();
      row_.id = **id;
      batches = find_batches(row_.id);
      if (!batches) return failure(batches.error());
    }
    if (auto done = read(*batches); !done) return failure(done.error());
    if (!problem_.empty()) return DerivedRow{damaged_, std::move(problem_)};
    return finished(RunState::Running);
  }

 private:
  [[nodiscard]] Result<std::vector<std::int64_t>, StoreError> find_batches(std::int64_t run) {
    Statement statement(database_, "SELECT id FROM batches WHERE run = ?1 ORDER BY id");
    Execution query(statement);
    query.integer(run);
    std::vector<std::int64_t> ids;
    while (true) {
      const StepResult step = query.step();
      if (step == StepResult::Done) return ids;
      if (step == StepResult::Failed) return failure(query.error());
      ids.push_back(query.get_integer(0));
    }
  }

  /// The run's id in the batch that begins with its name, if no other row has it.
  [[nodiscard]] Result<std::optional<std::int64_t>, StoreError> find_id() {
    Statement statement(database_,
                        "SELECT run FROM batches WHERE first = 1 AND chain = ?1 AND run NOT IN (SELECT id FROM runs) "
                        "ORDER BY id LIMIT 1");
    Execution query(statement);
    const Hash chain = chain_start(damaged_.head.run);
    const StepResult step = query.blob(chain.view()).step();
    if (step == StepResult::Failed) return failure(query.error());
    if (step == StepResult::Done) return std::optional<std::int64_t>{};
    return std::optional(query.get_integer(0));
  }

  [[nodiscard]] Result<void, StoreError> read(const std::vector<std::int64_t>& ids) {
    Statement statement(database_,
                        "SELECT id, run, first, count, previous, milestone, chain, bytes FROM batches WHERE id = ?1");
    RunHead& head = row_.head;
    head.records = 0;
    row_.last_batch = 0;
    for (const std::int64_t id : ids) {
      Execution query(statement);
      if (query.integer(id).step() != StepResult::Row) return failure(query.error());
      const auto batch = read_batch_row(database_, query);
      if (!batch) return failure(batch.error());
      if (row_.last_batch == 0) {
        const auto name = find_name(damaged_.head.run, batch->chain_before);
        if (!name) return reject("its first record is missing, or its name is damaged");
        head.run = *name;
        head.chain = batch->chain_before;
      }
      if (batch->first != head.records + 1 || batch->previous != row_.last_batch || batch->chain_before != head.chain)
        return reject(fmt::format("record {}: it is missing", head.records + 1));
      const auto decoded = decode_batch(batch->chain_before, batch->bytes);
      if (!decoded)
        return reject(fmt::format("record {}: {}", batch->first + decoded.error().record, decoded.error().what));
      if (decoded->records.size() != batch->count)
        return reject(fmt::format("record {}: the number of records differs from its row", batch->first));
      head.records += batch->count;
      head.chain = decoded->chain;
      row_.last_batch = id;
    }
    return {};
  }

  Result<void, StoreError> reject(std::string problem) {
    problem_ = std::move(problem);
    return {};
  }

  /// Either the run was forgotten, or it has no record yet, or its batches are lost.
  [[nodiscard]] Result<DerivedRow, StoreError> without_batches() {
    const ContentIds contents(damaged_.id);
    Statement statement(database_, "SELECT count(*) FROM contents WHERE id BETWEEN ?1 AND ?2");
    Execution query(statement);
    if (query.integer(contents.first).integer(contents.last).step() != StepResult::Row) return failure(query.error());
    if (query.get_integer(0) != 0) return DerivedRow{damaged_, "its records are missing"};
    row_.last_batch = 0;
    if (damaged_.head.summary.state == RunState::Forgotten || damaged_.head.records > 0)
      return finished(RunState::Forgotten);
    row_.head.chain = chain_start(damaged_.head.run);
    return finished(RunState::Running);
  }

  /// Where the checksum does not match yet, the summary is damaged as well.
  [[nodiscard]] DerivedRow finished(RunState state) {
    row_.is_damaged = row_.checksum != checksum_of(row_);
    if (row_.is_damaged) {
      RunSummary& summary = row_.head.summary;
      summary.state = state;
      summary.wake_at.reset();
      summary.detail.clear();
      if (state == RunState::Forgotten) summary.title.clear();
    }
    return {row_, {}};
  }

  Database& database_;
  const RunRow& damaged_;
  RunRow row_;
  std::string problem_;
};

}  // namespace

Result<DerivedRow, StoreError> derive_run_row(Database& database, const RunRow& damaged) {
  return Derivation(database, damaged).run();
}

}  // namespace tenon::journal::sqlite
