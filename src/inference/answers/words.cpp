#include "inference/answers/words.h"

#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"

namespace tenon::inference::answers {
namespace {

using types::TypeId;
using types::TypeKind;
using types::TypeTable;

/// The words that are values of `type`, each with its JSON.
std::vector<std::pair<std::string, Json>> list_words(const TypeTable& types, TypeId type) {
  std::vector<std::pair<std::string, Json>> words;
  switch (types.kind(type)) {
    case TypeKind::Option:
    case TypeKind::Refined:
    case TypeKind::Secret:
      return list_words(types, types.get(type).arguments[0]);
    case TypeKind::Boolean:
      for (const std::string_view word : {"true", "yes"}) words.emplace_back(word, Json(true));
      for (const std::string_view word : {"false", "no"}) words.emplace_back(word, Json(false));
      return words;
    case TypeKind::Union:
      if (const auto* texts = std::get_if<std::vector<std::string>>(&types.union_type(type).literals)) {
        for (const std::string& text : *texts) words.emplace_back(text, Json(text));
      }
      return words;
    case TypeKind::Enum:
      for (const types::Variant& variant : types.enum_type(type).variants) {
        if (variant.payload.empty()) words.emplace_back(variant.name, Json(variant.name));
      }
      return words;
    default:
      return words;
  }
}

}  // namespace

std::optional<Json> find_word(const TypeTable& types, TypeId type, std::string_view text) {
  text = trimmed(text);
  if (text.empty() || text.size() > word_bytes_max) return std::nullopt;
  std::string_view bare = text;
  if (bare.size() > 1 && (bare.ends_with('.') || bare.ends_with('!'))) bare.remove_suffix(1);
  constexpr std::string_view quotes = "\"'`";
  if (bare.size() > 2 && bare.front() == bare.back() && quotes.find(bare.front()) != std::string_view::npos) {
    bare = bare.substr(1, bare.size() - 2);
  }
  const auto words = list_words(types, type);
  const auto find_one = [&](auto matches) -> std::optional<Json> {
    std::optional<Json> found;
    for (const auto& [word, json] : words) {
      if (!matches(word)) continue;
      if (found && *found != json) return std::nullopt;
      found = json;
    }
    return found;
  };
  if (auto found = find_one([&](const std::string& word) { return word == text; })) return found;
  if (auto found = find_one([&](const std::string& word) { return word == bare; })) return found;
  const std::string folded = lower_case(bare);
  return find_one([&](const std::string& word) { return lower_case(word) == folded; });
}

}  // namespace tenon::inference::answers
