#include "types/declarations/recursive_types.h"

#include <algorithm>
#include <optional>

namespace tenon::types {
namespace {

/// Ways to make a value, each with the types that it needs: a struct and a tuple have one, an enum one for each case.
/// Nothing for the types of which there is a value in any case.
std::optional<std::vector<std::vector<TypeId>>> ways_to_make(const TypeTable& types, TypeId type) {
  std::vector<std::vector<TypeId>> ways;
  switch (types.kind(type)) {
    case TypeKind::Refined:
    case TypeKind::Tuple:
      ways.push_back(types.get(type).arguments);
      return ways;
    case TypeKind::Struct:
      ways.emplace_back();
      for (const Field& field : types.struct_type(type).fields) ways.back().push_back(field.type);
      return ways;
    case TypeKind::Enum:
      for (const Variant& variant : types.enum_type(type).variants) ways.push_back(variant.payload);
      if (ways.empty()) return std::nullopt;  // without cases there is no value, but no cycle either
      return ways;
    case TypeKind::Error:
    case TypeKind::Never:
    case TypeKind::Unit:
    case TypeKind::Boolean:
    case TypeKind::I32:
    case TypeKind::I64:
    case TypeKind::F64:
    case TypeKind::String:
    case TypeKind::Text:
    case TypeKind::List:
    case TypeKind::Map:
    case TypeKind::Option:
    case TypeKind::Result:
    case TypeKind::Union:
    case TypeKind::Context:
    case TypeKind::Range:
    case TypeKind::Parameter:
    case TypeKind::Closure:
    case TypeKind::Tools:
    case TypeKind::Secret:
      return std::nullopt;
  }
  return std::nullopt;
}

/// Marks what can be made, from the simple types upwards: each way counts the parts that are still open, and is looked
/// at again only when one of them has been closed. Linear in the size of all declarations.
class FiniteTypes {
 public:
  explicit FiniteTypes(const TypeTable& types) : can_be_made_(types.size(), false) {
    std::vector<std::vector<std::size_t>> ways_with(types.size());  // by part
    std::vector<Way> ways;
    std::vector<TypeId> pending;
    const auto close = [&](TypeId type) {
      if (can_be_made_[type.index]) return;
      can_be_made_[type.index] = true;
      pending.push_back(type);
    };
    for (std::uint32_t at = 0; at < types.size(); ++at) {
      const auto own = ways_to_make(types, TypeId{at});
      if (!own) {
        close(TypeId{at});
        continue;
      }
      for (const std::vector<TypeId>& parts : *own) {
        for (const TypeId part : parts) ways_with[part.index].push_back(ways.size());
        ways.push_back({TypeId{at}, parts.size()});
        if (parts.empty()) close(TypeId{at});
      }
    }
    while (!pending.empty()) {
      const TypeId part = pending.back();
      pending.pop_back();
      for (const std::size_t way : ways_with[part.index]) {
        if (--ways[way].open_parts == 0) close(ways[way].type);
      }
    }
  }

  [[nodiscard]] bool operator()(TypeId type) const { return can_be_made_[type.index]; }

 private:
  struct Way {
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
    const auto ways = ways_to_make(types, type);
    for (const std::vector<TypeId>& parts : *ways) {
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
