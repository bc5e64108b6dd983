#include "journal/sqlite/statements.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "journal/row_checksum.h"

namespace tenon::journal::sqlite {
namespace {

/// The columns that a row's checksum covers.
struct CoveredColumns {
  std::int64_t id = 0;
  std::string_view name;
  std::uint64_t epoch = 0;
  std::uint64_t records = 0;
  std::string_view chain;
  std::int64_t last_batch = 0;
  std::int64_t created_at = 0;
  std::int64_t updated_at = 0;
  std::uint64_t state = 0;
  std::optional<std::int64_t> wake_at;
  std::string_view title;
  std::string_view detail;
};

std::int64_t checksum_of(const CoveredColumns& row) {
  RowChecksum sum;
  sum.add(row.id).add(row.name).add(row.epoch).add(row.records).add(row.chain);
  sum.add(row.last_batch).add(row.created_at).add(row.updated_at);
  sum.add(row.state).add(std::uint64_t{row.wake_at.has_value()});
  sum.add(row.wake_at.value_or(0)).add(row.title).add(row.detail);
  return sum.value();
}

}  // namespace

std::int64_t checksum_of(const RunRow& run) {
  const RunHead& head = run.head;
  const RunSummary& summary = head.summary;
  return checksum_of({.id = run.id,
                      .name = head.run.text,
                      .epoch = head.epoch,
                      .records = head.records,
                      .chain = head.chain.view(),
                      .last_batch = run.last_batch,
                      .created_at = head.created_at,
                      .updated_at = summary.updated_at,
                      .state = static_cast<std::uint64_t>(summary.state),
                      .wake_at = summary.wake_at,
                      .title = summary.title,
                      .detail = summary.detail});
}

bool is_intact_run_row(const Execution& row) {
  return row.get_integer(12) == checksum_of({.id = row.get_integer(0),
                                             .name = row.get_bytes(1),
                                             .epoch = row.get_unsigned(2),
                                             .records = row.get_unsigned(3),
                                             .chain = row.get_bytes(4),
                                             .last_batch = row.get_integer(5),
                                             .created_at = row.get_integer(6),
                                             .updated_at = row.get_integer(7),
                                             .state = row.get_unsigned(8),
                                             .wake_at = row.find_integer(9),
                                             .title = row.get_bytes(10),
                                             .detail = row.get_bytes(11)});
}

RunRow read_unverified_run_row(const Execution& row) {
  RunRow run;
  run.id = row.get_integer(0);
  RunHead& head = run.head;
  head.run.text = row.get_bytes(1);
  head.epoch = row.get_unsigned(2);
  head.records = row.get_unsigned(3);
  head.chain = Hash::from_bytes(row.get_bytes(4)).value_or(Hash{});
  run.last_batch = row.get_integer(5);
  head.created_at = row.get_integer(6);
  head.summary.updated_at = row.get_integer(7);
  const std::uint64_t state = row.get_unsigned(8);
  head.summary.wake_at = row.find_integer(9);
  head.summary.title = row.get_bytes(10);
  head.summary.detail = row.get_bytes(11);
  run.checksum = row.find_integer(12);
  run.is_damaged = state > static_cast<std::uint64_t>(RunState::Forgotten);
  if (!run.is_damaged) head.summary.state = static_cast<RunState>(state);
  return run;
}

Result<RunRow, StoreError> read_run_columns(const Database& database, const Execution& row) {
  RunRow run = read_unverified_run_row(row);
  const bool has_chain = row.get_bytes(4).size() == Hash::size;
  if (!has_chain || !is_run_name(run.head.run.text))
    return failure(damaged(fmt::format("{}: row {} of `runs` is damaged: it has no {}", database.name(), run.id,
                                       has_chain ? "valid name" : "chain")));
  return run;
}

Result<RunRow, StoreError> read_run_row(const Database& database, const Execution& row) {
  auto run = read_run_columns(database, row);
  if (!run) return run;
  // A store of format 2 that cannot be upgraded, because it is read-only, has no checksums.
  run->is_damaged = run->is_damaged || (run->checksum && *run->checksum != checksum_of(*run));
  if (run->is_damaged) {
    RunSummary& summary = run->head.summary;
    summary.state = RunState::Running;
    summary.wake_at.reset();
    summary.detail.clear();
  }
  return run;
}

Result<BatchRow, StoreError> read_batch_row(const Database& database, const Execution& row) {
  BatchRow batch;
  batch.id = row.get_integer(0);
  batch.run = row.get_integer(1);
  batch.first = row.get_unsigned(2);
  batch.count = row.get_unsigned(3);
  batch.previous = row.get_integer(4);
  batch.milestone = row.find_integer(5);
  const auto chain = Hash::from_bytes(row.get_bytes(6));
  batch.bytes = row.get_bytes(7);
  if (!chain) return failure(damaged(fmt::format("{}: row {} of `batches` has no chain", database.name(), batch.id)));
  batch.chain_before = *chain;
  return batch;
}

std::string encode_hashes(const std::vector<Hash>& hashes) {
  std::string bytes;
  bytes.reserve(hashes.size() * Hash::size);
  for (const Hash& hash : hashes) bytes += hash.view();
  return bytes;
}

std::optional<std::vector<Hash>> decode_hashes(std::string_view bytes) {
  if (bytes.size() % Hash::size != 0) return std::nullopt;
  std::vector<Hash> hashes;
  hashes.reserve(bytes.size() / Hash::size);
  for (; !bytes.empty(); bytes.remove_prefix(Hash::size))
    hashes.push_back(*Hash::from_bytes(bytes.substr(0, Hash::size)));
  return hashes;
}

std::optional<std::int64_t> milestone_of(std::uint64_t first, std::uint64_t count) {
  if (count == 0 || (first - 1) / milestone_records == (first + count - 1) / milestone_records) return std::nullopt;
  return static_cast<std::int64_t>(first + count - 1);
}

}  // namespace tenon::journal::sqlite
