// Statements.

#include "compiler/assertion_compiler.h"
#include "compiler/control_compiler.h"
#include "compiler/expression_compiler.h"
#include "compiler/pattern_compiler.h"
#include "compiler/place_compiler.h"
#include "compiler/statement_compiler.h"
#include "syntax/literals.h"

namespace tenon::compiler {

void StatementCompiler::body(NodeId node, std::optional<Register> to) {
  if (tree().kind(node) == NodeKind::InjectBody) {
    at(node);
    inject(tree().first(node));
    if (to) emit(Opcode::LoadUnit, *to);
    return;
  }
  if (to) return into(node, *to);
  expressions().drop(node);
}

using types::TargetKind;

void StatementCompiler::block(NodeId node, std::optional<Register> to) {
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

void StatementCompiler::statement(NodeId node) {
  at(node);
  const NodeId first = tree().first(node);
  switch (tree().kind(node)) {
    case NodeKind::LetStatement:
      return let(node);  // its variables stay
    case NodeKind::AssignStatement: {
      const Temporaries scope(*this);
      return places().assignment(node);
    }
    case NodeKind::InjectStatement:
    case NodeKind::InjectBody:
      return inject(first);
    case NodeKind::WhileStatement:
      return control().while_loop(node);
    case NodeKind::AssertStatement: {
      const Temporaries scope(*this);
      return assertions().assertion(first);
    }
    case NodeKind::ExpressionStatement:
      return expressions().drop(first);
    default:
      return;
  }
}

void StatementCompiler::let(NodeId node) {
  const NodeId target = tree().first(node);
  NodeId value = tree().next(target);
  if (syntax::is_type(tree().kind(value))) value = tree().next(value);
  if (tree().kind(target) == NodeKind::NamePattern && facts(target).target.kind == TargetKind::Local) {
    // The value cannot see the variable yet, which may have the name of an outer one.
    const Register place = allocate();
    into(value, place);
    set_variable(facts(target).target.index, place);
    return;
  }
  const Register place = allocate();
  into(value, place);
  patterns().bind_to(target, place);
}

void StatementCompiler::inject(NodeId value) {
  const Temporaries scope(*this);
  const Register text = operand(value);
  emit(Opcode::Inject, function_.context_register, text);
}

}  // namespace tenon::compiler
