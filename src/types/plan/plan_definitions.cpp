#include "types/plan/plan_definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "types/standard_library.h"
#include "types/table/type_parts.h"

namespace tenon::types {

using syntax::NodeId;

namespace {

/// Each line of a doc comment with `///` before it.
std::string documented(const std::string& documentation, std::string_view indent) {
  std::string text;
  std::size_t from = 0;
  while (from < documentation.size()) {
    const std::size_t end = std::min(documentation.find('\n', from), documentation.size());
    text += fmt::format("{}/// {}\n", indent, std::string_view(documentation).substr(from, end - from));
    from = end + 1;
  }
  return text;
}

std::string definition_of(const TypeTable& types, const StructType& type) {
  std::string text = fmt::format("{}struct {} {{\n", documented(type.documentation, ""), type.name);
  for (const Field& field : type.fields) {
    text +=
        fmt::format("{}    {}: {}\n", documented(field.documentation, "    "), field.name, types.describe(field.type));
  }
  return text + "}";
}

std::string definition_of(const TypeTable& types, const EnumType& type) {
  std::string text = fmt::format("{}enum {} {{\n", documented(type.documentation, ""), type.name);
  for (const Variant& variant : type.variants) {
    std::string payload;
    for (const TypeId part : variant.payload) payload += (payload.empty() ? "(" : ", ") + types.describe(part);
    text += fmt::format("{}    {}{}{}\n", documented(variant.documentation, "    "), variant.name, payload,
                        payload.empty() ? "" : ")");
  }
  return text + "}";
}

/// Empty for a type without a definition of its own.
std::string definition_of(const TypeTable& types, TypeId type) {
  switch (types.kind(type)) {
    case TypeKind::Struct:
      return definition_of(types, types.struct_type(type));
    case TypeKind::Enum:
      return definition_of(types, types.enum_type(type));
    case TypeKind::Union: {
      UnionType literals = types.union_type(type);
      if (literals.name.empty()) return "";
      const std::string name = std::exchange(literals.name, "");
      const std::string words = documented(std::exchange(literals.documentation, ""), "");
      TypeTable copy = types;
      return fmt::format("{}type {} = {}", words, name, copy.describe(copy.make_union(std::move(literals))));
    }
    case TypeKind::Refined: {
      Refinement refinement = types.refinement(type);
      if (refinement.name.empty()) return "";
      const std::string name = std::exchange(refinement.name, "");
      const std::string words = documented(std::exchange(refinement.documentation, ""), "");
      TypeTable copy = types;
      return fmt::format("{}type {} = {}", words, name,
                         copy.describe(copy.refined(types.get(type).arguments[0], std::move(refinement))));
    }
    default:
      return "";
  }
}

bool is_standard(const Module& module) {
  constexpr std::string_view start = "std/", end = ".tn";
  const std::string_view path = module.file->path();
  return path.starts_with(start) && path.ends_with(end) &&
         find_standard_module(path.substr(start.size(), path.size() - start.size() - end.size())).has_value();
}

void list_calls(const CheckedProgram& program, const Module& module, NodeId node, std::set<std::uint32_t>& seen,
                std::vector<std::string>& all) {
  const syntax::SyntaxTree& tree = *module.tree;
  const Target& target = module.facts_of(node).target;
  if (target.kind == TargetKind::Function && seen.insert(target.index).second) {
    const FunctionDeclaration& function = program.functions[target.index];
    const Module& home = program.modules[function.module.index];
    if (!is_standard(home)) {
      all.emplace_back(home.tree->text(function.node));
      list_calls(program, home, function.node, seen, all);
    }
  }
  for (NodeId child = tree.first(node); child.exists(); child = tree.next(child)) {
    list_calls(program, module, child, seen, all);
  }
}

}  // namespace

std::vector<std::string> definitions_of_type(const CheckedProgram& program, TypeId type) {
  std::vector<std::string> all;
  for_each_within(program.types, type, TypeParts::OfValues, [&](TypeId part) {
    if (std::string text = definition_of(program.types, part); !text.empty()) all.push_back(std::move(text));
  });
  return all;
}

std::vector<std::string> definitions_of_calls(const CheckedProgram& program, ModuleId module, NodeId expression) {
  std::set<std::uint32_t> seen;
  std::vector<std::string> all;
  list_calls(program, program.modules[module.index], expression, seen, all);
  return all;
}

}  // namespace tenon::types
