// Statements.

#include "compiler/function_compiler.h"
#include "syntax/literals.h"

namespace tenon::compiler {

using types::TargetKind;

void FunctionCompiler::block(NodeId node, std::optional<Register> to) {
  if (tree().kind(node) != NodeKind::Block) return body(node, to);
  const Temporaries scope(*this);
  for (NodeId child = tree().first(node); child.exists(); child = tree().next(child)) {
    if (tree().kind(child) == NodeKind::ScriptSection) continue;
    const bool tail = !tree().next(child).exists() && tree().kind(child) == NodeKind::ExpressionStatement &&
                      !tree().ends_with_semicolon(child);
    if (tail && to) {
      into(tree().first(child), *to);
      return;
    }
    statement(child);
  }
  if (to) emit(Opcode::LoadUnit, *to);
}

void FunctionCompiler::statement(NodeId node) {
  at(node);
  const NodeId first = tree().first(node);
  switch (tree().kind(node)) {
    case NodeKind::LetStatement:
      return let(node);  // its variables stay
    case NodeKind::AssignStatement: {
      const Temporaries scope(*this);
      return assignment(node);
    }
    case NodeKind::InjectStatement:
    case NodeKind::InjectBody:
      return inject(first);
    case NodeKind::WhileStatement:
      return while_loop(node);
    case NodeKind::AssertStatement: {
      const Temporaries scope(*this);
      return assertion(first);
    }
    case NodeKind::ExpressionStatement:
      return drop(first);
    default:
      return;
  }
}

void FunctionCompiler::let(NodeId node) {
  const NodeId target = tree().first(node);
  NodeId value = tree().next(target);
  if (syntax::is_type(tree().kind(value))) value = tree().next(value);
  if (tree().kind(target) == NodeKind::NamePattern && facts(target).target.kind == TargetKind::Local) {
    // The value cannot see the variable yet, which may have the name of an outer one.
    const Register place = allocate();
    into(value, place);
    locals_[facts(target).target.index] = place;
    return;
  }
  const Register place = allocate();
  into(value, place);
  bind_to(target, place);
}

/// A pattern that every value fits.
void FunctionCompiler::bind_to(NodeId node, Register value) {
  std::vector<std::size_t> fails;
  pattern(node, value, fails);
}

void FunctionCompiler::inject(NodeId value) {
  const Temporaries scope(*this);
  const Register text = operand(value);
  emit(Opcode::Inject, function_.context_register, text);
}

void FunctionCompiler::complete() {
  place_ = function_.place;
  expect_answerable(declaration_.node, function_.name, function_.result);
  const Register value = allocate();
  emit_wide(Opcode::Complete, value, completion_site(strategy_.kind == types::Strategy::Kind::Vote));
  emit(Opcode::Return, value);
}

std::vector<std::size_t> FunctionCompiler::condition(NodeId node) {
  std::vector<std::size_t> fails;
  if (tree().kind(node) == NodeKind::LetCondition) {
    const NodeId target = tree().first(node);
    const Register value = allocate();
    into(tree().next(target), value);
    pattern(target, value, fails);
    return fails;
  }
  const Temporaries scope(*this);
  const Register value = operand(node);
  fails.push_back(emit_jump(Opcode::JumpUnless, value));
  return fails;
}

void FunctionCompiler::while_loop(NodeId node) {
  const Temporaries scope(*this);
  const std::size_t start = here();
  const NodeId head = tree().first(node);
  const std::vector<std::size_t> fails = condition(head);
  loops_.emplace_back();
  block(tree().next(head), std::nullopt);
  for (const std::size_t jump : loops_.back().continues) land_at(jump, start);
  land_at(emit_jump(Opcode::Jump), start);
  land_all(fails);
  land_all(loops_.back().breaks);
  loops_.pop_back();
}

}  // namespace tenon::compiler
