// Compares the whole store with itself, in one state, in one pass over each table.
#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "journal/postgres/postgres_admin.h"
#include "journal/postgres/stored_batches.h"
#include "journal/postgres/stored_contents.h"
#include "journal/shown_runs.h"

namespace tenon::journal::postgres {
namespace {

constexpr std::int64_t runs_per_read = 500;
constexpr std::int64_t large_rows_per_read = 4;

const Statement select_runs_to_check{"SELECT " TENON_HEAD_COLUMNS
                                     " FROM runs AS r WHERE r.id > $1::bigint ORDER BY r.id LIMIT $2::bigint"};
const Statement select_links_without_body{R"sql(
  SELECT DISTINCT c.hash FROM contents AS c
  WHERE c.bytes IS NULL AND NOT EXISTS (SELECT FROM shared_bodies AS s WHERE s.hash = c.hash)
  ORDER BY c.hash LIMIT 1000)sql"};
const Statement select_runs_with_body{R"sql(
  SELECT r.name, count(*) OVER () FROM contents AS c JOIN runs AS r ON r.id = c.run
  WHERE c.bytes IS NULL AND c.hash = $1::bytea ORDER BY r.name LIMIT 5)sql"};
const Statement select_bodies{R"sql(
  SELECT s.hash, s.bytes, EXISTS (SELECT FROM contents AS c WHERE c.bytes IS NULL AND c.hash = s.hash)
  FROM shared_bodies AS s WHERE s.hash > $1::bytea ORDER BY s.hash LIMIT $2::bigint)sql"};
const Statement select_snapshots{R"sql(
  SELECT s.run, s.after, s.hash, s.bytes, r.name, r.records
  FROM snapshots AS s LEFT JOIN runs AS r ON r.id = s.run
  WHERE s.run > $1::bigint ORDER BY s.run LIMIT $2::bigint)sql"};

class Check {
 public:
  explicit Check(Session& session) : session_(session) {}

  using Done = Result<void, SessionError>;

  [[nodiscard]] Result<CheckReport, SessionError> perform() {
    for (const auto step : {&Check::read_runs, &Check::check_batches, &Check::check_contents, &Check::check_links,
                            &Check::check_bodies, &Check::check_snapshots})
      if (auto done = (this->*step)(); !done) return failure(done.error());
    return std::move(report_);
  }

 private:
  /// How far a run's batches have been read.
  struct Progress {
    explicit Progress(RunRow run) : row(std::move(run)), batches(row.head.run) {}
    RunRow row;
    BatchCheck batches;
    bool is_damaged = false;  ///< reported once; what follows from it is not
    std::unordered_set<Hash> references;
  };

  void tell(std::string problem) {
    if (report_.problems.size() < check_problems_max) report_.problems.push_back(std::move(problem));
  }
  [[nodiscard]] bool is_full() const { return report_.problems.size() >= check_problems_max; }

  void damage(Progress& run, std::uint64_t record, std::string_view what) {
    if (!run.is_damaged) tell(fmt::format("run {}, record {}: {}", run.row.head.run.text, record, what));
    run.is_damaged = true;
  }

  Done read_runs() {
    std::int64_t last = 0;
    while (true) {
      const auto rows = session_.run(select_runs_to_check, Parameters().integer(last).integer(runs_per_read));
      if (!rows) return failure(rows.error());
      for (std::size_t at = 0; at < rows->size(); ++at) {
        RunRow run = read_run_row(*rows, at);
        last = run.id;
        ++report_.runs;
        if (run.head.is_damaged)
          tell(fmt::format(
              "run {}: its summary is damaged; it is derived from its records when an owner claims the run, "
              "and by `tenon store repair`",
              run.head.run.text));
        runs_.emplace(run.id, Progress(std::move(run)));
      }
      if (rows->size() < static_cast<std::size_t>(runs_per_read)) return {};
    }
  }

  Done check_batches() {
    auto read = visit_batches(session_, std::nullopt, [&](const BatchRow& row) {
      const auto found = runs_.find(row.run);
      if (found == runs_.end()) {
        tell(fmt::format("a row of `batches` belongs to no run ({})", row.run));
        return !is_full();
      }
      Progress& run = found->second;
      if (run.is_damaged) return true;
      const auto batch = run.batches.next(row);
      if (!batch) {
        damage(run, batch.error().record, batch.error().what);
        return !is_full();
      }
      report_.records += row.count;
      run.references.insert(batch->references.begin(), batch->references.end());
      return true;
    });
    if (!read) return read;
    for (auto& [id, run] : runs_) {
      const RunHead& head = run.row.head;
      if (head.summary.state == RunState::Forgotten) {
        if (run.batches.records() != 0) tell(fmt::format("run {}: it was forgotten, and has records", head.run.text));
      } else if (!run.is_damaged) {
        if (const auto problem = run.batches.finish(head)) damage(run, problem->record, problem->what);
        if (run.batches.last_append() > run.row.appends)
          damage(run, head.records, "it is not counted in the run's head");
      }
    }
    return {};
  }

