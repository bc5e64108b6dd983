#pragma once

#include <cstdint>
#include <unordered_map>

#include "types/table/type_table.h"

namespace tenon::types {

/// Structs and enums of one table and the same ones of another.
using SameTypes = std::unordered_map<TypeId, TypeId>;

/// Finds the types of one table in another one, and adds those that it lacks. Structs and enums are only found by
/// `same`: otherwise they are added.
class TypeImport {
 public:
  /// Types with handles below `equal` are the same in both tables.
  TypeImport(const TypeTable& from, TypeTable& to, std::uint32_t equal, const SameTypes* same = nullptr)
      : from_(from), to_(to), equal_(equal), same_(same) {}

  /// An absent type stays absent.
  [[nodiscard]] TypeId operator()(TypeId type);

 private:
  [[nodiscard]] TypeId import(TypeId type);

  const TypeTable& from_;
  TypeTable& to_;
  std::uint32_t equal_;
  const SameTypes* same_;
  SameTypes known_;
};

}  // namespace tenon::types
