#include "runtime/recovery/asked_questions.h"

#include <utility>
#include <variant>

#include "runtime/recovery/known_outcomes.h"

namespace tenon::runtime {

bool is_question(const effects::RecordBody& body) {
  if (std::holds_alternative<effects::Paused>(body)) return true;
  const auto* const requested = std::get_if<effects::Requested>(&body);
  return requested != nullptr && requested->kind == effects::EffectKind::Ask;
}

Result<bool, journal::StoreError> has_asked_several(journal::RunReader& store, const journal::RunName& run) {
  std::size_t asked = 0;
  std::uint64_t after = 0;
  for (;;) {
    auto records = store.read(run, after, records_per_read);
    if (!records) return failure(std::move(records.error()));
    if (records->empty()) return false;
    for (const journal::Record& raw : *records) {
      after = raw.number;
      const auto record = effects::decode_record(raw.bytes);
      if (record && is_question(record->body) && ++asked > 1) return true;
    }
  }
}

}  // namespace tenon::runtime
