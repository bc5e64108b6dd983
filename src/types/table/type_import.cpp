#include "types/table/type_import.h"

#include <utility>

namespace tenon::types {

TypeId TypeImport::operator()(TypeId type) {
  if (!type.exists() || type.index < equal_) return type;
  if (const auto known = known_.find(type); known != known_.end()) return known->second;
  const TypeId imported = import(type);
  known_.emplace(type, imported);
  return imported;
}

TypeId TypeImport::import(TypeId type) {
  if (same_ != nullptr) {
    if (const auto found = same_->find(type); found != same_->end()) return found->second;
  }
  if (type == from_.find_context_entry()) return to_.context_entry();
  if (type == from_.find_tool_result()) return to_.tool_result();
  const TypeKind kind = from_.kind(type);
  if (kind == TypeKind::Struct) {
    StructType copy = from_.struct_type(type);
    for (Field& field : copy.fields) field.type = (*this)(field.type);
    return to_.add_struct(std::move(copy));
  }
  if (kind == TypeKind::Enum) {
    EnumType copy = from_.enum_type(type);
    for (Variant& variant : copy.variants) {
      for (TypeId& part : variant.payload) part = (*this)(part);
    }
    return to_.add_enum(std::move(copy));
  }
  if (kind == TypeKind::Union) return to_.make_union(from_.union_type(type));
  if (kind == TypeKind::Refined) return to_.refined((*this)(from_.get(type).arguments[0]), from_.refinement(type));
  Type copy = from_.get(type);
  for (TypeId& argument : copy.arguments) argument = (*this)(argument);
  return to_.intern(std::move(copy));
}

}  // namespace tenon::types
