#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "effects/agent_scope.h"
#include "json/writer.h"
#include "protocol/event_types.h"

namespace tenon::protocol {

/// The fields that all events have.
struct EventHeader {
  std::optional<std::uint64_t> number;  ///< none: provisional
  std::string_view run;
  effects::AgentScopeView scope;
  std::int64_t time = 0;  ///< milliseconds since 1970
};

/// Writes one event as compact JSON. Fields are written in the order of the type's table. An unknown field, one of
/// another form, and a missing required one are bugs of the caller.
class EventWriter {
 public:
  EventWriter(EventKind kind, const EventHeader& header);
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;
  EventWriter& text(std::string_view name, std::string_view value);
  EventWriter& integer(std::string_view name, std::uint64_t value);
  EventWriter& time(std::string_view name, std::int64_t value);
  /// Value or Schema: JSON, unchanged. Anything else becomes a JSON string, so that an event is JSON even where a store
  /// is damaged.
  EventWriter& json(std::string_view name, std::string_view value);
  [[nodiscard]] std::string take();

 private:
  void begin(std::string_view name, bool fits_form(FieldForm form));

  const EventType& type_;
  std::size_t next_ = 0;  ///< of the type's fields
  std::string text_;
  JsonWriter out_{text_};
};

}  // namespace tenon::protocol
