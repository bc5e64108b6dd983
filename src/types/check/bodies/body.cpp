#include "types/check/bodies/body.h"

#include "base/ensure.h"

namespace tenon::types {

using syntax::NodeId;

NodeId root_of_body(const CheckedProgram& program, const FunctionDeclaration& function) {
  switch (function.role) {
    case FunctionRole::AgentRun:
    case FunctionRole::TakeOver:
      return {};
    case FunctionRole::InitialState:
      return program.modules[function.module.index].tree->find_child(function.node, syntax::NodeKind::StateSection);
    case FunctionRole::Written:
    case FunctionRole::Instructions:
    case FunctionRole::ExternCall:
      break;
  }
  return function.node;
}

NodeId first_node_below(const syntax::SyntaxTree& tree, NodeId root) {
  // The parser adds a node when it has read all of it, so the first one is the innermost at the left.
  while (root.exists() && tree.first(root).exists()) root = tree.first(root);
  return root;
}

Body::Body(const ProgramIndex& program_index, FunctionId function_id, BodyResult& body_result)
    : index(program_index),
      program(program_index.program()),
      function(program.functions[function_id.index]),
      id(function_id),
      module_id(function.module),
      module(program.modules[function.module.index]),
      result(body_result),
      resolver(program, body_result.types, body_result.diagnostics, program_index.strictness()) {
  const NodeId root = root_of_body(program, function);
  if (root.exists()) {
    result.first_node = first_node_below(tree(), root);
    result.facts.resize(root.index - result.first_node.index + 1);
  }
  resolver.enter(module_id);
  resolver.set_type_parameters(function);
  if (!function.parameters.empty() && function.parameters[0].name == "self") {
    resolver.set_self_type(function.parameters[0].type);
  }
}

NodeFacts& Body::facts(NodeId node) {
  const std::uint32_t at = node.index - result.first_node.index;
  ENSURE(at < result.facts.size());
  return result.facts[at];
}

const NodeFacts& Body::facts_of(NodeId node) const {
  const std::uint32_t at = node.index - result.first_node.index;
  ENSURE(at < result.facts.size());
  return result.facts[at];
}

LocalId Body::declare_local(std::string_view name, TypeId type, source::Span span) {
  const LocalId local{static_cast<std::uint32_t>(result.locals.size())};
  result.locals.push_back({std::string(name), type, span, id, false});
  scope.add(name, local);
  return local;
}

std::string Body::describe_as_code(TypeId type) {
  const std::string name = result.types.describe_briefly(type);
  if (resolver.find_type(name) == type) return name;
  for (const auto& [alias, imported] : module.imports) {
    if (imported.is_module && resolver.find_type_in(imported.module, name) == type) return alias + "::" + name;
  }
  return name;
}

std::optional<std::uint32_t> Body::find_member(TypeId type, std::string_view name) {
  if (type.index < result.types.shared_size()) return index.members().find(result.types, type, name);
  own_members_.add(result.types, type);
  return own_members_.find(result.types, type, name);
}

}  // namespace tenon::types
