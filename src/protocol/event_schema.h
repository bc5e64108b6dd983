#pragma once

#include <string>

/// What the table of the events says, for programs and for people: docs/protocol keeps both.
namespace tenon::protocol {

/// A JSON Schema (2020-12) of an event that comes up, indented; `$defs` has one for each type.
[[nodiscard]] std::string make_event_schema();

/// The reference page, in Markdown.
[[nodiscard]] std::string make_event_reference();

}  // namespace tenon::protocol
