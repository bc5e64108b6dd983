#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "json/json.h"
#include "types/table/type_table.h"

namespace tenon::tools {

/// Describes types as they are requested, and the types that they consist of, in the form of docs/guides/library.md: a
/// list, whose indices refer to its items.
class TypeDescriptions {
 public:
  /// The table outlives this.
  explicit TypeDescriptions(const types::TypeTable& types) : types_(types) {}

  [[nodiscard]] std::size_t index_of(types::TypeId type);
  [[nodiscard]] Json take() { return Json(std::move(list_)); }

 private:
  [[nodiscard]] Json with_kind(std::string_view kind, types::TypeId type) const;
  [[nodiscard]] Json list_of(const std::vector<types::TypeId>& parts);
  [[nodiscard]] Json describe(types::TypeId type);
  [[nodiscard]] Json describe_struct(types::TypeId type);
  [[nodiscard]] Json describe_enum(types::TypeId type);
  [[nodiscard]] Json describe_union(types::TypeId type) const;
  [[nodiscard]] Json describe_refined(types::TypeId type, types::TypeId base);

  const types::TypeTable& types_;
  std::unordered_map<types::TypeId, std::size_t> indices_;
  Json::Array list_;
};

/// A function or an extern: an object with `name`, `documentation`, `parameters` without those of type Context, each
/// with `name` and `type`, and `result`.
[[nodiscard]] Json describe_callable(const types::TypeTable& table, TypeDescriptions& types, const std::string& name,
                                     const std::string& documentation, const std::vector<std::string>& names,
                                     const std::vector<types::TypeId>& parameters, types::TypeId result);

}  // namespace tenon::tools
