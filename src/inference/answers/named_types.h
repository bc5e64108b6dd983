#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "types/table/type_parts.h"
#include "types/table/type_table.h"

namespace tenon::inference::answers {

/// The parts of a type that are written once under a name; all others are written in place. Named are structs, enums
/// and tuples that occur more than once, such as recursive ones, and parts that are nested too deeply. So a schema's
/// size is linear in the size of its types, and its depth is bounded.
class NamedTypes {
 public:
  /// How deep types are written into each other before one gets a name.
  static constexpr std::uint32_t inline_depth_max = 12;

  NamedTypes(const types::TypeTable& types, std::span<const types::TypeId> roots);

  /// `[A-Za-z0-9_]+`, unique among these types; or null.
  [[nodiscard]] const std::string* find_name(types::TypeId type) const;
  /// In the order of first use.
  [[nodiscard]] const std::vector<types::TypeId>& order() const { return order_; }

 private:
  void add_name(const types::TypeTable& types, types::TypeId type);

  std::unordered_map<types::TypeId, std::string> names_;
  std::vector<types::TypeId> order_;
};

}  // namespace tenon::inference::answers
