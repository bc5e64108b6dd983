#include "journal/sqlite/statements.h"

#include <fmt/format.h>

namespace tenon::journal::sqlite {

Result<RunRow, StoreError> read_run_row(const Database& database, const Execution& row) {
  RunRow run;
  run.id = row.get_integer(0);
  RunHead& head = run.head;
  head.run.text = row.get_bytes(1);
  head.epoch = row.get_unsigned(2);
  head.records = row.get_unsigned(3);
  const auto chain = Hash::from_bytes(row.get_bytes(4));
  run.last_batch = row.get_integer(5);
  head.created_at = row.get_integer(6);
  head.summary.updated_at = row.get_integer(7);
  const std::uint64_t state = row.get_unsigned(8);
  head.summary.wake_at = row.find_integer(9);
  head.summary.title = row.get_bytes(10);
  head.summary.detail = row.get_bytes(11);
  if (!chain || state > static_cast<std::uint64_t>(RunState::Forgotten))
    return failure(
        damaged(fmt::format("{}: run {}: its row in `runs` makes no sense", database.path(), head.run.text)));
  head.chain = *chain;
  head.summary.state = static_cast<RunState>(state);
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
  if (!chain) return failure(damaged(fmt::format("{}: row {} of `batches` has no chain", database.path(), batch.id)));
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
