#include "tools/type_descriptions.h"

#include <utility>
#include <variant>

namespace tenon::tools {

using types::TypeId;
using types::TypeKind;

namespace {

Json bound(const types::Bound& bound) {
  if (const auto* const integer = std::get_if<std::int64_t>(&bound)) return Json(*integer);
  if (const auto* const number = std::get_if<double>(&bound)) return Json(*number);
  return {};
}

}  // namespace

std::size_t TypeDescriptions::index_of(TypeId type) {
  const auto [found, is_new] = indices_.try_emplace(type, list_.size());
  const std::size_t index = found->second;
  if (is_new) {
    list_.emplace_back();  // before its parts, which may contain it
    Json described = describe(type);
    list_[index] = std::move(described);
  }
  return index;
}

Json TypeDescriptions::with_kind(std::string_view kind, TypeId type) const {
  return Json::object({{"kind", std::string(kind)}, {"text", types_.describe(type)}});
}

Json TypeDescriptions::list_of(const std::vector<TypeId>& parts) {
  Json indices = Json::array();
  for (const TypeId part : parts) indices.push_back(index_of(part));
  return indices;
}

Json TypeDescriptions::describe(TypeId type) {
  const types::Type& described = types_.get(type);
  const auto with_item = [&](std::string_view kind) {
    return with_kind(kind, type).set("item", index_of(described.arguments[0]));
  };
  switch (described.kind) {
    case TypeKind::Unit:
      return with_kind("unit", type);
    case TypeKind::Boolean:
      return with_kind("boolean", type);
    case TypeKind::I32:
      return with_kind("i32", type);
    case TypeKind::I64:
      return with_kind("i64", type);
    case TypeKind::F64:
      return with_kind("f64", type);
    case TypeKind::String:
      return with_kind("string", type);
    case TypeKind::Text:
      return with_kind("text", type).set("name", described.name);
    case TypeKind::Context:
      return with_kind("context", type);
    case TypeKind::List:
      return with_item("list");
    case TypeKind::Map:
      return with_item("map");
    case TypeKind::Option:
      return with_item("option");
    case TypeKind::Result:
      return with_item("result");
    case TypeKind::Secret:
      return with_item("secret");
    case TypeKind::Tuple:
      return with_kind("tuple", type).set("items", list_of(described.arguments));
    case TypeKind::Struct:
      return describe_struct(type);
    case TypeKind::Enum:
      return describe_enum(type);
    case TypeKind::Union:
      return describe_union(type);
    case TypeKind::Refined:
      return describe_refined(type, described.arguments[0]);
    case TypeKind::Error:
    case TypeKind::Never:
    case TypeKind::Range:
    case TypeKind::Parameter:
    case TypeKind::Closure:
    case TypeKind::Tools:
      break;
  }
  return with_kind("internal", type);  // no value of it crosses the border
}

Json TypeDescriptions::describe_struct(TypeId type) {
  const types::StructType& described = types_.struct_type(type);
  Json fields = Json::array();
  for (const types::Field& field : described.fields) {
    fields.push_back(
        Json::object({{"name", field.name}, {"type", index_of(field.type)}, {"documentation", field.documentation}}));
  }
  return with_kind("struct", type)
      .set("name", described.name)
      .set("documentation", described.documentation)
      .set("fields", std::move(fields));
}

Json TypeDescriptions::describe_enum(TypeId type) {
  const types::EnumType& described = types_.enum_type(type);
  Json cases = Json::array();
  for (const types::Variant& variant : described.variants) {
    cases.push_back(Json::object(
        {{"name", variant.name}, {"documentation", variant.documentation}, {"payload", list_of(variant.payload)}}));
  }
  return with_kind("enum", type)
      .set("name", described.name)
      .set("documentation", described.documentation)
      .set("cases", std::move(cases));
}

Json TypeDescriptions::describe_union(TypeId type) const {
  const types::UnionType& described = types_.union_type(type);
  return with_kind("union", type)
      .set("name", described.name)
      .set("literals", std::visit([](const auto& literals) { return Json::array_of(literals); }, described.literals));
}

Json TypeDescriptions::describe_refined(TypeId type, TypeId base) {
  const types::Refinement& described = types_.refinement(type);
  Json json = with_kind("refined", type).set("name", described.name).set("base", index_of(base));
  if (const Json low = bound(described.low); !low.is_null()) json.set("minimum", low);
  if (const Json high = bound(described.high); !high.is_null()) {
    json.set(described.high_is_exclusive ? "exclusive_maximum" : "maximum", high);
  }
  if (described.length_low) json.set("length_minimum", *described.length_low);
  if (described.length_high) json.set("length_maximum", *described.length_high);
  if (described.pattern) json.set("pattern", *described.pattern);
  return json;
}

Json describe_callable(const types::TypeTable& table, TypeDescriptions& types, const std::string& name,
                       const std::string& documentation, const std::vector<std::string>& names,
                       const std::vector<TypeId>& parameters, TypeId result) {
  Json list = Json::array();
  for (std::size_t at = 0; at < parameters.size(); ++at) {
    if (table.base(parameters[at]) == types::TypeTable::context) continue;
    list.push_back(Json::object({{"name", names[at]}, {"type", types.index_of(parameters[at])}}));
  }
  return Json::object({{"name", name},
                       {"documentation", documentation},
                       {"parameters", std::move(list)},
                       {"result", types.index_of(result)}});
}

}  // namespace tenon::tools
