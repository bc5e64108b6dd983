#include "types/declarations/member_positions.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tenon::types {
namespace {

/// The members of types with fewer are compared one by one.
constexpr std::size_t many_members = 16;

std::size_t count_members(const TypeTable& types, TypeId type) {
  if (types.kind(type) == TypeKind::Enum) return types.enum_type(type).variants.size();
  if (types.kind(type) == TypeKind::Struct) return types.struct_type(type).fields.size();
  if (types.kind(type) != TypeKind::Union) return 0;
  return std::visit([](const auto& literals) { return literals.size(); }, types.union_type(type).literals);
}

/// Calls `visit` with each member and its position, until it returns true.
template <class Visit>
void for_each_member(const TypeTable& types, TypeId type, const Visit& visit) {
  std::uint32_t position = 0;
  if (types.kind(type) == TypeKind::Enum) {
    for (const Variant& variant : types.enum_type(type).variants) {
      if (visit(variant.name, position++)) return;
    }
    return;
  }
  if (types.kind(type) == TypeKind::Struct) {
    for (const Field& field : types.struct_type(type).fields) {
      if (visit(field.name, position++)) return;
    }
    return;
  }
  if (types.kind(type) != TypeKind::Union) return;
  const UnionType& of = types.union_type(type);
  if (const auto* texts = std::get_if<std::vector<std::string>>(&of.literals)) {
    for (const std::string& text : *texts) {
      if (visit(text, position++)) return;
    }
  } else {
    for (const std::int64_t number : std::get<std::vector<std::int64_t>>(of.literals)) {
      if (visit(std::to_string(number), position++)) return;
    }
  }
}

}  // namespace

void MemberPositions::add(const TypeTable& types, TypeId type) {
  if (count_members(types, type) < many_members || positions_.contains(type)) return;
  auto& positions = positions_[type];
  for_each_member(types, type, [&](const std::string& name, std::uint32_t position) {
    positions.emplace(name, position);
    return false;
  });
}

void MemberPositions::add_all(const TypeTable& types) {
  for (std::uint32_t at = 0; at < types.size(); ++at) add(types, TypeId{at});
}

std::optional<std::uint32_t> MemberPositions::find(const TypeTable& types, TypeId type, std::string_view name) const {
  std::optional<std::uint32_t> result;
  if (const auto known = positions_.find(type); known != positions_.end()) {
    if (const auto found = known->second.find(std::string(name)); found != known->second.end()) result = found->second;
    return result;
  }
  for_each_member(types, type, [&](const std::string& other, std::uint32_t position) {
    if (other == name) result = position;
    return result.has_value();
  });
  return result;
}

}  // namespace tenon::types
