#include "compiler/function_scope.h"

#include <algorithm>

#include "base/ensure.h"
#include "syntax/literals.h"
#include "types/builtin_methods.h"
#include "types/table/type_parts.h"

namespace tenon::compiler {

using syntax::NodeId;
using syntax::NodeKind;
using types::Contract;
using types::TargetKind;
using types::TypeId;
using types::TypeKind;
using types::TypeTable;

namespace {

/// Code as one line: lines are joined by a space.
std::string on_one_line(std::string_view code) {
  std::string line;
  bool is_after_break = false;
  for (const char c : code) {
    is_after_break = is_after_break || c == '\n';
    if (is_after_break && (c == '\n' || c == ' ')) continue;
    if (is_after_break) line += ' ';
    is_after_break = false;
    line += c;
  }
  return line;
}

}  // namespace

FunctionScope::FunctionScope(ProgramCompiler& compiler, types::FunctionId function, std::span<const TypeId> with,
                             const types::Strategy& by, Part which, Holes missing, OuterContract around)
    : program(compiler),
      declaration(compiler.checked().functions[function.index]),
      module(compiler.checked().modules[declaration.module.index]),
      id(function),
      type_arguments(with.begin(), with.end()),
      strategy(by),
      part(which),
      holes(std::move(missing)),
      outer(std::move(around)),
      first_local(compiler.first_local(function)) {}

TypeId FunctionScope::resolve(TypeId type) const {
  return program.substitute(type, declaration.type_parameter_types, type_arguments);
}

Register FunctionScope::register_of(std::uint32_t local) const {
  const auto found = locals_.find(local);
  ENSURE(found != locals_.end());
  return found->second;
}

bool is_plain(TypeKind kind) {
  return kind == TypeKind::Unit || kind == TypeKind::Never || kind == TypeKind::Boolean || kind == TypeKind::I32 ||
         kind == TypeKind::I64 || kind == TypeKind::F64;
}

bool FunctionScope::has_contract(bool of_value) const {
  return std::any_of(declaration.contracts.begin(), declaration.contracts.end(), [&](const Contract& contract) {
    return (contract.kind != types::ContractKind::Requires) == of_value;
  });
}

void FunctionScope::list_conditions(NodeId node, std::vector<NodeId>& conditions) const {
  const NodeId inner = tree().without_parentheses(node);
  const bool is_both = tree().kind(inner) == NodeKind::BinaryExpression && tree().main_text(inner) == "&&";
  if (!is_both) return conditions.push_back(node);
  list_conditions(tree().first(inner), conditions);
  list_conditions(tree().next(tree().first(inner)), conditions);
}

bool FunctionScope::is_literal_number(NodeId node) const {
  node = tree().without_parentheses(node);
  while (tree().kind(node) == NodeKind::UnaryExpression) node = tree().first(node);
  return tree().kind(node) == NodeKind::IntegerExpression || tree().kind(node) == NodeKind::FloatExpression;
}

std::optional<std::int64_t> FunctionScope::literal_integer(NodeId node) const {
  bool negative = false;
  if (tree().kind(node) == NodeKind::UnaryExpression && tree().main_text(node) == "-") {
    negative = true;
    node = tree().first(node);
  }
  if (tree().kind(node) != NodeKind::IntegerExpression) return std::nullopt;
  const auto magnitude = syntax::integer_value(tree().text(node));
  if (!magnitude) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - *magnitude : *magnitude);
}

types::FunctionId FunctionScope::contract_holder(NodeId call) const {
  const types::Target& target = facts(call).target;
  return target.kind == TargetKind::Extern ? program.checked().externs[target.index].wrapper
                                           : types::FunctionId{target.index};
}

void FunctionScope::bind_arguments() {
  for (std::size_t at = 0; at < declaration.parameters.size(); ++at) {
    set_local(first_local + static_cast<std::uint32_t>(at), static_cast<Register>(at));
  }
}

std::uint32_t FunctionScope::own_instance() const {
  return program.instance(id, type_arguments, strategy, part, holes, outer);
}

bool FunctionScope::is_state(NodeId name) const {
  const types::Target& target = facts(name).target;
  return target.kind == types::TargetKind::Local && program.checked().locals[target.index].is_agent_state;
}

TypeKind FunctionScope::operand_kind(TypeId type) const {
  return types::operand_kind(program.type_table(), type);
}

bool FunctionScope::changes_variables(NodeId node) const {
  const NodeKind kind = tree().kind(node);
  if (kind == NodeKind::Block || kind == NodeKind::InjectBody) return true;
  if (kind == NodeKind::MethodCallExpression && facts(node).target.kind == types::TargetKind::Method &&
      types::changes_receiver(static_cast<types::BuiltinMethod>(facts(node).target.index))) {
    return true;
  }
  for (NodeId child = tree().first(node); child.exists(); child = tree().next(child)) {
    if (changes_variables(child)) return true;
  }
  return false;
}

void FunctionScope::list_changed(NodeId node, std::set<std::uint32_t>& locals) const {
  const bool is_method = tree().kind(node) == NodeKind::MethodCallExpression &&
                         facts(node).target.kind == types::TargetKind::Method &&
                         types::changes_receiver(static_cast<types::BuiltinMethod>(facts(node).target.index));
  if (is_method || tree().kind(node) == NodeKind::AssignStatement) {
    const NodeId root = tree().root_of_place(tree().first(node));
    if (facts(root).target.kind == types::TargetKind::Local) locals.insert(facts(root).target.index);
  }
  for (NodeId child = tree().first(node); child.exists(); child = tree().next(child)) list_changed(child, locals);
}

bool FunctionScope::speaks_of(NodeId node, types::LocalId local) const {
  const types::Target& target = facts(node).target;
  if (target.kind == types::TargetKind::Local && target.index == local.index) return true;
  for (NodeId child = tree().first(node); child.exists(); child = tree().next(child)) {
    if (speaks_of(child, local)) return true;
  }
  return false;
}

std::string FunctionScope::line_of(NodeId node) const {
  return on_one_line(tree().text(node));
}

std::string FunctionScope::code_of(NodeId node) const {
  std::string_view code = tree().text(node);
  if (tree().kind(node) == NodeKind::StringExpression) {
    while (code.size() > 1 && code.starts_with('"')) code = code.substr(1, code.size() - 2);
  }
  return on_one_line(code);
}

bool FunctionScope::is_plain_text(NodeId node) const {
  return tree().kind(node) == NodeKind::StringExpression && syntax::plain_string(tree(), node).has_value();
}

bool FunctionScope::is_never_blank(NodeId node) const {
  if (tree().kind(node) != NodeKind::StringExpression) return false;
  const std::vector<syntax::StringPart> parts = syntax::string_parts(tree(), node);
  return std::ranges::any_of(parts, [](const syntax::StringPart& part) {
    const auto* const text = std::get_if<std::string>(&part);
    return text != nullptr && text->find_first_not_of(" \t\r\n") != std::string::npos;
  });
}

}  // namespace tenon::compiler
