// The whole store compared with itself, in one pass over each table.
#include <fmt/format.h>

#include <unordered_set>

#include "journal/batch.h"
#include "journal/sqlite_store.h"

namespace tenon::journal {
namespace {

/// How far a run's batches have been read; they come in the order in which they were appended.
struct RunProgress {
  RunRow row;
  std::uint64_t records = 0;
  Hash chain;
  std::int64_t last_batch = 0;
  bool is_damaged = false;  ///< told once; what follows from it is not
};

class Check {
 public:
  explicit Check(Database& database) : database_(database) {}

  [[nodiscard]] Result<CheckReport, StoreError> run() {
    for (const auto step : {&Check::check_pages, &Check::read_runs, &Check::check_batches, &Check::check_heads,
                            &Check::check_contents, &Check::check_bodies, &Check::check_snapshots})
      if (auto done = (this->*step)(); !done) {
        // SQLite itself could not go on: that is what the check has found.
        if (done.error().kind != StoreError::Kind::Damaged) return failure(done.error());
        tell(done.error().message);
        break;
      }
    return std::move(report_);
  }

 private:
  void tell(std::string problem) {
    if (report_.problems.size() < check_problems_max) report_.problems.push_back(std::move(problem));
  }

  template <class Visit>
  [[nodiscard]] Result<void, StoreError> for_each_row(const char* sql, const Visit& visit) {
    Statement statement(database_, sql);
    Execution query(statement);
    while (report_.problems.size() < check_problems_max) {
      const StepResult step = query.step();
      if (step == StepResult::Failed) return failure(query.error());
      if (step == StepResult::Done) break;
      visit(query);
    }
    return {};
  }

  Result<void, StoreError> check_pages() {
    return for_each_row("PRAGMA integrity_check", [&](const Execution& row) {
      if (row.get_bytes(0) != "ok") tell(fmt::format("SQLite: {}", row.get_bytes(0)));
    });
  }

  Result<void, StoreError> read_runs() {
    return for_each_row("SELECT " TENON_RUN_COLUMNS " FROM runs", [&](const Execution& row) {
      auto run = read_run_row(database_, row);
      if (!run) return tell(run.error().message);
      ++report_.runs;
      RunProgress progress;
      progress.chain = chain_start(run->head.run);
      progress.row = std::move(*run);
      runs_.emplace(progress.row.id, std::move(progress));
    });
  }

  void damage(RunProgress& run, std::uint64_t record, std::string_view what) {
    if (!run.is_damaged) tell(fmt::format("run {}, record {}: {}", run.row.head.run.text, record, what));
    run.is_damaged = true;
  }

  void check_batch(const BatchRow& batch) {
    const auto found = runs_.find(batch.run);
    if (found == runs_.end()) return tell(fmt::format("row {} of `batches` belongs to no run", batch.id));
    RunProgress& run = found->second;
    if (batch.first != run.records + 1) return damage(run, run.records + 1, "it is missing");
    if (batch.previous != run.last_batch) damage(run, batch.first, "the way back from it is lost");
    if (batch.chain_before != run.chain) return damage(run, batch.first, "the chain does not go on here");
    const auto decoded = decode_batch(batch.chain_before, batch.bytes);
    if (!decoded) return damage(run, batch.first + decoded.error().record, decoded.error().what);
    if (decoded->records.size() != batch.count)
      damage(run, batch.first, "the number of records is not what its row says");
    if (batch.milestone != milestone_of(batch.first, batch.count)) damage(run, batch.first, "it would not be found");
    for (const Hash& hash : decoded->references) ++uses_[hash];
    report_.records += batch.count;
    run.records += batch.count;
    run.chain = decoded->chain;
    run.last_batch = batch.id;
  }

  Result<void, StoreError> check_batches() {
    return for_each_row("SELECT id, run, first, count, previous, milestone, chain, bytes FROM batches ORDER BY id",
                        [&](const Execution& row) {
                          const auto batch = read_batch_row(database_, row);
                          if (!batch) return tell(batch.error().message);
                          check_batch(*batch);
                        });
  }

