#include "journal/postgres/run_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "journal/postgres/row_repair.h"

namespace tenon::journal::postgres {
namespace {

/// Batches that are read together.
constexpr std::size_t batches_per_piece = 256;
/// Contents that are fetched together, and of those that records refer to.
constexpr std::int64_t contents_per_fetch = 2'000;
constexpr std::size_t referenced_per_fetch = 500;
/// References that are kept for it; the last ones of a reader that takes no contents.
constexpr std::ptrdiff_t referenced_max = 20'000;

/// From the batch with the record after $2 on.
const Statement select_batches{R"sql(
  WITH run AS MATERIALIZED (SELECT id FROM runs WHERE name = $1::text)
  SELECT b.first, b.count, b.chain, b.bytes FROM batches AS b
  WHERE b.run = (SELECT id FROM run) AND b.count > 0
    AND b.first >= coalesce((SELECT max(e.first) FROM batches AS e
                             WHERE e.run = (SELECT id FROM run) AND e.first <= $2::bigint + 1 AND e.count > 0), 0)
  ORDER BY b.first, b.append LIMIT $3::bigint)sql"};
const Statement select_snapshot{R"sql(
  SELECT r.state, r.records, s.after, s.hash, s.bytes
  FROM runs AS r LEFT JOIN snapshots AS s ON s.run = r.id WHERE r.name = $1::text)sql"};
/// The contents $2 and what they refer to, directly or not. The bytes of shared ones only for the first of $2.
const Statement select_contents{R"sql(
  WITH RECURSIVE run AS MATERIALIZED (SELECT id FROM runs WHERE name = $1::text),
  reached(hash) AS (
    SELECT g.hash FROM unnest($2::bytea[]) AS g(hash)
    UNION
    SELECT substring(c.refers FROM 32 * i + 1 FOR 32)
    FROM reached, contents AS c, generate_series(0, octet_length(c.refers) / 32 - 1) AS i
    WHERE c.run = (SELECT id FROM run) AND c.hash = reached.hash),
  found AS MATERIALIZED (SELECT hash FROM reached LIMIT $3::bigint)
  SELECT c.hash, coalesce(c.bytes, s.bytes), c.bytes IS NULL
  FROM found JOIN contents AS c ON c.run = (SELECT id FROM run) AND c.hash = found.hash
  LEFT JOIN shared_bodies AS s ON c.bytes IS NULL AND c.hash = ($2::bytea[])[1] AND s.hash = c.hash)sql"};

}  // namespace

/// A run's row, and some of its batches in order.
struct RunReading::Piece {
  RunRow run;
  Rows batches;  ///< first, count, chain before, bytes
};

Result<RunRow, StoreError> RunReading::row(const RunName& run) {
  const auto rows = connection_.link().query(select_run_row, Parameters().bytes(run.text));
  if (!rows) return failure(rows.error());
  if (rows->size() == 0) return failure(connection_.missing_run(run));
  return believed(read_run_row(*rows, 0), *rows);
}

RunRow RunReading::believed(RunRow row, const Rows& rows) {
  // An owner repairs the row when it claims the run. What it finds since is damage that it must not build on.
  const bool is_own = row.owner != 0 && row.owner == connection_.owner();
  if (!row.head.is_damaged || is_own) return row;
  const auto session = connection_.link().get();
  if (!session) return row;
  auto derived = derive_run_row(**session, read_unverified_run_row(rows, 0));
  const bool is_same = derived && derived->problem.empty() && derived->row.head.run == row.head.run;
  return is_same ? std::move(derived->row) : row;
}

Result<RunRow, StoreError> RunReading::living_row(const RunName& run) {
  auto row = this->row(run);
  if (row && row->head.summary.state == RunState::Forgotten)
    return failure(connection_.forgotten_run(run, row->head.records));
  return row;
}

Result<RunReading::Piece, StoreError> RunReading::read_piece(const RunName& run, std::uint64_t after,
                                                             std::size_t limit) {
  Parameters name;
  name.bytes(run.text);
  Parameters from;
  from.bytes(run.text).integer(std::min<std::uint64_t>(after, INT64_MAX - 1));
  from.integer(static_cast<std::int64_t>(std::min(limit, batches_per_piece)));
  const std::array<Call, 2> calls = {Call{&select_run_row, &name}, Call{&select_batches, &from}};
  auto results = connection_.link().repeat(calls);
  if (!results) return failure(std::move(results.error()));
  if (results->front().size() == 0) return failure(connection_.missing_run(run));
  Piece piece{believed(read_run_row(results->front(), 0), results->front()), std::move(results->back())};
  if (piece.run.head.summary.state == RunState::Forgotten)
    return failure(connection_.forgotten_run(run, piece.run.head.records));
  return piece;
}

Result<std::vector<Record>, StoreError> RunReading::read(const RunName& run, std::uint64_t after, std::size_t limit) {
  const auto problem = [&](std::uint64_t number, std::string_view what) -> Result<std::vector<Record>, StoreError> {
    // It may have been forgotten between the row and the batches.
    if (const auto now = living_row(run); !now) return failure(now.error());
    return failure(connection_.damaged_record(run, number, what));
  };
  if (ahead_.run != run.text) ahead_ = {.run = run.text};
  std::vector<Record> records;
  std::uint64_t next = after + 1;
  std::optional<Hash> chain;  // after record next-1, once that is known
  if (after == 0) chain = chain_start(run);
  while (true) {
    const auto piece = read_piece(run, next - 1, std::max<std::size_t>(limit - records.size(), 1));
    if (!piece) return failure(piece.error());
    const RunHead& head = piece->run.head;
    if (after >= head.records || records.size() >= limit || next > head.records) return records;
    const std::uint64_t requested = next;
    for (std::size_t row = 0; row < piece->batches.size(); ++row) {
      const std::uint64_t first = piece->batches.get_unsigned(row, 0);
      const std::uint64_t count = piece->batches.get_unsigned(row, 1);
      const Hash before = piece->batches.get_hash(row, 2);
      if (first > head.records) break;  // appended since the row was read
      if (first > next || first + count <= next) return problem(next, "it is missing");
      if (chain && *chain != before) return problem(first, "the chain is interrupted here");
      const auto decoded = batches_.decode(before, piece->batches.get_bytes(row, 3));
      if (!decoded) return problem(first + decoded.error().record, decoded.error().what);
      const Batch& batch = **decoded;
      if (batch.records.size() != count) return problem(first, "the number of records differs from its row");
      for (std::size_t at = next - first; at < count && records.size() < limit; ++at) {
        records.push_back({first + at, std::string(batch.records[at])});
        ++next;
      }
      ahead_.referenced.insert(ahead_.referenced.end(), batch.references.rbegin(), batch.references.rend());
      if (const auto more = static_cast<std::ptrdiff_t>(ahead_.referenced.size()) - referenced_max; more > 0)
        ahead_.referenced.erase(ahead_.referenced.begin(), ahead_.referenced.begin() + more);
      chain = batch.chain;
      if (first + count <= head.records) {
        if (records.size() == limit) return records;
        continue;
      }
      if (first + count != head.records + 1)
        return problem(head.records, "there are more records than the run's head says");
      if (*chain != head.chain) return problem(head.records, "the chain differs from the run's head");
    }
    if (next == requested) return problem(next, "it is missing");
    if (next > head.records) return records;
  }
}

Result<std::optional<Snapshot>, StoreError> RunReading::snapshot(const RunName& run) {
  const auto rows = connection_.link().query(select_snapshot, Parameters().bytes(run.text));
  if (!rows) return failure(rows.error());
  if (rows->size() == 0) return failure(connection_.missing_run(run));
  const std::uint64_t records = rows->get_unsigned(0, 1);
  if (rows->get_integer(0, 0) == static_cast<std::int64_t>(RunState::Forgotten))
    return failure(connection_.forgotten_run(run, records));
  const auto after = rows->find_integer(0, 2);
  if (!after) return std::optional<Snapshot>{};
  Snapshot snapshot{static_cast<std::uint64_t>(*after), rows->get_text(0, 4)};
  if (rows->get_hash(0, 3) != sha256(snapshot.bytes) || snapshot.after > records)
    return failure(connection_.damaged(
        fmt::format("run {}: its snapshot after record {} is damaged; `compact` removes it, and the records say the "
                    "same",
                    run.text, snapshot.after)));
  return std::optional<Snapshot>(std::move(snapshot));
}

Result<std::string, StoreError> RunReading::content(const RunName& run, const Hash& hash) {
  if (ahead_.run != run.text) ahead_ = {.run = run.text};
  auto found = ahead_.fetched.extract(hash);
  if (found.empty()) {
    if (auto fetched = fetch(run, hash); !fetched) return failure(fetched.error());
    found = ahead_.fetched.extract(hash);
  }
  if (found.empty()) {
    if (const auto row = living_row(run); !row) return failure(row.error());
    return failure(StoreError{StoreError::Kind::Missing,
                              fmt::format("{}: the run has no content {}", connection_.name(), hash.hex())});
  }
  if (sha256(found.mapped()) != hash)
    return failure(connection_.damaged(fmt::format("content {}: its bytes do not match its hash", hash.hex())));
  return std::move(found.mapped());
}

Result<void, StoreError> RunReading::fetch(const RunName& run, const Hash& hash) {
  ahead_.fetched.clear();
  ArrayValue hashes(ArrayValue::Element::Bytea);
  hashes.add(hash.view());
  while (!ahead_.referenced.empty() && hashes.size() < referenced_per_fetch) {
    hashes.add(ahead_.referenced.back().view());
    ahead_.referenced.pop_back();
  }
  const auto rows = connection_.link().query(
      select_contents, Parameters().bytes(run.text).array(std::move(hashes)).integer(contents_per_fetch));
  if (!rows) return failure(rows.error());
  for (std::size_t row = 0; row < rows->size(); ++row) {
    const auto bytes = rows->find_bytes(row, 1);
    const Hash found = rows->get_hash(row, 0);
    if (!bytes && found == hash)
      return failure(connection_.damaged(fmt::format("content {}: its bytes are missing", hash.hex())));
    if (bytes) ahead_.fetched.insert_or_assign(found, std::string(*bytes));
  }
  return {};
}

}  // namespace tenon::journal::postgres
