#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "types/type_table.h"

namespace tenon::types {

/// Finds the cases of enums and the literals of unions by their names, in constant time. The enums have all their cases
/// when one is first looked for.
class CasePositions {
 public:
  explicit CasePositions(const TypeTable& types) : types_(types) {}

  /// The position of the case of that name, or of the literal of the union: a text, or a number as it is written.
  [[nodiscard]] std::optional<std::uint32_t> find(TypeId type, std::string_view name);

 private:
  const TypeTable& types_;
  std::unordered_map<TypeId, std::unordered_map<std::string, std::uint32_t>> positions_;
};

}  // namespace tenon::types
