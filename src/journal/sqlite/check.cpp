// Compares the whole store with itself, in one pass over each table.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "journal/batch.h"
#include "journal/shown_runs.h"
#include "journal/sqlite/log_damage.h"
#include "journal/sqlite/sqlite_admin.h"

namespace tenon::journal::sqlite {
namespace {

/// How far a run's batches have been read; they come in the order in which they were appended.
struct RunProgress {
  RunRow row;
  std::uint64_t records = 0;
  Hash chain;
  std::int64_t last_batch = 0;
  std::unordered_set<Hash> references;  ///< of its records and contents
  std::unordered_set<Hash> contents;
  bool is_damaged = false;  ///< reported once; what follows from it is not
};

class Check {
 public:
  explicit Check(Database& database) : database_(database) {}

  /// While no process owns the store: what SQLite does not read of the log.
  [[nodiscard]] Result<void, StoreError> check_log() {
    const auto damage = find_lasting_log_damage(database_.path());
    if (!damage) return failure(damage.error());
    if (*damage) tell(describe(**damage, database_.name()));
    return {};
  }

  [[nodiscard]] Result<CheckReport, StoreError> run() {
    for (const auto step :
         {&Check::check_pages, &Check::read_runs, &Check::check_batches, &Check::check_heads, &Check::check_contents,
          &Check::check_references, &Check::check_shared, &Check::check_bodies, &Check::check_snapshots})
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
      if (run->is_damaged)
        tell(
            fmt::format("run {}: its summary is damaged; it is derived from its records when the store is opened for "
                        "writing",
                        run->head.run.text));
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
    if (batch.previous != run.last_batch) damage(run, batch.first, "its link to the previous batch is wrong");
    if (batch.chain_before != run.chain) return damage(run, batch.first, "the hash chain breaks here");
    const auto decoded = decode_batch(batch.chain_before, batch.bytes);
    if (!decoded) return damage(run, batch.first + decoded.error().record, decoded.error().what);
    if (decoded->records.size() != batch.count)
      damage(run, batch.first, "the number of records is not what its row says");
    if (batch.milestone != milestone_of(batch.first, batch.count)) damage(run, batch.first, "it would not be found");
    run.references.insert(decoded->references.begin(), decoded->references.end());
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
      const RunHead& head = run.row.head;
      if (head.summary.state == RunState::Forgotten) {
        if (run.records != 0 || run.row.last_batch != 0)
          tell(fmt::format("run {}: it was forgotten, and has records", head.run.text));
      } else if (run.records != head.records) {
        damage(run, run.records + 1,
               run.records < head.records ? "it is missing" : "it is not counted in the run's head");
      } else if (run.chain != head.chain || run.last_batch != run.row.last_batch) {
        damage(run, head.records, "it does not match the run's head");
      }
    }
    return {};
  }

  [[nodiscard]] bool has_content_row(std::int64_t id) {
    Execution query(select_content_);
    return query.integer(id).step() == StepResult::Row;
  }

  void check_content(const Execution& row) {
    const std::int64_t id = row.get_integer(0);
    const auto found = runs_.find(id >> 32);
    if (found == runs_.end()) return tell(fmt::format("row {} of `contents` belongs to no run", id));
    RunProgress& run = found->second;
    const auto hash = Hash::from_bytes(row.get_bytes(1));
    if (!hash) return tell(fmt::format("row {} of `contents` has no hash", id));
    const auto tell_of = [&](std::string_view what) {
      tell(fmt::format("run {}, content {}: {}", run.row.head.run.text, hash->hex(), what));
    };
    ++report_.contents;
    if (!run.contents.insert(*hash).second) return tell_of("it is there twice");
    // A search for it begins at its place and ends at the first one that is free.
    const ContentIds ids(id >> 32);
    for (std::int64_t place = ids.place_of(*hash); place != id; place = ids.next(place))
      if (!has_content_row(place)) return tell_of("it would not be found");
    const auto others = decode_hashes(row.get_bytes(2));
    if (!others) return tell_of("what it refers to cannot be read");
    run.references.insert(others->begin(), others->end());
    const auto bytes = row.find_bytes(3);
    if (!bytes) {
      ++links_[*hash];
    } else if (sha256(*bytes) != *hash) {
      tell_of("its bytes do not match its hash");
    }
  }

