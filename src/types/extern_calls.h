#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon::types {

// clang-format off
/// What performs an extern. X(number, Name, effect, meaning): `effect` is the effects::EffectKind of its requests. The
/// numbers are part of the program's format and of the journal's.
#define TENON_BUILTIN_EFFECTS(X)                                                                                        \
  X( 0, Native,        Extern,        "a function of a library")                                                        \
  X( 1, Ask,           Ask,           "a person answers")                                                               \
  X( 2, AskWithin,     Ask,           "the same, within a number of milliseconds")                                      \
  X( 3, Now,           Now,           "the time")                                                                       \
  X( 4, Random,        Random,        "a random number")                                                                \
  X( 5, Sleep,         Sleep,         "a timer")                                                                        \
  X( 6, AgentCalled,   AgentCalled,   "an agent starts a turn for another one; arguments: its name and the input")      \
  X( 7, AgentReturned, AgentReturned, "the agent has ended it; arguments: its name and the value's text")               \
  X( 8, HandedOff,     HandedOff,     "an agent hands off the rest of its turn; arguments: the other's name, the input") \
  X( 9, AnswerRefused, AnswerRefused, "an answer violates a contract; arguments: function, reasons, the request's key") \
  X(10, BlockEntered,  BlockEntered,  "a block of an agent starts; argument: its path")                                 \
  X(11, BlockLeft,     BlockLeft,     "the block has ended; argument: its path")                                        \
  X(12, Emitted,       Emitted,       "a message of an agent before its turn ends; argument: the text")                     \
  X(13, Approve,       Ask,           "a person looks at a value; arguments: the value, the question; Some of the value, "  \
                                      "which may be another one, or None")
// clang-format on

enum class BuiltinEffect : std::uint8_t {
#define TENON_BUILTIN_EFFECT(number, name, effect, meaning) name = number,
  TENON_BUILTIN_EFFECTS(TENON_BUILTIN_EFFECT)
#undef TENON_BUILTIN_EFFECT
};
inline constexpr std::uint8_t builtin_effect_count = 14;
[[nodiscard]] constexpr bool asks_person(BuiltinEffect call) {
  return call == BuiltinEffect::Ask || call == BuiltinEffect::AskWithin || call == BuiltinEffect::Approve;
}
/// The argument that is the question.
[[nodiscard]] constexpr std::size_t question_argument(BuiltinEffect call) {
  return call == BuiltinEffect::Approve ? 1 : 0;
}
/// The message of the failure with which `ask_within` ends when its time is up.
inline constexpr std::string_view unanswered_message = "no one answered in time";
/// Effects that are only reported, such as the start of an agent's turn.
[[nodiscard]] constexpr bool is_notification(BuiltinEffect call) {
  return call >= BuiltinEffect::AgentCalled && call <= BuiltinEffect::Emitted;
}

/// The options of a native extern: `extern(once, process, within: 5s) fn …`.
struct ExternCallOptions {
  bool is_once = false;     ///< at most once; after a crash during the call, a person says what became of it
  bool is_process = false;  ///< in a separate process, which can be killed
  bool acts = false;        ///< it changes the world: only what is trusted may decide that it is called
  std::optional<std::uint64_t> within_ms;  ///< fails with TimedOut if it has not returned by then; at least 1
};

}  // namespace tenon::types
