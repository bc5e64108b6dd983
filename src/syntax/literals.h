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

/// Why the text of a number does not have a value.
enum class NumberError : std::uint8_t {
  OutOfRange,  ///< more than 64 bits, or beyond the largest f64
  Malformed,   ///< no digits after `0x`, a `2` after `0b`; reported by the lexer
};

/// The value of an Integer token: decimal, `0x…`, `0o…` or `0b…`, with `_` anywhere between the digits. The caller
/// checks whether it fits the expected type, and handles the sign.
[[nodiscard]] Result<std::uint64_t, NumberError> integer_value(std::string_view text);

/// The value of a Float token. A value too small for an f64 is 0.
[[nodiscard]] Result<double, NumberError> float_value(std::string_view text);

/// Milliseconds in one `ms`, `s`, `m`, `h` or `d`; nothing if it is not a unit of time.
[[nodiscard]] std::optional<std::uint64_t> unit_milliseconds(std::string_view unit);

using StringPart = std::variant<std::string, NodeId>;

/// The direct contents of a StringExpression or TemplateBody, by the index of that node. An empty body may be
/// missing.
using TemplateParts = std::map<std::uint32_t, std::vector<StringPart>>;

/// A StringExpression's literal pieces, decoded, and its TemplateHole, TemplateFor and TemplateIf nodes, in order; the
/// same for each TemplateBody in it. Pieces are not empty and never adjacent, so a plain string has one part and `""`
/// has none.
///
/// Escapes: `\n \r \t \0 \\ \" \' \{ \} \u{1F600}`. `\{` is a brace that does not start a template, so `\{{` is `{{`.
/// `\` at the end of a line joins it with the next one, without the leading spaces of the latter. An unknown escape
/// (reported
/// by the lexer) is kept as written. A line end is `\n`, whatever the file contains.
///
/// A triple-quoted text can be on its own lines, indented like the code around it:
/// - spaces and the line end directly after the opening quotes are removed;
/// - so are the last line end and the spaces directly before the closing quotes;
/// - the common indentation of all lines is removed. Lines of only spaces do not count and become empty; the closing
///   quotes count if they are on their own line; text after the opening quotes does not count.
///   Templates count as text; lines inside a template do not count. Escapes are decoded afterwards;
/// - a line that contains only one `{{ for … }}`, `{{ if … }}`, `{{ else … }}` or `{{ end }}` is removed with its line
///   end, and its indentation does not count.
[[nodiscard]] TemplateParts template_parts(const SyntaxTree& tree, NodeId string_expression);

/// The parts of the StringExpression itself.
[[nodiscard]] std::vector<StringPart> string_parts(const SyntaxTree& tree, NodeId string_expression);

/// The text of a StringExpression without templates; nothing if it contains one.
[[nodiscard]] std::optional<std::string> plain_string(const SyntaxTree& tree, NodeId string_expression);

/// The answer of an entry of a test's script; none in a tree with errors.
[[nodiscard]] NodeId scripted_answer(const SyntaxTree& tree, NodeId entry);

/// Whether it says that a person does not answer in time: `person => nobody`.
[[nodiscard]] bool is_unanswered(const SyntaxTree& tree, NodeId answer);

}  // namespace tenon::syntax
