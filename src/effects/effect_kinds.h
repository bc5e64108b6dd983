#pragma once

#include <cstdint>
#include <string_view>

namespace tenon::effects {

// clang-format off
/// The kinds of effects. X(number, Name, text, meaning). The numbers are stored on disks. The kind of a request follows
/// from its bytecode::RequestKind, and that of an extern from the table of its types::BuiltinEffect.
#define TENON_EFFECT_KINDS(X)                                                                            \
  X( 0, Complete,      "complete",       "the model supplies a function's value")                        \
  X( 1, Fill,          "fill",           "the model supplies missing arguments")                         \
  X( 2, Select,        "select",         "the model chooses a clause")                                   \
  X( 3, Extern,        "extern",         "a function of a library")                                      \
  X( 4, Ask,           "ask",            "a person answers")                                             \
  X( 5, Now,           "now",            "the time")                                                     \
  X( 6, Random,        "random",         "a random number")                                              \
  X( 7, Sleep,         "sleep",          "a timer")                                                      \
  X( 8, AgentCalled,   "agent_called",   "subject: the agent that starts a turn for `agent`")            \
  X( 9, AgentReturned, "agent_returned", "subject: the agent that has ended it")                         \
  X(10, HandedOff,     "handed_off",     "subject: the agent that continues the turn of `agent`")        \
  X(11, AnswerRefused, "answer_refused", "subject: the function whose contract an answer violates")      \
  X(12, BlockEntered,  "block_entered",  "subject: the path of the block that starts")                   \
  X(13, BlockLeft,     "block_left",     "subject: the path of the block that has ended")                \
  X(14, Emitted,       "emitted",        "an agent's message before its turn ends; no subject")
// clang-format on

enum class EffectKind : std::uint8_t {
#define TENON_EFFECT_KIND(number, name, text, meaning) name = number,
  TENON_EFFECT_KINDS(TENON_EFFECT_KIND)
#undef TENON_EFFECT_KIND
};
inline constexpr std::uint8_t effect_kind_count = 15;

/// Effects between one agent and another.
[[nodiscard]] constexpr bool is_between_agents(EffectKind kind) {
  return kind == EffectKind::AgentCalled || kind == EffectKind::AgentReturned || kind == EffectKind::HandedOff;
}
/// What a program reports about itself, without an answer.
[[nodiscard]] constexpr bool is_block_event(EffectKind kind) {
  return kind >= EffectKind::BlockEntered && kind <= EffectKind::Emitted;
}
/// Effects that are only reported: they are not performed, and their outcome is ().
[[nodiscard]] constexpr bool is_notification(EffectKind kind) {
  return is_between_agents(kind) || kind == EffectKind::AnswerRefused || is_block_event(kind);
}
/// Those of them that a listener can receive as program events (runtime/events.h).
[[nodiscard]] constexpr bool is_program_event(EffectKind kind) {
  return kind == EffectKind::AnswerRefused || is_block_event(kind);
}
[[nodiscard]] constexpr bool is_generation(EffectKind kind) {
  return kind <= EffectKind::Select;
}
/// The text of the table.
[[nodiscard]] std::string_view effect_name(EffectKind kind);

}  // namespace tenon::effects
