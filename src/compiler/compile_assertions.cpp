// `assert`: the message of a failure shows the values that the condition has compared. They are still in registers, so
// an assertion that holds costs no more than its condition.

#include <fmt/format.h>

#include <algorithm>

#include "compiler/assertion_compiler.h"
#include "compiler/call_compiler.h"
#include "compiler/expression_compiler.h"
#include "compiler/place_compiler.h"
#include "syntax/literals.h"
#include "types/builtin_methods.h"

namespace tenon::compiler {

using types::TargetKind;
using types::TypeKind;

void AssertionCompiler::assertion(NodeId condition) {
  std::vector<NodeId> conditions;
  scope_.list_conditions(condition, conditions);
  for (const NodeId part : conditions) {
    const Temporaries scope(*this);
    const Register holds = allocate();
    const Observed observed = observe(part, holds, true);
    at(part);
    if (!observed.sides && observed.shown.empty()) {
      emit_wide(Opcode::Assert, holds, program_.constant(scope_.line_of(part)));
      continue;
    }
    const std::size_t held = emit_jump(Opcode::JumpIf, holds);
    explain_assertion(part, observed);
    land(held);
  }
}

/// to = the condition. Returns the values that have been computed whenever it is not as expected: true, but false below
/// a negation.
AssertionCompiler::Observed AssertionCompiler::observe(NodeId condition, Register to, bool expected) {
  const NodeId inner = tree().without_parentheses(condition);
  switch (tree().kind(inner)) {
    case NodeKind::UnaryExpression: {
      Observed observed = observe(tree().first(inner), to, !expected);
      at(inner, true);
      emit(Opcode::Not, to, to);
      return observed;
    }
    case NodeKind::BinaryExpression:
      switch (tree().tokens[tree()[inner].main_token].kind) {
        case TokenKind::AmpersandAmpersand:
        case TokenKind::PipePipe:
          return observe_logic(inner, to, expected);
        case TokenKind::QuestionQuestion:
          break;
        default:
          return {.sides = expressions().comparison(inner, to), .node = inner, .shown = {}};
      }
      break;
    case NodeKind::MethodCallExpression:
      return observe_method(inner, to);
    case NodeKind::CallExpression: {
      into(inner, to);
      Observed observed;
      add_argument_paths(inner, observed.shown);
      return observed;
    }
    default:
      break;
  }
  into(inner, to);
  Observed observed;
  add_choice(inner, observed.shown);
  return observed;
}

/// Of `match value { … }` and `if condition { … }`, the value that chooses: a variable, which is read again.
void AssertionCompiler::add_choice(NodeId condition, std::vector<Shown>& shown) {
  if (tree().kind(condition) == NodeKind::MatchExpression) {
    const NodeId value = tree().first(condition);
    if (is_path(value) && is_worth_showing(value)) shown.push_back({value, std::nullopt});
  } else if (tree().kind(condition) == NodeKind::IfExpression) {
    add_operand_paths(tree().first(condition), shown);
  }
}

/// The variables that a condition computes with.
void AssertionCompiler::add_operand_paths(NodeId node, std::vector<Shown>& shown) {
  if (is_path(node)) {
    if (is_worth_showing(node)) shown.push_back({node, std::nullopt});
    return;
  }
  const NodeKind kind = tree().kind(node);
  const bool is_operator = kind == NodeKind::BinaryExpression || kind == NodeKind::UnaryExpression ||
                           kind == NodeKind::ParenthesizedExpression || kind == NodeKind::MethodCallExpression;
  if (!is_operator) return;
  for (const NodeId operand : tree().children(node)) {
    if (tree().kind(operand) != NodeKind::Arguments) add_operand_paths(operand, shown);
  }
}

/// `a || b` that does not hold, and `a && b` that holds, have computed both sides; otherwise nothing is known of the
/// right one.
AssertionCompiler::Observed AssertionCompiler::observe_logic(NodeId condition, Register to, bool expected) {
  const NodeId left = tree().first(condition);
  const NodeId right = tree().next(left);
  const bool is_or = tree().tokens[tree()[condition].main_token].kind == TokenKind::PipePipe;
  if (is_or != expected || scope_.changes_variables(right)) {
    expressions().logic(condition, to);
    return {};
  }
  Observed observed;
  // A variable on both sides has the same value, which is shown once.
  const auto show = [&](const Shown& one) {
    const auto is_same = [&](const Shown& other) {
      return is_path(one.node) && scope_.line_of(other.node) == scope_.line_of(one.node);
    };
    if (std::none_of(observed.shown.begin(), observed.shown.end(), is_same)) observed.shown.push_back(one);
  };
  const auto add = [&](const Observed& side) {
    for (const Shown& one : side.shown) show(one);
    if (!side.sides) return;
    const NodeId first = tree().first(side.node);
    if (is_worth_showing(first)) show({first, side.sides->left});
    if (side.sides->right && is_worth_showing(tree().next(first))) show({tree().next(first), *side.sides->right});
  };
  add(observe(left, to, expected));
  const std::size_t decided = emit_jump(is_or ? Opcode::JumpIf : Opcode::JumpUnless, to);
  add(observe(right, to, expected));
  land(decided);
  return observed;
}

AssertionCompiler::Observed AssertionCompiler::observe_method(NodeId call, Register to) {
  const types::Target& target = facts(call).target;
  const NodeId receiver_node = tree().first(call);
  const std::vector<NodeId> arguments = tree().children(tree().find_child(call, NodeKind::Arguments));
  const bool is_builtin = target.kind == TargetKind::Builtin;
  const bool is_method =
      target.kind == TargetKind::Method && !types::changes_receiver(static_cast<types::BuiltinMethod>(target.index));
  Observed observed;
  if ((!is_builtin && !is_method) || target.detail != 0) {
    into(call, to);
    add_argument_paths(call, observed.shown);
    return observed;
  }
  const Register receiver = expressions().stable_operand(receiver_node, tree().find_child(call, NodeKind::Arguments));
  if (is_worth_showing(receiver_node)) observed.shown.push_back({receiver_node, receiver});
  at(call, true);
  if (is_method) {
    places().builtin_method(call, receiver, receiver_node, arguments, to);
    return observed;
  }
  const Register window =
      calls().builtin_call(call, static_cast<types::Builtin>(target.index), receiver, arguments, to);
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    if (is_worth_showing(arguments[at])) {
      observed.shown.push_back({arguments[at], static_cast<Register>(window + 1 + at)});
    }
  }
  return observed;
}

