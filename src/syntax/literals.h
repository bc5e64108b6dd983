#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "syntax/tree.h"

namespace tenon::syntax {

/// Why a number's text has no value.
enum class NumberError : std::uint8_t {
  OutOfRange,  ///< more than 64 bits, or beyond the largest f64
  Malformed,   ///< no digits behind `0x`, a `2` behind `0b`; the lexer has reported it
};

/// The value of an Integer token: decimal, `0x…` or `0b…`, with `_` anywhere between the digits. Whether it fits the
/// type that is wanted, and the sign before it, are the caller's.
[[nodiscard]] Result<std::uint64_t, NumberError> integer_value(std::string_view text);

/// The value of a Float token. What is too small for an f64 is 0.
[[nodiscard]] Result<double, NumberError> float_value(std::string_view text);

/// Milliseconds in one `ms`, `s`, `m`, `h` or `d`; nothing for what is no unit of time.
[[nodiscard]] std::optional<std::uint64_t> unit_milliseconds(std::string_view unit);

using StringPart = std::variant<std::string, NodeId>;

/// What stands directly in a StringExpression or TemplateBody, by that node's index. A body that holds nothing may be
/// absent.
using TemplateParts = std::map<std::uint32_t, std::vector<StringPart>>;

/// A StringExpression's literal pieces, decoded, and its TemplateHole, TemplateFor and TemplateIf nodes, in order; the
/// same of each TemplateBody in it. No piece is empty and no two stand side by side, so that a plain string has one
/// part and `""` has none.
///
/// Escapes: `\n \r \t \0 \\ \" \' \{ \} \u{1F600}`. As `\{` is a brace that begins no template, `\{{` is `{{`. A `\` at
/// the end of a line joins it with the next one, whose leading blanks are dropped. What is no escape (reported by the
/// lexer) stays as it is written. A line end is `\n`, whatever the file has.
///
/// A text between `"""` may stand on lines of its own, indented like the code around it:
/// - blanks and the line end right behind the opening quotes are dropped;
/// - so are the last line end and the blanks right before the closing quotes;
/// - the indentation that all lines have in common is dropped. Lines of blanks alone do not count and become empty; the
///   closing quotes count when they stand on a line of their own; text behind the opening quotes does not count.
///   Templates count as text; lines within a template do not count. Escapes are read after that;
/// - a line on which nothing stands but one `{{ for … }}`, `{{ if … }}`, `{{ else … }}` or `{{ end }}` is dropped with
///   its line end, and its indentation does not count.
[[nodiscard]] TemplateParts template_parts(const SyntaxTree& tree, NodeId string_expression);

/// The parts of the StringExpression itself.
[[nodiscard]] std::vector<StringPart> string_parts(const SyntaxTree& tree, NodeId string_expression);

/// The text of a StringExpression without templates; nothing if it has one.
[[nodiscard]] std::optional<std::string> plain_string(const SyntaxTree& tree, NodeId string_expression);

}  // namespace tenon::syntax
