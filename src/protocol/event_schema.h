#pragma once

#include <string>

/// The JSON Schema and the reference page of the events, made from their table; both are kept in docs/protocol.
namespace tenon::protocol {

/// A JSON Schema (2020-12) of an event that comes up, indented; `$defs` has one for each type.
[[nodiscard]] std::string make_event_schema();

/// The reference page, in Markdown.
[[nodiscard]] std::string make_event_reference();

}  // namespace tenon::protocol
