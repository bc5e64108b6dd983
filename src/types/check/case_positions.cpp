#include "types/check/case_positions.h"

namespace tenon::types {

std::optional<std::uint32_t> CasePositions::find(TypeId type, std::string_view name) {
  auto& positions = positions_[type];
  if (positions.empty()) {
    std::uint32_t position = 0;
    if (types_.kind(type) == TypeKind::Enum) {
      for (const Variant& variant : types_.enum_type(type).variants) positions.emplace(variant.name, position++);
    } else {
      const UnionType& of = types_.union_type(type);
      if (const auto* texts = std::get_if<std::vector<std::string>>(&of.literals)) {
        for (const std::string& text : *texts) positions.emplace(text, position++);
      } else {
        for (const std::int64_t number : std::get<std::vector<std::int64_t>>(of.literals)) {
          positions.emplace(std::to_string(number), position++);
        }
      }
    }
  }
  const auto found = positions.find(std::string(name));
  return found == positions.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tenon::types
