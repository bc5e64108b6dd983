#include "types/type_parts.h"

#include <unordered_set>

namespace tenon::types {

std::vector<TypeId> list_parts(const TypeTable& types, TypeId type) {
  std::vector<TypeId> parts;
  switch (types.kind(type)) {
    case TypeKind::List:
    case TypeKind::Map:
    case TypeKind::Option:
    case TypeKind::Result:
    case TypeKind::Tuple:
    case TypeKind::Refined:
    case TypeKind::Secret:
      return types.get(type).arguments;
    case TypeKind::Struct:
      for (const Field& field : types.struct_type(type).fields) parts.push_back(field.type);
      return parts;
    case TypeKind::Enum:
      for (const Variant& variant : types.enum_type(type).variants) {
        parts.insert(parts.end(), variant.payload.begin(), variant.payload.end());
      }
      return parts;
    case TypeKind::Error:
    case TypeKind::Never:
    case TypeKind::Unit:
    case TypeKind::Boolean:
    case TypeKind::I32:
    case TypeKind::I64:
    case TypeKind::F64:
    case TypeKind::String:
    case TypeKind::Text:
    case TypeKind::Union:
    case TypeKind::Context:
    case TypeKind::Range:
    case TypeKind::Parameter:
    case TypeKind::Closure:
    case TypeKind::Tools:
      return parts;
  }
  return parts;
}

TypeId find_unanswerable(const TypeTable& types, TypeId type, Answerer answerer) {
  std::unordered_set<TypeId> seen;
  std::vector<TypeId> pending{type};
  while (!pending.empty()) {
    const TypeId next = pending.back();
    pending.pop_back();
    if (!seen.insert(next).second) continue;
    switch (types.kind(next)) {
      case TypeKind::Error:
      case TypeKind::Never:
      case TypeKind::Result:
      case TypeKind::Context:
      case TypeKind::Range:
      case TypeKind::Parameter:
      case TypeKind::Closure:
      case TypeKind::Tools:
        return next;
      case TypeKind::Enum:
        if (types.enum_type(next).variants.empty()) return next;
        break;
      case TypeKind::Secret:
        if (answerer == Answerer::Model) return next;
        break;
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
      case TypeKind::Tuple:
      case TypeKind::Struct:
      case TypeKind::Union:
      case TypeKind::Refined:
        break;
    }
    const std::vector<TypeId> parts = list_parts(types, next);
    pending.insert(pending.end(), parts.begin(), parts.end());
  }
  return {};
}

bool is_answered_under_key(const TypeTable& types, TypeId type) {
  const TypeKind kind = types.kind(types.base(type));
  return kind != TypeKind::String && kind != TypeKind::Text && kind != TypeKind::Struct && kind != TypeKind::Map;
}

bool holds_secret(const TypeTable& types, TypeId type) {
  std::unordered_set<TypeId> seen;
  std::vector<TypeId> pending{type};
  while (!pending.empty()) {
    const TypeId next = pending.back();
    pending.pop_back();
    if (!seen.insert(next).second) continue;
    if (types.kind(next) == TypeKind::Secret) return true;
    const std::vector<TypeId> parts = list_parts(types, next);
    pending.insert(pending.end(), parts.begin(), parts.end());
  }
  return false;
}

bool has_secrets(const TypeTable& types) {
  for (std::uint32_t at = 0; at < types.size(); ++at) {
    if (types.kind(TypeId{at}) == TypeKind::Secret) return true;
  }
  return false;
}

}  // namespace tenon::types
