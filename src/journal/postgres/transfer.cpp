// Exporting runs to files and importing them.
#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "base/utf8.h"
#include "journal/postgres/append_additions.h"
#include "journal/postgres/postgres_admin.h"
#include "journal/postgres/run_import.h"
#include "journal/postgres/stored_batches.h"
#include "journal/postgres/stored_contents.h"

namespace tenon::journal::postgres {
Result<RunFile, StoreError> PostgresAdmin::read_file(Session& session, const RunName& run) {
  const auto rows = session.run(select_run_row, Parameters().bytes(run.text));
  if (!rows) return failure(error(rows.error()));
  if (rows->size() == 0) return failure(connection_.missing_run(run));
  RunRow row = read_run_row(*rows, 0);
  if (row.head.summary.state == RunState::Forgotten) return failure(connection_.forgotten_run(run, row.head.records));
  RunFile file;
  file.head = std::move(row.head);
  // Shown to people, so invalid UTF-8 is replaced; a file with other bytes could not be imported.
  file.head.summary.title = replace_invalid_utf8(std::move(file.head.summary.title));
  file.head.summary.detail = replace_invalid_utf8(std::move(file.head.summary.detail));

  BatchCheck batches(run);
  std::optional<BatchesProblem> problem;
  std::vector<Hash> open;
  const auto read = visit_batches(session, row.id, [&](const BatchRow& stored) {
    const auto batch = batches.next(stored);
    if (!batch) {
      problem = batch.error();
      return false;
    }
    open.insert(open.end(), batch->references.begin(), batch->references.end());
    file.batches.push_back({{batch->records.begin(), batch->records.end()}, batch->references});
    return true;
  });
  if (!read) return failure(error(read.error()));
  if (!problem) problem = batches.finish(file.head);
  if (problem) return failure(connection_.damaged_record(run, problem->record, problem->what));

  std::unordered_map<Hash, Content> contents;
  const auto visited = visit_contents(session, row.id, [&](const StoredContent& stored) {
    if (stored.bytes && stored.refers)
      contents.emplace(stored.hash, Content{stored.hash, std::string(*stored.bytes), *stored.refers});
    return true;
  });
  if (!visited) return failure(error(visited.error()));
  std::unordered_set<Hash> seen;
  while (!open.empty()) {
    const Hash hash = open.back();
    open.pop_back();
    if (!seen.insert(hash).second) continue;
    auto content = contents.extract(hash);
    if (content.empty() || sha256(content.mapped().bytes) != hash)
      return failure(connection_.damaged(
          fmt::format("run {}, content {}: {}", run.text, hash.hex(),
                      content.empty() ? "it is missing, or cannot be read" : "its bytes do not match its hash")));
    const std::vector<Hash>& refers = content.mapped().refers;
    open.insert(open.end(), refers.begin(), refers.end());
    file.contents.push_back(std::move(content.mapped()));
  }
  return file;
}

Result<std::string, StoreError> PostgresAdmin::export_run(const RunName& run) {
  const auto session = connection_.link().get();
  if (!session) return failure(session.error());
  Transaction transaction(**session);
  if (auto begun = transaction.begin(Transaction::Kind::OneState); !begun) return failure(error(begun.error()));
  const auto file = read_file(**session, run);
  if (!file) return failure(file.error());
  return encode_run_file(*file);
}

Result<Imported, StoreError> PostgresAdmin::import_run(std::string_view bytes) {
  if (auto writable = connection_.require_writable(); !writable) return failure(writable.error());
  const auto file = decode_run_file(bytes);
  if (!file) return failure(file.error());
  return RunImport(connection_, *file).perform();
}

Result<Imported, StoreError> PostgresAdmin::import_forgotten(const RunHead& head) {
  if (auto writable = connection_.require_writable(); !writable) return failure(writable.error());
  return RunImport(connection_, {.head = head, .batches = {}, .contents = {}}).perform();
}

}  // namespace tenon::journal::postgres
