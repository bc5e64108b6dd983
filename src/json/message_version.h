#pragma once

#include <cstdint>

namespace tenon {

/// The version of the messages that a program or its model can see: about JSON, and about values that do not have the
/// requested type. A program keeps the version with which it was compiled (bytecode::Program::messages), so that a
/// replayed run computes the same texts, and a resumed one sends its model the same reasons again. The numbers are
/// stored in programs: a changed text is a new version, and the texts of the others stay as they are.
enum class MessageVersion : std::uint8_t {
  First = 0,
  Second = 1,
  Third = 2,   ///< an outline's counts of one are in the singular
  Fourth = 3,  ///< likewise the amount of a budget that is spent
  Fifth = 4,   ///< likewise the length of a text of which there is no such slice
};

inline constexpr MessageVersion newest_messages = MessageVersion::Fifth;

}  // namespace tenon
