#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"
#include "json/problem.h"

namespace tenon {

// Limits for texts from outside.
/// The length of a text. A longer one is refused before it is read.
inline constexpr std::size_t json_bytes_max = 16U * 1024U * 1024U;
/// Lists and objects within each other. Functions on JSON recurse, and this bounds it.
inline constexpr std::size_t json_depth_max = 256;
/// Values in one text. A value takes 40 bytes, so that a hostile text takes at most about 20 times its own size.
inline constexpr std::size_t json_nodes_max = 4'000'000;

/// What a reader accepts at most.
struct JsonLimits {
  std::size_t bytes_max = json_bytes_max;
  std::size_t depth_max = json_depth_max;
  std::size_t nodes_max = json_nodes_max;
};

/// For texts that Tenon has written: events, stored records, artifacts. A recorded value is nested at most 1,000 deep
/// (effects/value_form.h), for which its text needs up to two levels each.
inline constexpr JsonLimits own_json_limits{SIZE_MAX, 2'200, SIZE_MAX};

enum class JsonErrorKind : std::uint8_t {
  NoValue,        ///< nothing in the text is JSON
  CutOff,         ///< the text ends in the middle of a value; such a value is never completed by guessing
  Syntax,         ///< neither JSON nor a text with only one meaning as JSON
  SeveralValues,  ///< different values follow one another; it is unclear which is meant
  Refused,        ///< NaN, Infinity, undefined, a number that no f64 holds, a key given twice, half a surrogate pair
  NotUtf8,
  TooLarge,  ///< more than the limits allow
  TooDeep,   ///< nested deeper than the limits allow
};

struct JsonError {
  JsonErrorKind kind = JsonErrorKind::NoValue;
  std::size_t offset = 0;  ///< in bytes
  std::string message;     ///< for people and for the model: what was found, and what is expected
  // What the message was made from, for its other versions.
  JsonProblem problem = JsonProblem::NoJson;
  std::string found = {}, expected = {};
};

/// Reads JSON as RFC 8259 defines it, with white space around it and nothing else. A key that is given twice is
/// refused.
[[nodiscard]] Result<Json, JsonError> parse_json(std::string_view text, const JsonLimits& limits = {});

/// Reads a text that Tenon has written. One that is not JSON has the value null.
[[nodiscard]] Json parse_own_json(std::string_view text);

/// Whether the text is one JSON value. A key may be given twice.
[[nodiscard]] bool is_json(std::string_view text, const JsonLimits& limits = {});

}  // namespace tenon
