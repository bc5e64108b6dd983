#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace tenon::effects {

/// What performs an effect (runtime/effects/effects.h).
enum class Performer : std::uint8_t {
  Model,    ///< the model
  Caller,   ///< what calls externs
  Person,   ///< a person, by an answer
  Timer,    ///< time
  Nothing,  ///< its outcome is known at once; a notification's is ()
};

// clang-format off
/// The kinds of effects. X(number, Name, text, performer, meaning). The numbers are stored on disks. The kind of a
/// request follows from its bytecode::RequestKind, and that of an extern from the table of its types::BuiltinEffect.
#define TENON_EFFECT_KINDS(X)                                                                                     \
  X( 0, Complete,      "complete",       Model,    "the model supplies a function's value")                         \
  X( 1, Fill,          "fill",           Model,    "the model supplies missing arguments")                          \
  X( 2, Select,        "select",         Model,    "the model chooses a clause")                                    \
  X( 3, Extern,        "extern",         Caller,   "a function of a library")                                       \
  X( 4, Ask,           "ask",            Person,   "a person answers")                                              \
  X( 5, Now,           "now",            Nothing,  "the time")                                                      \
  X( 6, Random,        "random",         Nothing,  "a random number")                                               \
  X( 7, Sleep,         "sleep",          Timer,    "a timer")                                                       \
  X( 8, AgentCalled,   "agent_called",   Nothing,  "subject: the agent that starts a turn for `agent`")             \
  X( 9, AgentReturned, "agent_returned", Nothing,  "subject: the agent that has ended it")                          \
  X(10, HandedOff,     "handed_off",     Nothing,  "subject: the agent that continues the turn of `agent`")         \
  X(11, AnswerRefused, "answer_refused", Nothing,  "subject: the function whose contract an answer violates")       \
  X(12, BlockEntered,  "block_entered",  Nothing,  "subject: the path of the block that starts")                    \
  X(13, BlockLeft,     "block_left",     Nothing,  "subject: the path of the block that has ended")                 \
  X(14, Emitted,       "emitted",        Nothing,  "an agent's message before its turn ends; no subject")
// clang-format on

enum class EffectKind : std::uint8_t {
#define TENON_EFFECT_KIND(number, name, text, performer, meaning) name = number,
  TENON_EFFECT_KINDS(TENON_EFFECT_KIND)
#undef TENON_EFFECT_KIND
};
inline constexpr std::uint8_t effect_kind_count = 15;

[[nodiscard]] constexpr Performer performer_of(EffectKind kind) {
  constexpr Performer performers[] = {
#define TENON_EFFECT_KIND(number, name, text, performer, meaning) Performer::performer,
      TENON_EFFECT_KINDS(TENON_EFFECT_KIND)
#undef TENON_EFFECT_KIND
  };
  static_assert(std::size(performers) == effect_kind_count);
  return performers[static_cast<std::uint8_t>(kind)];
}

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
  return performer_of(kind) == Performer::Model;
}
/// Effects whose outcome is known at once.
[[nodiscard]] constexpr bool is_instant(EffectKind kind) {
  return performer_of(kind) == Performer::Nothing;
}
/// The text of the table.
[[nodiscard]] std::string_view effect_name(EffectKind kind);

}  // namespace tenon::effects
