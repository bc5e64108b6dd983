#include "types/table/type_parts.h"

#include <string>
#include <variant>

namespace tenon::types {

std::vector<TypeId> list_parts(const TypeTable& types, TypeId type) {
  std::vector<TypeId> parts;
  for_each_part(types, type, TypeParts::OfValues, [&](TypeId part) { parts.push_back(part); });
  return parts;
}

bool is_text(const TypeTable& types, TypeId type) {
  const TypeId base = types.base(type);
  switch (types.kind(base)) {
    case TypeKind::String:
    case TypeKind::Text:
      return true;
    case TypeKind::Union:
      return std::holds_alternative<std::vector<std::string>>(types.union_type(base).literals);
    default:
      return false;
  }
}

bool is_integer(const TypeTable& types, TypeId type) {
  const TypeId base = types.base(type);
  const TypeKind kind = types.kind(base);
  return kind == TypeKind::I32 || kind == TypeKind::I64 ||
         (kind == TypeKind::Union &&
          std::holds_alternative<std::vector<std::int64_t>>(types.union_type(base).literals));
}

bool is_number(const TypeTable& types, TypeId type) {
  return is_integer(types, type) || types.kind(types.base(type)) == TypeKind::F64;
}

TypeKind operand_kind(const TypeTable& types, TypeId type) {
  if (is_text(types, type)) return TypeKind::String;
  const TypeKind kind = types.kind(types.base(type));
  return kind == TypeKind::Union ? TypeKind::I64 : kind;
}

bool can_leave_run(TypeKind kind) {
  switch (kind) {
    case TypeKind::Error:
    case TypeKind::Never:
    case TypeKind::Context:
    case TypeKind::Range:
    case TypeKind::Parameter:
    case TypeKind::Closure:
    case TypeKind::Tools:
      return false;
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
    case TypeKind::Tuple:
    case TypeKind::Struct:
    case TypeKind::Enum:
    case TypeKind::Union:
    case TypeKind::Refined:
    case TypeKind::Secret:
      return true;
  }
  return false;
}

bool is_unanswerable(const TypeTable& types, TypeId type, Answerer answerer) {
  const TypeKind kind = types.kind(type);
  if (kind == TypeKind::Enum) return types.enum_type(type).variants.empty();
  if (kind == TypeKind::Secret) return answerer == Answerer::Model;
  return kind == TypeKind::Result || !can_leave_run(kind);
}

TypeId find_unanswerable(const TypeTable& types, TypeId type, Answerer answerer) {
  return find_within(types, type, TypeParts::OfValues,
                     [&](TypeId part) { return is_unanswerable(types, part, answerer); });
}

bool is_answered_under_key(const TypeTable& types, TypeId type) {
  const TypeKind kind = types.kind(types.base(type));
  return kind != TypeKind::String && kind != TypeKind::Text && kind != TypeKind::Struct && kind != TypeKind::Map;
}

bool holds_secret(const TypeTable& types, TypeId type) {
  return find_within(types, type, TypeParts::OfValues,
                     [&](TypeId part) { return types.kind(part) == TypeKind::Secret; })
      .exists();
}

bool has_secrets(const TypeTable& types) {
  for (std::uint32_t at = 0; at < types.size(); ++at) {
    if (types.kind(TypeId{at}) == TypeKind::Secret) return true;
  }
  return false;
}

}  // namespace tenon::types
