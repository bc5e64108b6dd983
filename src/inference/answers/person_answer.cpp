#include "inference/answers/person_answer.h"

#include <optional>
#include <string>

#include "base/ascii.h"

namespace tenon::inference::answers {
namespace {

using types::TypeKind;

std::optional<bool> read_boolean(std::string_view text) {
  for (const std::string_view word : {"yes", "y", "true"}) {
    if (equal_ignoring_case(text, word)) return true;
  }
  for (const std::string_view word : {"no", "n", "false"}) {
    if (equal_ignoring_case(text, word)) return false;
  }
  return std::nullopt;
}

std::string_view without_quotes(std::string_view text) {
  for (const std::string_view quotes : {"\"\"", "''", "``"}) {
    if (text.size() >= 2 && text.front() == quotes[0] && text.back() == quotes[1]) {
      return trimmed(text.substr(1, text.size() - 2));
    }
  }
  return text;
}

/// The only option that is this text in other letters.
std::optional<std::string> find_option(const types::TypeTable& types, types::TypeId type, std::string_view text) {
  std::vector<std::string> options;
  if (types.kind(type) == TypeKind::Union) {
    const auto* const texts = std::get_if<std::vector<std::string>>(&types.union_type(type).literals);
    if (texts != nullptr) options = *texts;
  } else if (types.kind(type) == TypeKind::Enum) {
    for (const types::Variant& variant : types.enum_type(type).variants) {
      if (variant.payload.empty()) options.push_back(variant.name);
    }
  }
  std::optional<std::string> found;
  for (std::string& option : options) {
    if (!equal_ignoring_case(option, text)) continue;
    if (found) return std::nullopt;
    found = std::move(option);
  }
  return found;
}

}  // namespace

Result<vm::Value, std::vector<Mismatch>> read_person_answer(const ValueReader& reader, types::TypeId type,
                                                            std::string_view text) {
  auto first = reader.read_argument(type, text);
  if (first) return first;
  const std::string_view said = trimmed(text);
  if (said.size() < text.size()) {
    if (auto value = reader.read_argument(type, said)) return value;
  }
  const std::string_view word = without_quotes(said);
  const types::TypeTable& types = reader.types();
  const types::TypeId open = types.opened(type);
  if (types.kind(open) == TypeKind::Boolean) {
    if (const auto boolean = read_boolean(word)) return reader.read(type, Json(*boolean));
  }
  if (const auto option = find_option(types, open, word)) {
    if (auto value = reader.read(type, Json(*option))) return value;
  }
  if (word.size() < said.size()) {
    if (auto value = reader.read_argument(type, word)) return value;
  }
  return first;
}

}  // namespace tenon::inference::answers
