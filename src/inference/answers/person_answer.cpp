#include "inference/answers/person_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "base/utf8.h"
#include "inference/answers/words.h"
#include "json/lenient_reader.h"
#include "json/reader.h"
#include "json/text.h"
#include "types/table/type_parts.h"

namespace tenon::inference::answers {
namespace {

bool is_nothing(std::string_view text) {
  const std::string_view word = trimmed(text);
  return word.empty() || equal_ignoring_case(word, "none") || equal_ignoring_case(word, "null");
}

/// Whether an answer is one word or number, for which JSON's notation says nothing to a person.
bool is_one_word(const types::TypeTable& types, types::TypeId type) {
  switch (types.kind(type)) {
    case types::TypeKind::Option:
    case types::TypeKind::Refined:
      return is_one_word(types, types.get(type).arguments[0]);
    case types::TypeKind::Boolean:
    case types::TypeKind::I32:
    case types::TypeKind::I64:
    case types::TypeKind::F64:
    case types::TypeKind::Union:
      return true;
    case types::TypeKind::Enum:
      return std::ranges::all_of(types.enum_type(type).variants,
                                 [](const types::Variant& variant) { return variant.payload.empty(); });
    default:
      return false;
  }
}

/// Of a Boolean, which a refinement or a secret may hold: what `y` and `n` stand for.
std::optional<Json> find_letter(const types::TypeTable& types, types::TypeId type, std::string_view text) {
  if (types.kind(types.base(type)) != types::TypeKind::Boolean) return std::nullopt;
  const std::string_view letter = trimmed(text);
  if (equal_ignoring_case(letter, "y")) return Json(true);
  if (equal_ignoring_case(letter, "n")) return Json(false);
  return std::nullopt;
}

}  // namespace

Result<vm::Value, std::vector<Mismatch>> read_person_answer(const ValueReader& reader, types::TypeId type,
                                                            std::string_view text) {
  auto first = reader.read_argument(type, text);
  if (first) return first;
  const types::TypeTable& types = reader.types();
  const auto letter = find_letter(types, type, text);
  if (const auto word = letter ? letter : find_word(types, type, text)) {
    if (auto value = reader.read(type, *word)) return value;
  }
  if (reader.is_written_raw(type) || find_invalid_utf8(text) != std::string_view::npos) return first;
  if (types.kind(type) == types::TypeKind::Option) {
    if (is_nothing(text)) return reader.read(type, Json());
    if (reader.is_written_raw(types.get(type).arguments[0])) return reader.read(type, Json(text));
  }
  if (const auto json = parse_lenient(text)) {
    if (auto value = reader.read(type, *json)) return value;
  }
  const auto json = parse_json(text);
  if (json && types.kind(type) == types::TypeKind::Boolean) {
    return failure(std::vector<Mismatch>{{"", "expected yes or no, found " + tenon::describe(*json)}});
  }
  if (json || types::holds_secret(types, type)) return first;
  // Where a word would not fit in quotes either, what is expected says more than that it is not JSON.
  const bool is_word =
      json.error().problem == JsonProblem::UnknownWord && trimmed(text) == text.substr(json.error().offset);
  if (!is_word && !is_one_word(types, type)) return first;
  if (types.kind(type) == types::TypeKind::Boolean) {
    return failure(
        std::vector<Mismatch>{{"", fmt::format("expected yes or no, found {}", make_json_string(trimmed(text)))}});
  }
  return reader.read(type, Json(trimmed(text)));
}

Result<vm::Value, std::vector<Mismatch>> read_approval(const ValueReader& reader, types::TypeId type,
                                                       const vm::Value& shown, std::string_view text) {
  std::string_view word = trimmed(text);
  if (word.size() >= 2 && word.front() == '"' && word.back() == '"') word = word.substr(1, word.size() - 2);
  const auto is = [&](std::string_view one) { return equal_ignoring_case(word, one); };
  const types::TypeTable& types = reader.types();
  const bool is_choice = types.kind(types.base(type)) != types::TypeKind::Boolean;  // else `true` is another value
  if (is("yes") || is("y") || (is_choice && is("true"))) return vm::Value::some(shown);
  if (is("no") || is("n") || is("null") || is("none") || (is_choice && is("false"))) return vm::Value::none();
  if (word.empty()) {
    return failure(std::vector<Mismatch>{{"", fmt::format("expected yes, no, or another {}", types.describe(type))}});
  }
  const auto json = parse_json(trimmed(text));
  const bool is_quoted = json && json->is_string() && reader.is_written_raw(type);
  auto other = is_quoted ? reader.read(type, *json) : read_person_answer(reader, type, text);
  if (!other) return other;
  return vm::Value::some(std::move(*other));
}

}  // namespace tenon::inference::answers
