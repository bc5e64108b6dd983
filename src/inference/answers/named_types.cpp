#include "inference/answers/named_types.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace tenon::inference::answers {
namespace {

using types::TypeId;
using types::TypeKind;
using types::TypeTable;

bool gets_name_when_repeated(TypeKind kind) {
  return kind == TypeKind::Struct || kind == TypeKind::Enum || kind == TypeKind::Tuple;
}

std::string name_of(const TypeTable& types, TypeId type) {
  std::string name;
  const TypeKind kind = types.kind(type);
  if (kind == TypeKind::Struct) name = types.struct_type(type).name;
  if (kind == TypeKind::Enum) name = types.enum_type(type).name;
  if (kind == TypeKind::Tuple) name = "Tuple";
  if (kind == TypeKind::List) name = "List";
  if (kind == TypeKind::Map) name = "Map";
  for (char& character : name) {
    const bool is_plain = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
                          (character >= '0' && character <= '9');
    if (!is_plain) character = '_';
  }
  return name.empty() ? "Part" : name;
}

}  // namespace

NamedTypes::NamedTypes(const TypeTable& types, std::span<const TypeId> roots) {
  struct Visit {
    TypeId type;
    std::uint32_t depth;
  };
  std::unordered_set<TypeId> seen;
  std::vector<Visit> pending;
  for (auto root = roots.rbegin(); root != roots.rend(); ++root) pending.push_back({*root, 0});
  while (!pending.empty()) {
    const Visit visit = pending.back();
    pending.pop_back();
    if (find_name(visit.type) != nullptr) continue;
    const std::vector<TypeId> parts = types::list_parts(types, visit.type);
    if (parts.empty() && types.kind(visit.type) != TypeKind::Enum) continue;
    const bool is_repeated = !seen.insert(visit.type).second;
    const bool has_name_now =
        (is_repeated && gets_name_when_repeated(types.kind(visit.type))) || visit.depth >= inline_depth_max;
    if (has_name_now) add_name(types, visit.type);
    if (is_repeated && gets_name_when_repeated(types.kind(visit.type))) continue;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
      pending.push_back({*part, has_name_now ? 1 : visit.depth + 1});
  }
}

const std::string* NamedTypes::find_name(TypeId type) const {
  const auto found = names_.find(type);
  return found == names_.end() ? nullptr : &found->second;
}

void NamedTypes::add_name(const TypeTable& types, TypeId type) {
  const std::string wanted = name_of(types, type);
  const auto is_taken = [this](const std::string& name) {
    return std::ranges::any_of(names_, [&](const auto& entry) { return entry.second == name; });
  };
  std::string name = wanted;
  for (std::size_t number = 2; is_taken(name); ++number) name = wanted + "_" + std::to_string(number);
  names_.emplace(type, std::move(name));
  order_.push_back(type);
}

}  // namespace tenon::inference::answers
