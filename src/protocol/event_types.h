#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

/// The agent protocol's messages, as one table from which the writer, the JSON Schema and the reference page come.
namespace tenon::protocol {

enum class EventKind : std::uint8_t {
  Prompt,
  Cancel,
  ResumeWithInput,
  PromptStarted,
  TextDelta,
  Text,
  ToolCall,
  ToolResult,
  ToolError,
  AgentCall,
  AgentResult,
  GenerationStarted,
  GenerationRetried,
  GenerationFinished,
  AnswerRefused,
  BlockEntered,
  BlockLeft,
  WaitForInput,
  Handoff,
  StateChanged,
  TurnEnd,
  TurnCancelled,
  TurnFailed,
  ProgramTaken,
  ServiceUnavailable,
  FlowRefused,
};
inline constexpr std::size_t event_kind_count = 26;

/// Down to an agent, or up from it. Messages that go down are recorded and reported as events.
enum class Direction : std::uint8_t { Down, Up, Both };

enum class FieldForm : std::uint8_t {
  Text,
  Integer,  ///< not negative
  Time,     ///< milliseconds since 1970
  Value,    ///< any JSON: a value in the form of RunValues
  Schema,   ///< a JSON Schema
};

enum class Presence : std::uint8_t { Always, Sometimes };

struct EventField {
  std::string_view name;
  FieldForm form = FieldForm::Text;
  Presence presence = Presence::Always;
  std::string_view meaning;
};

struct EventType {
  EventKind kind = EventKind::Prompt;
  std::string_view name;  ///< the value of the field `type`
  Direction direction = Direction::Up;
  std::string_view meaning;
  std::span<const EventField> fields;  ///< in the order in which they are written, after the common ones
};

/// `number`, `run`, `agent`, `depth`, `type`, `time`: before the fields of every event.
[[nodiscard]] std::span<const EventField> common_fields();
/// All types, in the order of EventKind.
[[nodiscard]] std::span<const EventType> event_types();
[[nodiscard]] const EventType& event_type(EventKind kind);
[[nodiscard]] std::optional<EventKind> find_event_kind(std::string_view name);

}  // namespace tenon::protocol
