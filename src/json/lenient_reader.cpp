#include "json/lenient_reader.h"

#include <optional>

#include "base/ascii.h"
#include "json/builder.h"
#include "json/scanner.h"

namespace tenon {
namespace {

/// How often the search for a value may read the text again before it gives up.
constexpr std::size_t search_rounds_max = 8;
constexpr std::size_t search_bytes_min = 65'536;

struct Found {
  Json value;
  std::size_t end = 0;
};

/// The first object or list from `from` on that starts with one of `openers`. Text that only looks like one (`{braces}`
/// in prose) is skipped. Once a key or an item was read, an error is the answer's error: a part is never taken for the
/// whole.
Result<Found, JsonError> find_value(std::string_view text, std::size_t from, std::string_view openers) {
  std::size_t budget = search_rounds_max * text.size() + search_bytes_min;
  std::optional<JsonError> cut_off;
  for (std::size_t at = text.find_first_of(openers, from); at != std::string_view::npos;
       at = text.find_first_of(openers, at + 1)) {
    JsonBuilder builder;
    JsonScanner<JsonBuilder> parser(text, at, JsonDialect::Lenient, {}, builder);
    if (parser.scan_value()) return Found{builder.take(), parser.at()};
    JsonError error = parser.take_error();
    if (parser.is_committed()) return failure(std::move(error));
    if (error.kind == JsonErrorKind::CutOff && text.find_first_of(openers, at + 1) == std::string_view::npos)
      cut_off = std::move(error);
    const std::size_t spent = parser.at() - at + 1;
    if (spent > budget) break;
    budget -= spent;
  }
  return failure(cut_off ? std::move(*cut_off) : make_json_error(JsonProblem::NoJson, 0));
}

/// The inside of a text that is one code fence; any other text as it is.
std::string_view skip_fence(std::string_view text) {
  constexpr std::string_view fence = "```";
  if (text.size() < 2 * fence.size() || !text.starts_with(fence) || !text.ends_with(fence)) return text;
  const std::size_t line_end = text.find('\n');
  if (line_end == std::string_view::npos || line_end > text.size() - fence.size()) return text;
  return trimmed(text.substr(line_end, text.size() - fence.size() - line_end));
}

}  // namespace

Result<Json, JsonError> parse_lenient(std::string_view text) {
  if (std::optional<JsonError> error = check_json_bytes(text, {})) return failure(std::move(*error));
  const char* const begin = text.data();
  text = skip_fence(trimmed(text));
  const auto skipped = static_cast<std::size_t>(text.empty() ? 0 : text.data() - begin);
  if (text.empty()) return failure(make_json_error(JsonProblem::EmptyAnswer, 0));
  const auto at_origin = [skipped](JsonError error) {
    error.offset += skipped;
    return failure(std::move(error));
  };

  JsonError scalar_error;
  if (text.front() != '{' && text.front() != '[') {
    JsonBuilder builder;
    JsonScanner<JsonBuilder> parser(text, 0, JsonDialect::Lenient, {}, builder);
    if (parser.scan_value() && parser.skip_space() && parser.at() == text.size()) return builder.take();
    scalar_error = parser.take_error();
  }
  Result<Found, JsonError> found = find_value(text, 0, "{[");
  if (!found) {
    const bool is_telling = scalar_error.kind == JsonErrorKind::Refused || scalar_error.kind == JsonErrorKind::CutOff;
    return at_origin(found.error().kind == JsonErrorKind::NoValue && is_telling ? std::move(scalar_error)
                                                                                : std::move(found.error()));
  }
  const std::string_view opener = found->value.is_object() ? "{" : "[";
  std::size_t end = found->end;
  while (text.find(opener, end) != std::string_view::npos) {
    Result<Found, JsonError> next = find_value(text, end, opener);
    if (!next && next.error().kind == JsonErrorKind::NoValue) return std::move(found->value);
    if (!next || next->value != found->value) {
      return at_origin(make_json_error(JsonProblem::SeveralValues, end));
    }
    end = next->end;
  }
  return std::move(found->value);
}

}  // namespace tenon