  Result<void, StoreError> check_contents() {
    return for_each_row("SELECT id, hash, refers, bytes FROM contents ORDER BY id",
                        [&](const Execution& row) { check_content(row); });
  }

  Result<void, StoreError> check_references() {
    for (auto& [id, run] : runs_) {
      const std::string& name = run.row.head.run.text;
      for (const Hash& hash : run.references)
        if (!run.contents.contains(hash))
          tell(fmt::format("run {}, content {}: it is missing, and something refers to it", name, hash.hex()));
      if (run.is_damaged) continue;  // the references of records that cannot be read are not known
      for (const Hash& hash : run.contents)
        if (!run.references.contains(hash))
          tell(fmt::format("run {}, content {}: nothing refers to it", name, hash.hex()));
    }
    return {};
  }

  /// The runs that have a content, as the beginning of a message about it.
  [[nodiscard]] std::string runs_with(const Hash& hash) const {
    std::vector<std::string> names;
    for (const auto& [id, run] : runs_)
      if (run.contents.contains(hash)) names.push_back(run.row.head.run.text);
    std::ranges::sort(names);
    return describe_runs(names, names.size());
  }

  Result<void, StoreError> check_shared() {
    auto done = for_each_row(
        "SELECT shared_contents.hash, uses, body, shared_bodies.bytes FROM shared_contents "
        "LEFT JOIN shared_bodies ON shared_bodies.id = body",
        [&](const Execution& row) {
          const auto hash = Hash::from_bytes(row.get_bytes(0));
          if (!hash) return tell("a row of `shared_contents` has no hash");
          bodies_.insert(row.get_integer(2));
          const auto bytes = row.find_bytes(3);
          if (!bytes) {
            tell(fmt::format("{}content {}: its bytes are missing", runs_with(*hash), hash->hex()));
          } else if (sha256(*bytes) != *hash) {
            tell(fmt::format("{}content {}: its bytes do not match its hash", runs_with(*hash), hash->hex()));
          }
          const auto links = links_.find(*hash);
          const std::int64_t real = links == links_.end() ? 0 : links->second;
          if (real != row.get_integer(1))
            tell(fmt::format("content {}: the counted uses are {}, and the runs that have it {}", hash->hex(),
                             row.get_integer(1), real));
          links_.erase(*hash);
        });
    if (!done) return done;
    for (const auto& [hash, count] : links_)
      tell(fmt::format("{}content {}: its bytes are missing", runs_with(hash), hash.hex()));
    return {};
  }

  Result<void, StoreError> check_bodies() {
    return for_each_row("SELECT id FROM shared_bodies", [&](const Execution& row) {
      if (!bodies_.contains(row.get_integer(0)))
        tell(fmt::format("row {} of `shared_bodies` belongs to no content", row.get_integer(0)));
    });
  }

  Result<void, StoreError> check_snapshots() {
    return for_each_row("SELECT run, after, hash, bytes FROM snapshots", [&](const Execution& row) {
      const auto found = runs_.find(row.get_integer(0));
      if (found == runs_.end()) return tell(fmt::format("a snapshot belongs to no run ({})", row.get_integer(0)));
      const RunHead& head = found->second.row.head;
      const auto hash = Hash::from_bytes(row.get_bytes(2));
      if (!hash || *hash != sha256(row.get_bytes(3)) || row.get_unsigned(1) > head.records)
        tell(fmt::format("run {}: its snapshot is damaged; `compact` removes it, and the run only takes longer to load",
                         head.run.text));
    });
  }

  Database& database_;
  Statement select_content_{database_, "SELECT 1 FROM contents WHERE id = ?1"};
  CheckReport report_;
  std::unordered_map<std::int64_t, RunProgress> runs_;
  std::unordered_map<Hash, std::int64_t> links_;  ///< to shared contents: how many runs have them
  std::unordered_set<std::int64_t> bodies_;
};

}  // namespace

Result<CheckReport, StoreError> SqliteAdmin::check() {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  Transaction transaction(connection_.database());
  if (auto done = transaction.begin(Transaction::Kind::Read); !done) return failure(done.error());
  Check check(connection_.database());
  if (connection_.access() == Access::Reader && !OwnerLock::is_held(connection_.path()))
    if (auto done = check.check_log(); !done) return failure(done.error());
  return check.run();
}

}  // namespace tenon::journal::sqlite
