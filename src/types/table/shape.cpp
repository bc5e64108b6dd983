#include "types/table/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "types/table/refinements.h"
#include "types/table/type_parts.h"

namespace tenon::types {
namespace {

const Field* find_field(const StructType& type, const std::string& name) {
  const auto found =
      std::find_if(type.fields.begin(), type.fields.end(), [&](const Field& field) { return field.name == name; });
  return found == type.fields.end() ? nullptr : &*found;
}

class Comparison {
 public:
  Comparison(const TypeTable& from, const TypeTable& to) : from_(from), to_(to) {}

  bool reads(TypeId from, TypeId to) {
    // Types that contain themselves: a pair that is being looked at agrees unless a difference turns up elsewhere.
    if (!seen_.emplace(from, to).second) return true;
    if (to_.kind(to) == TypeKind::Refined) {
      return from_.kind(from) == TypeKind::Refined && is_same_promise(from_.refinement(from), to_.refinement(to)) &&
             reads(from_.get(from).arguments[0], to_.get(to).arguments[0]);
    }
    if (from_.kind(from) == TypeKind::Refined) return reads(from_.get(from).arguments[0], to);
    if (to_.kind(to) == TypeKind::String) return is_text(from_, from);
    const TypeKind kind = from_.kind(from);
    if (kind != to_.kind(to)) return false;
    switch (kind) {
      case TypeKind::Unit:
      case TypeKind::Boolean:
      case TypeKind::I32:
      case TypeKind::I64:
      case TypeKind::F64:
      case TypeKind::String:
        return true;
      case TypeKind::Text:
        return from_.get(from).name == to_.get(to).name;
      case TypeKind::List:
      case TypeKind::Map:
      case TypeKind::Option:
      case TypeKind::Result:
      case TypeKind::Secret:
      case TypeKind::Tuple:
        return read_all(from_.get(from).arguments, to_.get(to).arguments);
      case TypeKind::Struct:
        return read_fields(from_.struct_type(from), to_.struct_type(to));
      case TypeKind::Enum:
        return read_cases(from_.enum_type(from), to_.enum_type(to));
      case TypeKind::Union:
        return is_subset(from_.union_type(from), to_.union_type(to));
      case TypeKind::Error:
      case TypeKind::Never:
      case TypeKind::Refined:
      case TypeKind::Context:
      case TypeKind::Range:
      case TypeKind::Parameter:
      case TypeKind::Closure:
      case TypeKind::Tools:
        return false;
    }
    return false;
  }

 private:
  static bool is_same_promise(Refinement from, Refinement to) {
    from.name.clear();
    to.name.clear();
    return from == to;
  }

  bool read_all(const std::vector<TypeId>& from, const std::vector<TypeId>& to) {
    if (from.size() != to.size()) return false;
    for (std::size_t at = 0; at < from.size(); ++at) {
      if (!reads(from[at], to[at])) return false;
    }
    return true;
  }

  bool read_fields(const StructType& from, const StructType& to) {
    if (from.fields.size() != to.fields.size()) return false;
    return std::all_of(from.fields.begin(), from.fields.end(), [&](const Field& field) {
      const Field* const same = find_field(to, field.name);
      return same != nullptr && reads(field.type, same->type);
    });
  }

  bool read_cases(const EnumType& from, const EnumType& to) {
    return std::all_of(from.variants.begin(), from.variants.end(), [&](const Variant& variant) {
      const auto same = std::find_if(to.variants.begin(), to.variants.end(),
                                     [&](const Variant& other) { return other.name == variant.name; });
      return same != to.variants.end() && read_all(variant.payload, same->payload);
    });
  }

  const TypeTable& from_;
  const TypeTable& to_;
  std::set<std::pair<TypeId, TypeId>> seen_;
};

}  // namespace

bool reads_as(const TypeTable& from_types, TypeId from, const TypeTable& to_types, TypeId to) {
  return Comparison(from_types, to_types).reads(from, to);
}

std::vector<std::string> list_shape_differences(const TypeTable& from_types, TypeId from, const TypeTable& to_types,
                                                TypeId to) {
  std::vector<std::string> differences;
  const StructType& before = from_types.struct_type(from);
  const StructType& after = to_types.struct_type(to);
  for (const Field& field : before.fields) {
    const Field* const same = find_field(after, field.name);
    if (same == nullptr) {
      differences.push_back(fmt::format("`{}` was removed", field.name));
      continue;
    }
    if (reads_as(from_types, field.type, to_types, same->type)) continue;
    const std::string was = from_types.describe(field.type);
    const std::string is = to_types.describe(same->type);
    differences.push_back(was == is ? fmt::format("the declaration of `{}`'s type `{}` changed", field.name, is)
                                    : fmt::format("`{}` was `{}` and is now `{}`", field.name, was, is));
  }
  for (const Field& field : after.fields) {
    if (find_field(before, field.name) == nullptr) differences.push_back(fmt::format("`{}` was added", field.name));
  }
  return differences;
}

std::string declare_struct(const TypeTable& types, TypeId type, const std::string& name) {
  std::string fields;
  for (const Field& field : types.struct_type(type).fields) {
    fields += fmt::format("{}{}: {}", fields.empty() ? "" : ", ", field.name, types.describe(field.type));
  }
  return fmt::format("struct {} {{ {} }}", name, fields);
}

}  // namespace tenon::types
