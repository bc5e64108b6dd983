#pragma once

#include <cstdint>
#include <optional>

namespace tenon::types {

/// What performs an extern. The numbers are part of the program's format and of the journal's.
enum class BuiltinEffect : std::uint8_t {
  Native = 0,     ///< a function of a library
  Ask = 1,        ///< a person answers
  AskWithin = 2,  ///< the same, within a number of milliseconds
  Now = 3,
  Random = 4,
  Sleep = 5,
  AgentCalled = 6,    ///< an agent starts a turn for another one; arguments: its name and the input
  AgentReturned = 7,  ///< the agent has ended it; arguments: its name and the value's text
  HandedOff = 8,      ///< an agent hands off the rest of its turn to another; arguments: that one's name and the input
  /// A model's answer violates a contract; arguments: the function, the reasons, and the key of the request.
  AnswerRefused = 9,
  BlockEntered = 10,  ///< a block of an agent starts; argument: its path
  BlockLeft = 11,     ///< the block has ended; argument: its path
  Emitted = 12,       ///< a message of an agent before its turn ends; argument: the text
};
inline constexpr std::uint8_t builtin_effect_count = 13;
/// Effects that are only reported, such as the start of an agent's turn.
[[nodiscard]] constexpr bool is_notification(BuiltinEffect call) {
  return call >= BuiltinEffect::AgentCalled && call <= BuiltinEffect::Emitted;
}

/// The options of a native extern: `extern(once, process, within: 5s) fn …`.
struct ExternCallOptions {
  bool is_once = false;     ///< at most once; after a crash during the call, a person says what became of it
  bool is_process = false;  ///< in a separate process, which can be killed
  std::optional<std::uint64_t> within_ms;  ///< fails with TimedOut if it has not returned by then; at least 1
};

}  // namespace tenon::types