/// The callee has used up the registers of its arguments. Variables, and fields of variables, are read again.
void AssertionCompiler::add_argument_paths(NodeId call, std::vector<Shown>& shown) {
  std::vector<NodeId> arguments = tree().children(tree().find_child(call, NodeKind::Arguments));
  if (tree().kind(call) == NodeKind::MethodCallExpression) arguments.insert(arguments.begin(), tree().first(call));
  for (const NodeId argument : arguments) {
    if (is_path(argument) && is_worth_showing(argument)) shown.push_back({argument, std::nullopt});
  }
}

/// Fails with the condition's code and the values.
void AssertionCompiler::explain_assertion(NodeId condition, const Observed& observed) {
  const Temporaries scope(*this);
  const std::size_t values = observed.sides ? 1 : observed.shown.size();
  const Register parts = allocate(2 * values);
  std::string text = fmt::format("`{}` does not hold", scope_.line_of(condition));
  for (std::size_t at = 0; at < values; ++at) {
    const auto head = static_cast<Register>(parts + 2 * at);
    const auto value = static_cast<Register>(head + 1);
    if (observed.sides) {
      load_string(head, text + "\n");
      Register right = value;
      if (observed.sides->right) {
        right = *observed.sides->right;
      } else {
        into(tree().next(tree().first(observed.node)), right);
      }
      emit(Opcode::DescribeSides, value, observed.sides->left, right);
      break;
    }
    const Shown& shown = observed.shown[at];
    load_string(head, fmt::format("{}\n  `{}` is ", std::exchange(text, ""), scope_.line_of(shown.node)));
    if (!shown.value) into(shown.node, value);
    emit(Opcode::Describe, value, shown.value.value_or(value));
  }
  emit(Opcode::Template, parts, parts, static_cast<std::uint16_t>(2 * values));
  emit(Opcode::Fail, parts);
}

/// Whether the value says more than the node's code, and is one that can be shown.
bool AssertionCompiler::is_worth_showing(NodeId node) {
  NodeId inner = tree().without_parentheses(node);
  if (tree().kind(inner) == NodeKind::UnaryExpression) inner = tree().first(inner);
  switch (tree().kind(inner)) {
    case NodeKind::IntegerExpression:
    case NodeKind::FloatExpression:
    case NodeKind::BooleanExpression:
    case NodeKind::ClosureExpression:
      return false;
    case NodeKind::StringExpression:
      if (scope_.is_plain_text(inner)) return false;
      break;
    default:
      break;
  }
  const TypeKind kind = kind_of(node);
  return kind != TypeKind::Unit && kind != TypeKind::Never && kind != TypeKind::Context && kind != TypeKind::Tools &&
         kind != TypeKind::Closure && kind != TypeKind::Range;
}

/// A variable of this function, or a field of one. The state of an agent may have been changed by a call.
bool AssertionCompiler::is_path(NodeId node) const {
  while (tree().kind(node) == NodeKind::FieldExpression && facts(node).target.detail == 0) node = tree().first(node);
  return tree().kind(node) == NodeKind::NameExpression && facts(node).target.kind == TargetKind::Local &&
         !scope_.is_state(node) && !facts(node).narrowed_to.exists();
}

}  // namespace tenon::compiler
