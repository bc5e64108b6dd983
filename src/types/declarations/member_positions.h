#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "types/table/type_table.h"

namespace tenon::types {

/// Finds the members of types by their names, in constant time for the types that were added: cases of enums, literals
/// of unions and fields of structs.
class MemberPositions {
 public:
  /// Adds the type, if it has many members. It has all of them.
  void add(const TypeTable& types, TypeId type);
  /// Adds all types of the table.
  void add_all(const TypeTable& types);

  /// The position of the member of that name. The name of a literal is its text, or its number as it is written.
  [[nodiscard]] std::optional<std::uint32_t> find(const TypeTable& types, TypeId type, std::string_view name) const;

 private:
  std::unordered_map<TypeId, std::unordered_map<std::string, std::uint32_t>>
      positions_;  ///< of those with many members
};

}  // namespace tenon::types