  Done check_contents() {
    std::unordered_set<Hash> contents;  // of the current run
    std::unordered_set<Hash> references;
    std::int64_t current = 0;
    const auto finish = [&] {
      const auto run = runs_.find(current);
      if (run == runs_.end()) return;
      references.insert(run->second.references.begin(), run->second.references.end());
      finish_contents(run->second, contents, references);
      run->second.references.clear();
    };
    auto read = visit_contents(session_, std::nullopt, [&](const StoredContent& row) {
      if (row.run != current) {
        finish();
        contents.clear();
        references.clear();
        current = row.run;
      }
      ++report_.contents;
      const auto run = runs_.find(row.run);
      if (run == runs_.end()) {
        tell(fmt::format("a row of `contents` belongs to no run ({})", row.run));
        return !is_full();
      }
      const auto tell_of = [&](std::string_view what) {
        tell(fmt::format("run {}, content {}: {}", run->second.row.head.run.text, row.hash.hex(), what));
      };
      contents.insert(row.hash);
      if (!row.refers) {
        tell_of("what it refers to cannot be read");
      } else {
        references.insert(row.refers->begin(), row.refers->end());
      }
      if (row.bytes && sha256(*row.bytes) != row.hash) tell_of("its bytes do not match its hash");
      return !is_full();
    });
    if (!read) return read;
    finish();
    for (auto& [id, run] : runs_) finish_contents(run, {}, run.references);  // of runs that have no contents
    return {};
  }

  void finish_contents(const Progress& run, const std::unordered_set<Hash>& contents,
                       const std::unordered_set<Hash>& references) {
    const std::string& name = run.row.head.run.text;
    for (const Hash& hash : references)
      if (!contents.contains(hash))
        tell(fmt::format("run {}, content {}: it is missing, and something refers to it", name, hash.hex()));
    if (run.is_damaged) return;  // the references of records that cannot be read are not known
    for (const Hash& hash : contents)
      if (!references.contains(hash)) tell(fmt::format("run {}, content {}: nothing refers to it", name, hash.hex()));
  }

  Done check_links() {
    const auto rows = session_.run(select_links_without_body);
    if (!rows) return failure(rows.error());
    for (std::size_t at = 0; at < rows->size(); ++at)
      if (auto done = tell_of_body(rows->get_hash(at, 0), "its bytes are missing"); !done) return done;
    return {};
  }

  /// A problem of a content that runs share.
  Done tell_of_body(const Hash& hash, std::string_view what) {
    const auto rows = session_.run(select_runs_with_body, Parameters().bytes(hash.view()));
    if (!rows) return failure(rows.error());
    std::vector<std::string> names;
    for (std::size_t at = 0; at < rows->size(); ++at) names.push_back(rows->get_text(at, 0));
    const std::uint64_t count = names.empty() ? 0 : rows->get_unsigned(0, 1);
    tell(fmt::format("{}content {}: {}", describe_runs(names, count), hash.hex(), what));
    return {};
  }

  Done check_bodies() {
    std::string last;
    while (true) {
      const auto rows = session_.run(select_bodies, Parameters().bytes(last).integer(large_rows_per_read));
      if (!rows) return failure(rows.error());
      for (std::size_t at = 0; at < rows->size(); ++at) {
        last = rows->get_text(at, 0);
        const Hash hash = rows->get_hash(at, 0);
        if (sha256(rows->get_bytes(at, 1)) != hash)
          if (auto done = tell_of_body(hash, "its bytes do not match its hash"); !done) return done;
        if (!rows->get_boolean(at, 2)) tell(fmt::format("content {}: no run has it", hash.hex()));
      }
      if (rows->size() < static_cast<std::size_t>(large_rows_per_read)) return {};
    }
  }

  Done check_snapshots() {
    std::int64_t last = 0;
    while (true) {
      const auto rows = session_.run(select_snapshots, Parameters().integer(last).integer(large_rows_per_read));
      if (!rows) return failure(rows.error());
      for (std::size_t at = 0; at < rows->size(); ++at) {
        last = rows->get_integer(at, 0);
        const auto name = rows->find_bytes(at, 4);
        if (!name) {
          tell(fmt::format("a snapshot belongs to no run ({})", last));
        } else if (rows->get_hash(at, 2) != sha256(rows->get_bytes(at, 3)) ||
                   rows->get_unsigned(at, 1) > rows->get_unsigned(at, 5)) {
          tell(fmt::format(
              "run {}: its snapshot is damaged; `compact` removes it, and the run only takes longer to load", *name));
        }
      }
      if (rows->size() < static_cast<std::size_t>(large_rows_per_read)) return {};
    }
  }

  Session& session_;
  CheckReport report_;
  std::unordered_map<std::int64_t, Progress> runs_;
};

}  // namespace

Result<CheckReport, StoreError> PostgresAdmin::check() {
  const auto session = connection_.link().get();
  if (!session) return failure(session.error());
  Transaction transaction(**session);
  if (auto begun = transaction.begin(Transaction::Kind::OneState); !begun) return failure(error(begun.error()));
  auto report = Check(**session).perform();
  if (!report) return failure(error(report.error()));
  return std::move(*report);
}

}  // namespace tenon::journal::postgres