  Result<void, StoreError> check_heads() {
    for (auto& [id, run] : runs_) {
      has_damage_ = has_damage_ || run.is_damaged;
      const RunHead& head = run.row.head;
      if (head.summary.state == RunState::Forgotten) {
        if (run.records != 0 || run.row.last_batch != 0)
          tell(fmt::format("run {}: it was forgotten, and has records", head.run.text));
      } else if (run.records != head.records) {
        damage(run, run.records + 1, run.records < head.records ? "it is missing" : "the run's head does not know it");
      } else if (run.chain != head.chain || run.last_batch != run.row.last_batch) {
        damage(run, head.records, "the run's head tells of another one");
      }
      has_damage_ = has_damage_ || run.is_damaged;
    }
    return {};
  }

  Result<void, StoreError> check_contents() {
    auto done = for_each_row(
        "SELECT contents.hash, contents.uses, contents.body, bodies.refers, bodies.bytes FROM contents "
        "LEFT JOIN bodies ON bodies.id = contents.body",
        [&](const Execution& row) {
          const auto hash = Hash::from_bytes(row.get_bytes(0));
          if (!hash) return tell("a row of `contents` has no hash");
          ++report_.contents;
          counted_[*hash] = row.get_integer(1);
          bodies_.insert(row.get_integer(2));
          const auto refers = row.find_bytes(3);
          if (!refers) return tell(fmt::format("content {}: its bytes are missing", hash->hex()));
          if (sha256(row.get_bytes(4)) != *hash)
            tell(fmt::format("content {}: its bytes are not those of its hash", hash->hex()));
          const auto others = decode_hashes(*refers);
          if (!others) return tell(fmt::format("content {}: what it refers to cannot be read", hash->hex()));
          for (const Hash& other : *others) ++uses_[other];
        });
    if (!done) return done;
    for (const auto& [hash, uses] : uses_)
      if (!counted_.contains(hash))
        tell(fmt::format("content {}: it is missing, and {} refer to it", hash.hex(), uses));
    if (has_damage_) return {};  // the references of records that cannot be read are not known
    for (const auto& [hash, uses] : counted_) {
      const auto found = uses_.find(hash);
      const std::int64_t real = found == uses_.end() ? 0 : found->second;
      if (real != uses)
        tell(fmt::format("content {}: {} uses are counted, and {} refer to it", hash.hex(), uses, real));
    }
    return {};
  }

  Result<void, StoreError> check_bodies() {
    return for_each_row("SELECT id FROM bodies", [&](const Execution& row) {
      if (!bodies_.contains(row.get_integer(0)))
        tell(fmt::format("row {} of `bodies` belongs to no content", row.get_integer(0)));
    });
  }

  Result<void, StoreError> check_snapshots() {
    return for_each_row("SELECT run, after, hash, bytes FROM snapshots", [&](const Execution& row) {
      const auto found = runs_.find(row.get_integer(0));
      if (found == runs_.end()) return tell(fmt::format("a snapshot belongs to no run ({})", row.get_integer(0)));
      const RunHead& head = found->second.row.head;
      const auto hash = Hash::from_bytes(row.get_bytes(2));
      if (!hash || *hash != sha256(row.get_bytes(3)) || row.get_unsigned(1) > head.records)
        tell(fmt::format("run {}: its snapshot does not hold; `compact` drops it, and nothing but time is lost",
                         head.run.text));
    });
  }

  Database& database_;
  CheckReport report_;
  std::unordered_map<std::int64_t, RunProgress> runs_;
  std::unordered_map<Hash, std::int64_t> uses_;     ///< as references have it
  std::unordered_map<Hash, std::int64_t> counted_;  ///< as the rows say
  std::unordered_set<std::int64_t> bodies_;
  bool has_damage_ = false;
};

}  // namespace

Result<CheckReport, StoreError> SqliteStore::check() {
  if (database_->broken()) return failure(*database_->broken());
  Transaction transaction(*database_);
  if (auto done = transaction.begin(Transaction::Kind::Read); !done) return failure(done.error());
  return Check(*database_).run();
}

}  // namespace tenon::journal
