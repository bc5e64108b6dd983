#include "types/declarations/recursive_types.h"

#include <algorithm>
#include <optional>

#include "types/table/type_parts.h"

namespace tenon::types {
namespace {

/// The alternatives for making a value, each with the types that it needs: a struct and a tuple have one, an enum one
/// for each case. Nothing for the types of which there is a value in any case.
std::optional<std::vector<std::vector<TypeId>>> list_alternatives(const TypeTable& types, TypeId type) {
  const TypeKind kind = types.kind(type);
  if (kind == TypeKind::Refined || kind == TypeKind::Tuple || kind == TypeKind::Struct) {
    return std::vector<std::vector<TypeId>>{list_parts(types, type)};
  }
  // An enum without cases has no value, but no cycle either.
  if (kind != TypeKind::Enum || types.enum_type(type).variants.empty()) return std::nullopt;
  std::vector<std::vector<TypeId>> alternatives;
  for (const Variant& variant : types.enum_type(type).variants) alternatives.push_back(variant.payload);
  return alternatives;
}

/// Marks what can be made, from the simple types upwards: each alternative counts the parts that are still open, and is
/// looked at again only when one of them has been closed. Linear in the size of all declarations.
class FiniteTypes {
 public:
  explicit FiniteTypes(const TypeTable& types) : can_be_made_(types.size(), false) {
    std::vector<std::vector<std::size_t>> alternatives_with(types.size());  // by part
    std::vector<Alternative> alternatives;
    std::vector<TypeId> pending;
    const auto close = [&](TypeId type) {
      if (can_be_made_[type.index]) return;
      can_be_made_[type.index] = true;
      pending.push_back(type);
    };
    for (std::uint32_t at = 0; at < types.size(); ++at) {
      const auto own = list_alternatives(types, TypeId{at});
      if (!own) {
        close(TypeId{at});
        continue;
      }
      for (const std::vector<TypeId>& parts : *own) {
        for (const TypeId part : parts) alternatives_with[part.index].push_back(alternatives.size());
        alternatives.push_back({TypeId{at}, parts.size()});
        if (parts.empty()) close(TypeId{at});
      }
    }
    while (!pending.empty()) {
      const TypeId part = pending.back();
      pending.pop_back();
      for (const std::size_t at : alternatives_with[part.index]) {
        if (--alternatives[at].open_parts == 0) close(alternatives[at].type);
      }
    }
  }

  [[nodiscard]] bool operator()(TypeId type) const { return can_be_made_[type.index]; }

 private:
  struct Alternative {
    TypeId type;
    std::size_t open_parts;
  };
  std::vector<bool> can_be_made_;
};

}  // namespace

std::vector<std::vector<TypeId>> find_recursive_types(const TypeTable& types) {
  const FiniteTypes is_finite(types);
  // Each infinite type holds another one, and following the first of them always comes to a cycle.
  const auto first_unfinished_part = [&](TypeId type) {
    const auto alternatives = list_alternatives(types, type);
    for (const std::vector<TypeId>& parts : *alternatives) {
      for (const TypeId part : parts) {
        if (!is_finite(part)) return part;
      }
    }
    return type;
  };
  constexpr std::uint32_t unseen = 0;
  std::vector<std::uint32_t> seen_in_walk(types.size(), unseen);
  std::vector<std::vector<TypeId>> cycles;
  for (std::uint32_t start = 0; start < types.size(); ++start) {
    const std::uint32_t walk = start + 1;
    std::vector<TypeId> path;
    TypeId at{start};
    while (!is_finite(at) && seen_in_walk[at.index] == unseen) {
      seen_in_walk[at.index] = walk;
      path.push_back(at);
      at = first_unfinished_part(at);
    }
    if (path.empty() || seen_in_walk[at.index] != walk) continue;
    std::vector<TypeId> cycle(std::find(path.begin(), path.end(), at), path.end());
    std::erase_if(
        cycle, [&](TypeId type) { return types.kind(type) != TypeKind::Struct && types.kind(type) != TypeKind::Enum; });
    if (!cycle.empty()) cycles.push_back(std::move(cycle));
  }
  return cycles;
}

}  // namespace tenon::types
