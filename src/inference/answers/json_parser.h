#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "inference/answers/json.h"

namespace tenon::inference::answers {

enum class ParseErrorKind : std::uint8_t {
  NoValue,        ///< nothing in the text is JSON
  CutOff,         ///< the text ends in the middle of a value; such a value is never completed by guessing
  Syntax,         ///< neither JSON nor a text with only one meaning as JSON
  SeveralValues,  ///< different values follow one another; it is unclear which is meant
  Refused,        ///< NaN, Infinity, undefined, a number that no f64 holds, a key given twice, half a surrogate pair
  NotUtf8,
  TooLarge,  ///< more than json_bytes_max or json_nodes_max
  TooDeep,   ///< more than json_depth_max
};

struct ParseError {
  ParseErrorKind kind = ParseErrorKind::NoValue;
  std::size_t offset = 0;  ///< in bytes
  std::string message;     ///< for people and for the model: what was found, and what is expected
};

/// Reads JSON as RFC 8259 has it, white space around it allowed and nothing else. A key that is given twice is refused.
[[nodiscard]] Result<Json, ParseError> parse_json(std::string_view text);

/// Reads the JSON value in a model's answer. Passed over: a `<think>…</think>` block at the start, a code fence, prose
/// before and after the value. Understood: trailing commas, comments (`//`, `#`, `/* */`), single quotes, keys without
/// quotes, Python's True, False and None, line breaks and tabs inside strings, `+5`, `.5` and `5.`. Whatever could mean
/// two things is refused instead: see ParseErrorKind.
[[nodiscard]] Result<Json, ParseError> parse_lenient(std::string_view text);

}  // namespace tenon::inference::answers
