#include "journal/postgres/postgres_store.h"

#include <map>
#include <utility>

namespace tenon::journal::postgres {
namespace {

const Statement select_note{"SELECT key, bytes, expires_at FROM notes WHERE key = $1::bytea"};
const Statement select_notes_of_keys{"SELECT key, bytes, expires_at FROM notes WHERE key = ANY($1::bytea[])"};

Note note_of(const Rows& rows, std::size_t row) {
  return {rows.get_text(row, 0), rows.get_text(row, 1), rows.find_integer(row, 2)};
}

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
  return std::optional<Note>(note_of(*rows, 0));
}

Result<std::vector<std::optional<Note>>, StoreError> PostgresStore::find_notes(std::span<const std::string> keys) {
  if (keys.size() < 2) return Store::find_notes(keys);
  const auto rows =
      connection_.link().query(select_notes_of_keys, Parameters().array(make_array(ArrayValue::Element::Bytea, keys)));
  if (!rows) return failure(rows.error());
  std::map<std::string, std::size_t> places;
  for (std::size_t row = 0; row < rows->size(); ++row) places.emplace(rows->get_text(row, 0), row);
  std::vector<std::optional<Note>> notes;
  for (const std::string& key : keys) {
    const auto place = places.find(key);
    notes.push_back(place == places.end() ? std::nullopt : std::optional(note_of(*rows, place->second)));
  }
  return notes;
}

void PostgresStore::forget_known() {
  appender_.known().forget_all();
  reading_.forget_fetched();
}

}  // namespace tenon::journal::postgres
