#include "inference/answers/person_answer.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "base/utf8.h"
#include "inference/answers/words.h"
#include "json/lenient_reader.h"
#include "json/reader.h"

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

}  // namespace

Result<vm::Value, std::vector<Mismatch>> read_person_answer(const ValueReader& reader, types::TypeId type,
                                                            std::string_view text) {
  auto first = reader.read_argument(type, text);
  if (first) return first;
  const types::TypeTable& types = reader.types();
  if (const auto word = find_word(types, type, text)) {
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
  // What is expected says more than that a word is no JSON.
  if (!is_one_word(types, type) || parse_json(text)) return first;
  return reader.read(type, Json(trimmed(text)));
}

}  // namespace tenon::inference::answers
