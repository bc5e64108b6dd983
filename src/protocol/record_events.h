#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "effects/record.h"
#include "protocol/event_types.h"
#include "protocol/run_values.h"

namespace tenon::protocol {

/// A longer value is left out of its event, which has {"left_out":{"hash":…,"bytes":…}} instead, with "in_pieces":true
/// if the hash is that of a list of pieces (effects/pieces.h).
inline constexpr std::size_t event_value_bytes_max = std::size_t{1} << 20U;

struct Event {
  std::uint64_t number = 0;  ///< 0: provisional
  EventKind kind = EventKind::Prompt;
  std::string json;  ///< on one line
};

/// The position of a record.
struct RecordPlace {
  std::string_view run;
  effects::AgentScopeView scope;
  std::uint64_t number = 0;
};

/// Returns the event of a record; nothing for a record without one. Depends only on the arguments and the contents that
/// the record names by hash, so every reader of a journal sees the same events. `values`: with the run's program, and
/// what it knows from the records before.
[[nodiscard]] std::optional<Event> make_event(const RecordPlace& place, const effects::Record& record,
                                              const Contents& contents, const RunValues& values);

/// Whether the record has an event.
[[nodiscard]] bool has_event(const effects::Record& record);

/// A piece of an answer that is being written.
struct TextPiece {
  std::string_view generation;
  std::uint32_t attempt = 0;
  std::uint64_t offset = 0;
  std::string_view text;
};
[[nodiscard]] Event make_text_delta(const RecordPlace& place, std::int64_t time, const TextPiece& piece);

}  // namespace tenon::protocol
