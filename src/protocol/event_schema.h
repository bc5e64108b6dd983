#pragma once

#include <string>

/// The JSON Schema and the reference page of the events, generated from their table; both are kept in docs/protocol.
namespace tenon::protocol {

/// In the schema: the definition of events whose type it does not list.
inline constexpr const char* unrecognized_event = "unrecognized";

/// A JSON Schema (2020-12) of the events from an agent, indented; `$defs` has one for each type. It is for readers, who
/// must accept events of later versions: further fields and types are valid.
[[nodiscard]] std::string make_event_schema();

/// The reference page, in Markdown.
[[nodiscard]] std::string make_event_reference();

}  // namespace tenon::protocol
