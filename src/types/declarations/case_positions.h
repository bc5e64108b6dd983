#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "types/table/type_table.h"

namespace tenon::types {

/// Finds the cases of enums and the literals of unions by their names, in constant time for the types that were added.
class CasePositions {
 public:
  /// Adds the type, if it is an enum or a union with many cases. The enum has all its cases.
  void add(const TypeTable& types, TypeId type);
  /// Adds all types of the table.
  void add_all(const TypeTable& types);

  /// The position of the case of that name, or of the literal of the union: a text, or a number as it is written.
  [[nodiscard]] std::optional<std::uint32_t> find(const TypeTable& types, TypeId type, std::string_view name) const;

 private:
  std::unordered_map<TypeId, std::unordered_map<std::string, std::uint32_t>> positions_;  ///< of those with many cases
};

}  // namespace tenon::types
