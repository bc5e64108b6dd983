#include "journal/store.h"

#include <utility>

#include "base/ensure.h"

namespace tenon::journal {

std::string_view name_of(RunState state) {
  switch (state) {
    case RunState::Running:
      return "running";
    case RunState::Waiting:
      return "waiting";
    case RunState::Idle:
      return "idle";
    case RunState::Done:
      return "done";
    case RunState::Failed:
      return "failed";
    case RunState::Cancelled:
      return "cancelled";
    case RunState::Forgotten:
      return "forgotten";
  }
  ENSURE(false);
}

std::optional<RunState> find_state(std::string_view name) {
  for (auto number = static_cast<std::uint8_t>(RunState::Running);
       number <= static_cast<std::uint8_t>(RunState::Forgotten); ++number) {
    const auto state = static_cast<RunState>(number);
    if (name_of(state) == name) return state;
  }
  return std::nullopt;
}

std::size_t bytes_of(const Append& append) {
  std::size_t bytes = append.snapshot ? append.snapshot->bytes.size() : 0;
  for (const std::string& record : append.records) bytes += record.size();
  for (const Content& content : append.contents) bytes += content.bytes.size();
  for (const Note& note : append.notes) bytes += note.key.size() + note.bytes.size();
  return bytes;
}

bool is_too_large(const Append& append) {
  std::size_t size = 0;
  for (const std::string& record : append.records) size += record.size();
  for (const Note& note : append.notes) {
    if (note.key.size() > note_key_bytes_max) return true;
    size += note.key.size() + note.bytes.size();
  }
  for (const Content& content : append.contents)
    if (content.bytes.size() > append_bytes_max || content.refers.size() > append_bytes_max / Hash::size) return true;
  if (append.snapshot && append.snapshot->bytes.size() > append_bytes_max) return true;
  return size > append_bytes_max || append.references.size() > append_bytes_max / Hash::size ||
         append.summary.title.size() + append.summary.detail.size() > append_bytes_max;
}

Result<std::vector<std::optional<Note>>, StoreError> Store::find_notes(std::span<const std::string> keys) {
  std::vector<std::optional<Note>> notes;
  notes.reserve(keys.size());
  for (const std::string& key : keys) {
    auto note = find_note(key);
    if (!note) return failure(std::move(note.error()));
    notes.push_back(std::move(*note));
  }
  return notes;
}

Result<RunHead, StoreError> claim_run(Store& store, const RunName& run, ClaimMode mode) {
  auto outcomes = store.claim({&run, 1}, mode);
  if (!outcomes) return failure(std::move(outcomes.error()));
  return std::move(outcomes->front());
}

bool has_ended(RunState state) {
  switch (state) {
    case RunState::Running:
    case RunState::Waiting:
    case RunState::Idle:
      return false;
    case RunState::Done:
    case RunState::Failed:
    case RunState::Cancelled:
    case RunState::Forgotten:
      return true;
  }
  ENSURE(false);
}

}  // namespace tenon::journal
