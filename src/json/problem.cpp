#include "json/problem.h"

#include <fmt/format.h>

#include <iterator>

#include "base/ensure.h"
#include "json/reader.h"

namespace tenon {
namespace {

/// `{0}`: what was found; `{1}`: what was expected.
struct ProblemTexts {
  JsonProblem problem;
  JsonErrorKind kind;
  std::string_view first;
  std::string_view second;
};

using Kind = JsonErrorKind;

constexpr ProblemTexts texts[] = {
    {JsonProblem::EmptyText, Kind::CutOff, "the text is empty", "the text is empty"},
    {JsonProblem::EmptyAnswer, Kind::NoValue, "the answer is empty", "the answer is empty"},
    {JsonProblem::NoJson, Kind::NoValue, "there is no JSON in the text", "the text contains no JSON"},
    {JsonProblem::UnexpectedEnd, Kind::CutOff, "the text ends in the middle of a value",
     "unexpected end of the text in a JSON value"},
    {JsonProblem::Unexpected, Kind::Syntax, "{1} is missing before {0}", "expected {1}, found {0}"},
    {JsonProblem::TrailingText, Kind::Syntax, "the end is missing before {0}",
     "unexpected text after the JSON value: {0}"},
    {JsonProblem::SeveralValues, Kind::SeveralValues,
     "there is more than one JSON value, and they differ; give one alone",
     "the text contains several different JSON values; give exactly one"},
    {JsonProblem::ControlCharacter, Kind::Syntax, "a string holds the control character {0}; write it as an escape",
     "unescaped control character {0} in a string"},
    {JsonProblem::UnknownEscape, Kind::Syntax, "{0} is no escape; a backslash itself is written `\\\\`",
     "unknown escape sequence {0}; write a backslash as `\\\\`"},
    {JsonProblem::IncompleteUnicodeEscape, Kind::Syntax, "{0} is no escape; `\\u` wants four hexadecimal digits",
     "invalid escape sequence {0}: expected four hexadecimal digits after `\\u`"},
    {JsonProblem::HalfSurrogate, Kind::Refused, "{0} is half of a surrogate pair and no character",
     "unpaired surrogate {0}"},
    {JsonProblem::LeadingZero, Kind::Syntax, "a number begins with no 0: {0}", "a number must not start with 0: {0}"},
    {JsonProblem::NotANumber, Kind::Syntax, "{0} is no JSON number", "{0} is not a JSON number"},
    {JsonProblem::NotFinite, Kind::Refused, "{0} is no JSON number; numbers are finite",
     "{0} is not a JSON number; numbers must be finite"},
    {JsonProblem::TooLargeNumber, Kind::Refused, "the number {0} is larger than an f64 can be",
     "the number {0} is out of range for `f64`"},
    {JsonProblem::OtherSpelling, Kind::Syntax, "`{0}` is no JSON value; it is written `{1}`",
     "`{0}` is not a JSON value; write `{1}`"},
    {JsonProblem::Undefined, Kind::Refused, "`undefined` is no JSON value; what is absent is `null`",
     "`undefined` is not a JSON value; write `null`"},
    {JsonProblem::UnknownWord, Kind::Syntax, "{0} is no JSON value; texts stand in quotes",
     "{0} is not a JSON value; strings must be in double quotes"},
    {JsonProblem::KnownKey, Kind::Refused, "the key {0} is given twice", "duplicate key {0}"},
    {JsonProblem::NotUtf8, Kind::NotUtf8, "byte {0} is no UTF-8", "invalid UTF-8 at byte {0}"},
    {JsonProblem::TooLong, Kind::TooLarge, "the text is longer than {0} bytes",
     "the text is too long (maximum {0} bytes)"},
    {JsonProblem::TooDeep, Kind::TooDeep, "lists and objects are nested deeper than {0}",
     "lists and objects are nested too deeply (maximum depth {0})"},
    {JsonProblem::TooManyValues, Kind::TooLarge, "the value has too many parts", "the text contains too many values"},
};

constexpr const ProblemTexts& texts_of(JsonProblem problem) {
  return texts[static_cast<std::size_t>(problem)];
}

constexpr bool are_in_order() {
  for (std::size_t at = 0; at < std::size(texts); ++at) {
    if (static_cast<std::size_t>(texts[at].problem) != at) return false;
  }
  return std::size(texts) == static_cast<std::size_t>(JsonProblem::TooManyValues) + 1;
}
static_assert(are_in_order());

}  // namespace

JsonError make_json_error(JsonProblem problem, std::size_t offset, std::string found, std::string_view expected) {
  JsonError error{texts_of(problem).kind, offset, {}, problem, std::move(found), std::string(expected)};
  error.message = message_of(error, newest_messages);
  return error;
}

std::string message_of(const JsonError& error, MessageVersion version) {
  const ProblemTexts& row = texts_of(error.problem);
  const std::string_view text = version == MessageVersion::First ? row.first : row.second;
  return fmt::format(fmt::runtime(text), error.found, error.expected);
}

}  // namespace tenon
