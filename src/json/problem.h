#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "json/message_version.h"

namespace tenon {

struct JsonError;

/// What is wrong with a text that is read as JSON.
enum class JsonProblem : std::uint8_t {
  EmptyText,
  EmptyAnswer,
  NoJson,
  UnexpectedEnd,
  Unexpected,  ///< `expected` says what may be here instead
  TrailingText,
  SeveralValues,
  ControlCharacter,
  UnknownEscape,
  IncompleteUnicodeEscape,
  HalfSurrogate,
  LeadingZero,
  NotANumber,
  NotFinite,
  TooLargeNumber,
  OtherSpelling,  ///< a literal of another language; `expected` is JSON's
  Undefined,
  UnknownWord,
  KnownKey,
  NotUtf8,
  TooLong,
  TooDeep,
  TooManyValues,
};

/// The error with its newest message. `found`: a piece of the text, or a number.
[[nodiscard]] JsonError make_json_error(JsonProblem problem, std::size_t offset, std::string found = {},
                                        std::string_view expected = {});

/// The error's message as that version has it.
[[nodiscard]] std::string message_of(const JsonError& error, MessageVersion version);

}  // namespace tenon
