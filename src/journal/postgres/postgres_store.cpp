#include "journal/postgres/postgres_store.h"

#include <utility>

namespace tenon::journal::postgres {
namespace {

const Statement select_note{"SELECT key, bytes, expires_at FROM notes WHERE key = $1::bytea"};

}  // namespace

Result<AppendOutcomes, StoreError> PostgresStore::commit(std::span<const Append> appends) {
  auto outcomes = appender_.commit(appends);
  if (!outcomes || keeper_ == nullptr) return outcomes;
  std::vector<RunName> changed, changed_for_all, moved;
  const bool is_watched = keeper_->watches().store.is_watched();
  for (std::size_t at = 0; at < appends.size(); ++at) {
    if ((*outcomes)[at]) continue;
    if (keeper_->watches().runs.is_watched(appends[at].run)) changed.push_back(appends[at].run);
    if (is_watched) changed_for_all.push_back(appends[at].run);
    if (appends[at].moves_to) moved.push_back(appends[at].run);
  }
  if (!changed.empty()) keeper_->watches().runs.note_changed(changed);
  if (is_watched) keeper_->watches().store.note_changed(changed_for_all);
  if (!moved.empty()) keeper_->announce_moves(moved);
  return outcomes;
}

Result<RunHead, StoreError> PostgresStore::head(const RunName& run) {
  auto row = reading_.row(run);
  if (!row) return failure(std::move(row.error()));
  return std::move(row->head);
}

Result<std::optional<Note>, StoreError> PostgresStore::find_note(std::string_view key) {
  const auto rows = connection_.link().query(select_note, Parameters().bytes(key));
  if (!rows) return failure(rows.error());
  if (rows->size() == 0) return std::optional<Note>{};
  return std::optional<Note>(Note{rows->get_text(0, 0), rows->get_text(0, 1), rows->find_integer(0, 2)});
}

void PostgresStore::forget_known() {
  appender_.known().forget_all();
  reading_.forget_fetched();
}

}  // namespace tenon::journal::postgres
