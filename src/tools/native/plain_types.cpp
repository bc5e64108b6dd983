#include "tools/native/plain_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "types/table/type_parts.h"

namespace tenon::tools {
namespace {

using types::TypeId;
using types::TypeKind;
using types::TypeTable;

std::string_view c_name(PlainType type) {
  switch (type) {
    case PlainType::Void:
      return "void";
    case PlainType::Bool:
      return "bool";
    case PlainType::Int32:
      return "int32_t";
    case PlainType::Int64:
      return "int64_t";
    case PlainType::Double:
      return "double";
    case PlainType::String:
      return "const char*";
  }
  return "";
}

constexpr std::string_view c_keywords[] = {
    "auto",   "bool",   "break",    "case",     "char",     "const", "continue", "default", "do",
    "double", "else",   "enum",     "extern",   "float",    "for",   "goto",     "if",      "inline",
    "int",    "long",   "register", "restrict", "return",   "short", "signed",   "sizeof",  "static",
    "struct", "switch", "typedef",  "union",    "unsigned", "void",  "volatile", "while"};

/// A parameter's name as C takes it.
std::string parameter_name(const bytecode::Extern& declared, std::size_t index) {
  const std::string name = index < declared.parameter_names.size() ? declared.parameter_names[index] : std::string();
  const bool is_ascii = std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (name.empty() || !is_ascii) return fmt::format("argument{}", index + 1);
  return std::ranges::find(c_keywords, name) == std::end(c_keywords) ? name : name + "_";
}

std::string declarator(PlainType type, const std::string& name) {
  return fmt::format("{} {}", c_name(type), name);
}

}  // namespace

std::optional<PlainType> find_plain_parameter(const TypeTable& types, TypeId type) {
  const TypeId base = types.opened(type);
  switch (types.kind(base)) {
    case TypeKind::Boolean:
      return PlainType::Bool;
    case TypeKind::I32:
      return PlainType::Int32;
    case TypeKind::I64:
      return PlainType::Int64;
    case TypeKind::F64:
      return PlainType::Double;
    case TypeKind::String:
    case TypeKind::Text:
      return PlainType::String;
    case TypeKind::Union:
      return types::is_text(types, base) ? PlainType::String : PlainType::Int64;
    default:
      return std::nullopt;
  }
}

std::optional<PlainType> find_plain_result(const TypeTable& types, TypeId type) {
  return types.kind(type) == TypeKind::Unit ? PlainType::Void : find_plain_parameter(types, type);
}

std::string describe_prototype(const TypeTable& types, const bytecode::Extern& declared) {
  std::string parameters;
  for (std::size_t index = 0; index < declared.parameters.size(); ++index) {
    if (!parameters.empty()) parameters += ", ";
    const auto type = find_plain_parameter(types, declared.parameters[index]);
    parameters += declarator(type.value_or(PlainType::Void), parameter_name(declared, index));
  }
  const auto result = find_plain_result(types, declared.result);
  return fmt::format("{}({});", declarator(result.value_or(PlainType::Void), declared.name),
                     parameters.empty() ? "void" : parameters);
}

std::string describe_signature(const TypeTable& types, const bytecode::Extern& declared) {
  std::string parameters;
  for (std::size_t index = 0; index < declared.parameters.size(); ++index) {
    if (!parameters.empty()) parameters += ", ";
    if (index < declared.parameter_names.size()) parameters += declared.parameter_names[index] + ": ";
    parameters += types.describe(declared.parameters[index]);
  }
  return fmt::format("({}) -> {}", parameters, types.describe(declared.result));
}

}  // namespace tenon::tools
