// Branches, loops, `select`, parallel blocks, and handlers of failures.

#include <fmt/format.h>

#include "compiler/call_compiler.h"
#include "compiler/control_compiler.h"
#include "compiler/exit_compiler.h"
#include "compiler/expression_compiler.h"
#include "compiler/filling_compiler.h"
#include "compiler/outer_contract_compiler.h"
#include "compiler/pattern_compiler.h"
#include "compiler/statement_compiler.h"
#include "compiler/tool_compiler.h"
#include "syntax/limited_call.h"
#include "syntax/literals.h"

namespace tenon::compiler {

using types::TargetKind;
using types::TypeId;
using types::TypeKind;

using types::TypeTable;

void ControlCompiler::if_expression(NodeId node, std::optional<Register> to) {
  const NodeId head = tree().first(node);
  const NodeId then = tree().next(head);
  const NodeId otherwise = tree().next(then);
  std::vector<std::size_t> fails;
  {
    const Temporaries scope(*this);
    fails = condition(head);
    if (otherwise.exists() && to) {
      statements().block(then, to);
      expressions().narrow(then, *to);
    } else {
      statements().block(then, std::nullopt);
    }
  }
  if (!otherwise.exists() && !to) return land_all(fails);
  const std::size_t end = emit_jump(Opcode::Jump);
  land_all(fails);
  if (!otherwise.exists()) {
    land(end);
    emit(Opcode::LoadUnit, *to);
    return;
  }
  if (tree().kind(otherwise) == NodeKind::IfExpression) {
    if_expression(otherwise, to);
    if (to) expressions().narrow(otherwise, *to);
  } else {
    statements().block(otherwise, to);
    if (to) expressions().narrow(otherwise, *to);
  }
  land(end);
}

void ControlCompiler::match(NodeId node, std::optional<Register> to) {
  const Temporaries scope(*this);
  const NodeId subject = tree().first(node);
  // A copy: an arm may assign the variable that is matched.
  const Register value = allocate();
  into(subject, value);
  std::vector<std::size_t> ends;
  for (const NodeId arm : tree().children(node, NodeKind::MatchArm)) {
    const Temporaries arm_scope(*this);
    std::vector<std::size_t> fails;
    NodeId part = tree().first(arm);
    at(part);
    patterns().pattern(part, value, fails);
    part = tree().next(part);
    if (tree().kind(part) == NodeKind::Guard) {
      const Temporaries guard_scope(*this);
      const Register holds = operand(tree().first(part));
      fails.push_back(emit_jump(Opcode::JumpUnless, holds));
      part = tree().next(part);
    }
    statements().body(part, to);
    ends.push_back(emit_jump(Opcode::Jump));
    land_all(fails);
  }
  emit(Opcode::Unreachable);  // the checker has verified that the arms cover every value
  land_all(ends);
}

void ControlCompiler::select(NodeId node, std::optional<Register> to) {
  const Temporaries scope(*this);
  const std::vector<NodeId> clauses = tree().children(node, NodeKind::SelectClause);
  Site site;
  site.kind = SiteKind::Select;
  site.is_short = true;
  site.place = program_.place(module_, node);
  site.function = scope_.own_instance();
  std::size_t holes_max = 0;
  bool may_refuse_any = false;
  std::vector<NodeId> sets;
  for (const NodeId clause : clauses) {
    Clause entry;
    const bool is_else = tree().tokens[tree()[clause].main_token].kind == TokenKind::Else;
    entry.is_else = is_else;
    entry.is_set = !is_else && tree().kind(tree().first(clause)) == NodeKind::SpreadExpression;
    if (entry.is_set) {
      if (facts(clause).target.kind == TargetKind::Local) entry.binding = std::string(tree().main_text(clause));
      sets.push_back(tree().first(tree().first(clause)));
    } else if (!is_else) {
      const NodeId call_node = syntax::read_limited_call(tree(), tree().first(clause)).call;
      entry.call = calls().call_shape(call_node, tree().children(tree().find_child(call_node, NodeKind::Arguments)));
      if (facts(clause).target.kind == TargetKind::Local) entry.binding = std::string(tree().main_text(clause));
      holes_max = std::max(holes_max, entry.call.holes.size());
      may_refuse_any = may_refuse_any || filling().may_refuse(call_node, entry.call);
    }
    site.clauses.push_back(std::move(entry));
  }
  // The sets are in the registers of the answer.
  if (!sets.empty()) holes_max = std::max({holes_max, sets.size(), chosen_tool_values});
  Refill refill;
  if (may_refuse_any) refill = filling().begin_refill();
  const Register chosen = allocate(holes_max + 1);
  for (std::size_t set = 0; set < sets.size(); ++set) into(sets[set], static_cast<Register>(chosen + 1 + set));
  at(node);
  const std::vector<Clause> shapes = site.clauses;
  emit_wide(Opcode::Select, chosen, program_.add_site(std::move(site)));
  const std::size_t selected = here();
  const std::size_t jump = emit_wide(Opcode::Switch, chosen, 0);
  emit(Opcode::Unreachable);
  JumpTable table;
  table.otherwise = static_cast<std::uint32_t>(here() - 1);
  std::vector<std::size_t> ends;
  for (std::size_t clause = 0; clause < clauses.size(); ++clause) {
    const Temporaries clause_scope(*this);
    table.targets.push_back(static_cast<std::uint32_t>(here()));
    NodeId part = tree().first(clauses[clause]);
    // The entries about rejected arguments are removed.
    if (may_refuse_any) emit(Opcode::Move, function_.context_register, refill.before);
    if (shapes[clause].is_set) {
      const Register result = allocate();
      tools().chosen_tool(part, chosen, result);
      if (facts(clauses[clause]).target.kind == TargetKind::Local)
        scope_.set_local(facts(clauses[clause]).target.index, result);
      part = tree().next(part);
    } else if (!shapes[clause].is_else) {
      // The given arguments of the chosen clause are evaluated only now.
      const auto [call_node, budget] = calls().take_limits(part);
      const bool is_held = filling().may_refuse(call_node, shapes[clause].call);
      if (is_held) emit(Opcode::RequestKey, refill.answer);
      const std::vector<NodeId> arguments = tree().children(tree().find_child(call_node, NodeKind::Arguments));
      const std::size_t total = shapes[clause].call.parameters.size();
      const std::size_t offset = total - arguments.size();
      const Register window = allocate(std::max<std::size_t>(total, 1) + outer_contracts().count_passed(call_node));
      if (offset == 1) into(tree().first(call_node), window);
      std::size_t hole = 0;
      for (std::size_t argument = 0; argument < arguments.size(); ++argument) {
        const auto place = static_cast<Register>(window + offset + argument);
        if (tree().kind(arguments[argument]) == NodeKind::HoleExpression) {
          emit(Opcode::Take, place, static_cast<Register>(chosen + 1 + hole++));
        } else {
          into(arguments[argument], place);
        }
      }
      at(call_node);
      if (is_held) {
        const std::string prefix =
            fmt::format("{{\"call\":{{\"function\":\"{}\",\"arguments\":", shapes[clause].call.name);
        filling().hold_arguments(call_node, shapes[clause].call, window, refill, prefix, "}}");
      }
      calls().within_budget(budget, [&, called = call_node] { calls().emit_call(called, window); });
      if (facts(clauses[clause]).target.kind == TargetKind::Local)
        scope_.set_local(facts(clauses[clause]).target.index, window);
      part = tree().next(part);
    }
    statements().body(part, to);
    ends.push_back(emit_jump(Opcode::Jump));
  }
  const std::uint32_t index = program_.add_jump_table(std::move(table));
  emitter_.set_wide(jump, index);
  land_all(ends);
  if (may_refuse_any) filling().restore_on_failure(refill, selected, emitter_.open_budgets());
}

void ControlCompiler::for_loop(NodeId node, std::optional<Register> to) {
  if (tree().find_child(node, NodeKind::ParallelClause).exists()) return parallel_for(node, to);
  loop_over(node, [&] { statements().block(tree().next(tree().next(tree().first(node))), std::nullopt); });
  if (to) emit(Opcode::LoadUnit, *to);
}

void ControlCompiler::loop_over(NodeId node, const std::function<void()>& write) {
  const Temporaries scope(*this);
  const NodeId target = tree().first(node);
  const NodeId items = tree().next(target);
  const TypeKind kind = kind_of(items);
  const Register window = allocate(kind == TypeKind::Map ? 4 : 3);
  Opcode opcode = Opcode::ForList;
  if (kind == TypeKind::Range) {
    opcode = Opcode::ForRange;
    const NodeId range = tree().without_parentheses(items);
    const NodeId low = tree().first(range);
    const auto end = static_cast<Register>(window + 1);
    into(low, window);
    into(tree().next(low), end);
    if (tree().tokens[tree()[range].main_token].kind == TokenKind::DotDotEqual) opcode = Opcode::ForInclusiveRange;
  } else {
    if (kind == TypeKind::Map) opcode = Opcode::ForMap;
    into(items, window);
    load_integer(static_cast<Register>(window + 1), 0);
  }
  at(node);
  const std::size_t start = emit_jump(opcode, window);
  exits().begin_loop();
  {
    const Temporaries loop_scope(*this);
    const auto item = static_cast<Register>(window + 2);
    const std::vector<NodeId> parts =
        tree().kind(target) == NodeKind::TuplePattern ? tree().children(target) : std::vector<NodeId>();
    if (kind == TypeKind::Map && parts.size() == 2) {
      patterns().bind_to(parts[0], item);
      patterns().bind_to(parts[1], static_cast<Register>(window + 3));
    } else if (kind == TypeKind::Map) {
      const Register pair = allocate();
      emit(Opcode::MakeRecord, pair, item, program_.type_operand(type_of(target)));
      patterns().bind_to(target, pair);
    } else if (tree().kind(target) == NodeKind::NamePattern && facts(target).target.kind == TargetKind::Local) {
      set_variable(facts(target).target.index, item);
    } else {
      patterns().bind_to(target, item);
    }
    write();
  }
  const Loop loop = exits().end_loop();
  for (const std::size_t jump : loop.continues) land_at(jump, start);
  land_at(emit_jump(Opcode::Jump), start);
  land(start);
  land_all(loop.breaks);
  if (kind != TypeKind::Range) emit(Opcode::LoadUnit, window);
}

void ControlCompiler::parallel(NodeId node, std::optional<Register> to) {
  const Temporaries scope(*this);
  const std::vector<NodeId> branches = tree().children(node, NodeKind::ParallelBranch);
  if (branches.empty()) {
    if (to) emit(Opcode::LoadUnit, *to);
    return;
  }
  const Register window = allocate(branches.size());
  at(node);
  const std::size_t start = emit_wide(Opcode::Parallel, window, 0);
  const std::size_t end = emit_jump(Opcode::Jump);
  JumpTable table;
  std::vector<Loop> outside = exits().replace_loops({});
  for (const NodeId branch : branches) {
    const Temporaries branch_scope(*this);
    table.targets.push_back(static_cast<std::uint32_t>(here()));
    const Register value = allocate();
    into(tree().first(branch), value);
    emit(Opcode::EndBranch, value);
  }
  exits().replace_loops(std::move(outside));
  table.otherwise = table.targets.front();
  const std::uint32_t index = program_.add_jump_table(std::move(table));
  emitter_.set_wide(start, index);
  land(end);
  if (!to) return;
  const TypeId type = type_of(node);
  const TypeKind kind = program_.type_table().kind(type);
  if (kind == TypeKind::Struct || kind == TypeKind::Tuple) {
    emit(Opcode::MakeRecord, *to, window, program_.type_operand(type));
  } else if (type == TypeTable::unit) {
    emit(Opcode::LoadUnit, *to);
  } else {
    emit(Opcode::Take, *to, window);
  }
}

void ControlCompiler::parallel_for(NodeId node, std::optional<Register> to) {
  const Temporaries scope(*this);
  const NodeId target = tree().first(node);
  const NodeId clause = tree().find_child(node, NodeKind::ParallelClause);
  const Register window = allocate(3);
  into(tree().next(target), window);
  into(tree().first(clause), static_cast<Register>(window + 1));
  at(node);
  const std::size_t start = emit_jump(Opcode::ParallelFor, window);
  const std::size_t end = emit_jump(Opcode::Jump);
  land(start);
  std::vector<Loop> outside = exits().replace_loops({});
  {
    const Temporaries branch_scope(*this);
    patterns().bind_to(target, static_cast<Register>(window + 2));
    const Register value = allocate();
    statements().block(tree().next(clause), value);
    emit(Opcode::EndBranch, value);
  }
  exits().replace_loops(std::move(outside));
  land(end);
  if (!to) return;
  if (type_of(node) == TypeTable::unit) {
    emit(Opcode::LoadUnit, *to);
  } else {
    emit(Opcode::Take, *to, window);
  }
}

void ControlCompiler::try_expression(NodeId node, Register to) {
  const Register value = allocate();
  const std::size_t begin = here();
  into(tree().first(node), value);
  const std::size_t end = here();
  emit(Opcode::MakeVariant, value, program_.type_operand(TypeTable::any_result), 0);
  const std::size_t done = emit_jump(Opcode::Jump);
  add_handler(begin, end, here(), value);
  emit(Opcode::MakeVariant, value, program_.type_operand(TypeTable::any_result), 1);
  land(done);
  emit(Opcode::Take, to, value);
}

void ControlCompiler::catch_expression(NodeId node, std::optional<Register> to) {
  const Temporaries scope(*this);
  const NodeId tried = tree().first(node);
  const std::size_t begin = here();
  std::optional<Register> value;
  if (to) {
    value = allocate();
    into(tried, *value);
  } else {
    expressions().drop(tried);
  }
  const std::size_t end = here();
  if (to) emit(Opcode::Take, *to, *value);
  const std::size_t done = emit_jump(Opcode::Jump);
  const Register caught = allocate();
  add_handler(begin, end, here(), caught);
  if (facts(node).target.kind == TargetKind::Local) set_variable(facts(node).target.index, caught);
  const NodeId handler = tree().next(tried);
  statements().block(handler, to);
  if (to) expressions().narrow(handler, *to);
  land(done);
}

std::vector<std::size_t> ControlCompiler::condition(NodeId node) {
  std::vector<std::size_t> fails;
  if (tree().kind(node) == NodeKind::LetCondition) {
    const NodeId target = tree().first(node);
    const Register value = allocate();
    into(tree().next(target), value);
    patterns().pattern(target, value, fails);
    return fails;
  }
  const Temporaries scope(*this);
  const Register value = operand(node);
  fails.push_back(emit_jump(Opcode::JumpUnless, value));
  return fails;
}

void ControlCompiler::while_loop(NodeId node) {
  const Temporaries scope(*this);
  const std::size_t start = here();
  const NodeId head = tree().first(node);
  const std::vector<std::size_t> fails = condition(head);
  exits().begin_loop();
  statements().block(tree().next(head), std::nullopt);
  const Loop loop = exits().end_loop();
  for (const std::size_t jump : loop.continues) land_at(jump, start);
  land_at(emit_jump(Opcode::Jump), start);
  land_all(fails);
  land_all(loop.breaks);
}

}  // namespace tenon::compiler
