// The Kripke structure of a `pursue`: what each action's `ensures` says of each action's `requires` and of the goal.

#include "types/plan.h"

#include <algorithm>
#include <map>

#include "diagnostics/kinds.h"
#include "syntax/literals.h"

namespace tenon::types {

using syntax::NodeId;
using syntax::NodeKind;

namespace {

/// What is known of a state.
struct StateFacts {
  TypeId type;
  Condition computed;
  std::vector<std::string> texts;  ///< plain ones that a judge has found to hold
  std::vector<std::string> given;  ///< all that is ensured, in words
};

/// What is asked of a state.
struct Demand {
  std::string words;
  bool is_judged = false;
  bool is_plain = true;
  Condition computed;
};

class Planner {
 public:
  Planner(const CheckedProgram& program, ModuleId module, NodeId node, const PlanVerdicts& verdicts)
      : program_(program),
        module_id_(module),
        module_(program.modules[module.index]),
        tree_(*module_.tree),
        pursuit_(module_.pursuits.at(node.index)),
        verdicts_(verdicts) {
    plan_.module = module;
    plan_.node = node;
  }

  PursuitPlan run() {
    const NodeId goal = tree_.first(plan_.node);
    const NodeId start = tree_.next(goal);
    plan_.goal_span = tree_.span(goal);
    plan_.start_type = program_.types.describe(module_.facts_of(start).type);
    plan_.goal_type = program_.types.describe(pursuit_.type);
    states_.push_back(facts_of_start(start));
    std::vector<std::vector<Demand>> wanted;
    for (const NodeId action : pursuit_.actions) {
      const FunctionDeclaration* const callee = callee_of(action);
      wanted.push_back(callee == nullptr ? std::vector<Demand>{} : required_by(*callee, hole_of(action)));
      StateFacts given = callee == nullptr ? StateFacts{} : ensured_by(*callee);
      given.type = module_.facts_of(action).type;
      given.computed = given.computed && Condition(program_.types, given.type);
      add_action(action, given.type);
      states_.push_back(std::move(given));
    }
    wanted.push_back({goal_of(goal)});
    plan_.goal = wanted.back().front().words;
    for (std::uint32_t from = 0; from < states_.size(); ++from) {
      for (std::uint32_t to = 0; to < wanted.size(); ++to) add_edge(from, to, wanted[to]);
    }
    mark_reachable();
    find_missing(wanted);
    find_known();
    return std::move(plan_);
  }

 private:
  /// Null for an extern without a contract.
  [[nodiscard]] const FunctionDeclaration* callee_of(NodeId call) const {
    const Target& target = module_.facts_of(call).target;
    FunctionId id;
    if (target.kind == TargetKind::Function) id = FunctionId{target.index};
    if (target.kind == TargetKind::Extern) id = program_.externs[target.index].wrapper;
    return id.exists() ? &program_.functions[id.index] : nullptr;
  }

  [[nodiscard]] std::vector<NodeId> arguments_of(NodeId call) const {
    return tree_.children(tree_.find_child(call, NodeKind::Arguments));
  }

  /// The position of the state among the parameters.
  [[nodiscard]] std::size_t hole_of(NodeId call) const {
    const std::vector<NodeId> arguments = arguments_of(call);
    const auto hole = std::find_if(arguments.begin(), arguments.end(),
                                   [&](NodeId argument) { return tree_.kind(argument) == NodeKind::HoleExpression; });
    return static_cast<std::size_t>(hole - arguments.begin());
  }

  void add_action(NodeId call, TypeId gives) {
    PlannedAction action;
    action.name = name_of(call);
    if (const std::uint32_t same = ++names_[action.name]; same > 1) action.name += "_" + std::to_string(same);
    action.takes = program_.types.describe(module_.facts_of(arguments_of(call)[hole_of(call)]).type);
    action.gives = program_.types.describe(gives);
    action.span = tree_.span(call);
    plan_.actions.push_back(std::move(action));
  }

  [[nodiscard]] std::string name_of(NodeId call) const {
    const Target& target = module_.facts_of(call).target;
    return target.kind == TargetKind::Extern ? program_.externs[target.index].name
                                             : program_.functions[target.index].name;
  }

  /// What holds of the value that the function gives.
  [[nodiscard]] StateFacts ensured_by(const FunctionDeclaration& function) const {
    StateFacts state;
    for (const Contract& contract : function.contracts) {
      if (contract.kind == ContractKind::Requires) continue;
      if (contract.is_judged) {
        const auto words = words_of(function.module, contract.expression);
        if (words.is_plain) state.texts.push_back(words.words);
        state.given.push_back(words.words);
      } else {
        const bool has_words = contract.words.exists() && words_of(function.module, contract.words).is_plain;
        state.given.push_back(
            has_words ? words_of(function.module, contract.words).words
                      : std::string(program_.modules[function.module.index].tree->text(contract.expression)));
        state.computed = state.computed && Condition(program_, function.module, contract.expression, contract.result);
      }
    }
    return state;
  }

  /// A literal is what it is; a call gives what its function ensures.
  [[nodiscard]] StateFacts facts_of_start(NodeId start) const {
    StateFacts state;
    if (tree_.kind(start) == NodeKind::CallExpression) {
      const TargetKind target = module_.facts_of(start).target.kind;
      const bool is_call = target == TargetKind::Function || target == TargetKind::Extern;
      if (const FunctionDeclaration* const callee = is_call ? callee_of(start) : nullptr;
          callee != nullptr && callee->role != FunctionRole::AgentRun) {
        state = ensured_by(*callee);
      }
    }
    state.type = module_.facts_of(start).type;
    state.computed =
        state.computed && Condition(program_.types, state.type) && Condition::of_literal(program_, module_id_, start);
    return state;
  }

  [[nodiscard]] std::vector<Demand> required_by(const FunctionDeclaration& function, std::size_t parameter) const {
    std::vector<Demand> all;
    for (const Contract& contract : function.contracts) {
      if (contract.kind != ContractKind::Requires) continue;
      if (contract.is_judged) {
        all.push_back(words_of(function.module, contract.expression));
        continue;
      }
      const syntax::SyntaxTree& tree = *program_.modules[function.module.index].tree;
      Demand wanted;
      wanted.words = std::string(tree.text(contract.expression));
      wanted.computed = Condition(program_, function.module, contract.expression, parameter_local(function, parameter));
      all.push_back(std::move(wanted));
    }
    return all;
  }

  /// The variable of a parameter; absent for one without a name.
  [[nodiscard]] LocalId parameter_local(const FunctionDeclaration& function, std::size_t parameter) const {
    if (parameter >= function.parameters.size()) return {};
    const source::Span span = function.parameters[parameter].span;
    for (std::uint32_t at = 0; at < program_.locals.size(); ++at) {
      if (program_.locals[at].span == span && program_.locals[at].name == function.parameters[parameter].name) {
        return LocalId{at};
      }
    }
    return {};
  }

  [[nodiscard]] Demand words_of(ModuleId module, NodeId text) const {
    const syntax::SyntaxTree& tree = *program_.modules[module.index].tree;
    Demand wanted;
    wanted.is_judged = true;
    auto plain = tree.kind(text) == NodeKind::StringExpression ? syntax::plain_string(tree, text) : std::nullopt;
    wanted.is_plain = plain.has_value();
    wanted.words = plain ? std::move(*plain) : std::string(tree.text(text));
    return wanted;
  }

  [[nodiscard]] Demand goal_of(NodeId goal) const {
    if (tree_.kind(goal) != NodeKind::ClosureExpression) return words_of(module_id_, goal);
    Demand wanted;
    wanted.words = std::string(tree_.text(goal));
    const std::vector<NodeId> parts = tree_.children(goal);
    const source::Span bound = tree_.main_span(parts.front());
    LocalId subject;
    for (std::uint32_t at = 0; at < program_.locals.size(); ++at) {
      if (program_.locals[at].span == bound) subject = LocalId{at};
    }
    wanted.computed = Condition(program_, module_id_, parts.back(), subject);
    return wanted;
  }

  void add_edge(std::uint32_t from, std::uint32_t to, const std::vector<Demand>& wanted) {
    const bool is_goal = to == plan_.actions.size();
    if (is_goal && from == 0) return;  // nobody asks whether it is reached before the first step
    PlanEdge edge{from, to, is_goal ? pursuit_.may_reach[from - 1] : pursuit_.takes[to][from], {}};
    for (const Demand& one : wanted) {
      if (edge.fits) edge.requirements.push_back(compare(states_[from], one));
    }
    plan_.edges.push_back(std::move(edge));
  }

  [[nodiscard]] PlannedRequirement compare(const StateFacts& state, const Demand& wanted) const {
    PlannedRequirement found{wanted.words, wanted.is_judged, wanted.is_plain, Relation::Open, DecidedBy::Run, {}, {}};
    if (!wanted.is_judged) {
      found.relation = relate(state.computed, wanted.computed);
      if (found.relation != Relation::Open) found.by = DecidedBy::Checker;
      return found;
    }
    if (!wanted.is_plain) return found;
    if (std::find(state.texts.begin(), state.texts.end(), wanted.words) != state.texts.end()) {
      found.relation = Relation::Entails;
      found.by = DecidedBy::Words;
      return found;
    }
    if (state.given.empty()) return found;
    found.question = EntailmentQuestion{program_.types.describe(state.type), state.given, wanted.words};
    const auto verdict = verdicts_.find(found.question->key());
    found.by = verdict == verdicts_.end() ? DecidedBy::None : DecidedBy::Model;
    if (verdict != verdicts_.end()) {
      found.relation = verdict->second.relation;
      found.reason = verdict->second.reason;
    }
    return found;
  }

  void mark_reachable() {
    std::vector<std::uint32_t> open{0};
    while (!open.empty()) {
      const std::uint32_t state = open.back();
      open.pop_back();
      for (const PlanEdge& edge : plan_.edges) {
        if (edge.from != state || edge.to == plan_.actions.size() || edge.is_closed()) continue;
        PlannedAction& action = plan_.actions[edge.to];
        if (action.is_reachable) continue;
        action.is_reachable = true;
        open.push_back(edge.to + 1);
      }
    }
  }

  void find_missing(const std::vector<std::vector<Demand>>& wanted) {
    for (std::uint32_t to = 0; to < wanted.size(); ++to) {
      for (std::size_t at = 0; at < wanted[to].size(); ++at) {
        const bool is_given = std::any_of(plan_.edges.begin(), plan_.edges.end(), [&](const PlanEdge& edge) {
          return edge.to == to && edge.fits && edge.requirements[at].relation == Relation::Entails;
        });
        if (!is_given) plan_.missing.push_back({to, wanted[to][at].words});
      }
    }
  }

  void find_known() {
    for (const StateFacts& state : states_) plan_.known.push_back(state.texts);
    plan_.gives_goal.assign(plan_.actions.size(), false);
    for (const PlanEdge& edge : plan_.edges) {
      const bool is_goal = edge.to == plan_.actions.size();
      for (const PlannedRequirement& requirement : edge.requirements) {
        if (!requirement.is_judged || requirement.relation != Relation::Entails) continue;
        // Whether the goal is reached is left to a judge of the value, unless one has just said so.
        if (is_goal) {
          plan_.gives_goal[edge.from - 1] = requirement.by == DecidedBy::Words;
          continue;
        }
        std::vector<std::string>& known = plan_.known[edge.from];
        if (std::find(known.begin(), known.end(), requirement.words) == known.end()) known.push_back(requirement.words);
      }
    }
  }

  const CheckedProgram& program_;
  ModuleId module_id_;
  const Module& module_;
  const syntax::SyntaxTree& tree_;
  const Pursuit& pursuit_;
  const PlanVerdicts& verdicts_;
  PursuitPlan plan_;
  std::vector<StateFacts> states_;
  std::map<std::string, std::uint32_t> names_;  ///< how many actions there are of that name
};

}  // namespace

bool PlanEdge::is_closed() const {
  return !fits || std::any_of(requirements.begin(), requirements.end(), [](const PlannedRequirement& requirement) {
    return requirement.relation == Relation::Contradicts;
  });
}

bool PlanEdge::is_certain() const {
  return fits && std::all_of(requirements.begin(), requirements.end(), [](const PlannedRequirement& requirement) {
           return requirement.relation == Relation::Entails;
         });
}

DecidedBy PlanEdge::decided_by() const {
  if (!fits) return DecidedBy::Types;
  DecidedBy by = DecidedBy::Types;
  for (const PlannedRequirement& requirement : requirements) {
    if (requirement.relation == Relation::Contradicts) return requirement.by;
    // Nobody is weaker than a run, which is weaker than anything that has been decided.
    if (by == DecidedBy::None || requirement.by == DecidedBy::None) {
      by = DecidedBy::None;
    } else {
      by = std::max(by, requirement.relation == Relation::Open ? DecidedBy::Run : requirement.by);
    }
  }
  return by;
}

bool PursuitPlan::is_goal_entailed() const {
  return std::any_of(edges.begin(), edges.end(),
                     [&](const PlanEdge& edge) { return edge.to == actions.size() && edge.is_certain(); });
}

bool PursuitPlan::is_goal_undecided() const {
  return std::any_of(edges.begin(), edges.end(), [&](const PlanEdge& edge) {
    return edge.to == actions.size() && edge.fits && edge.decided_by() == DecidedBy::None;
  });
}

PursuitPlan make_plan(const CheckedProgram& program, ModuleId module, NodeId pursue, const PlanVerdicts& verdicts) {
  return Planner(program, module, pursue, verdicts).run();
}

std::vector<PursuitPlan> make_plans(const CheckedProgram& program, const PlanVerdicts& verdicts) {
  std::vector<PursuitPlan> plans;
  for (std::uint32_t at = 0; at < program.modules.size(); ++at) {
    const Module& module = program.modules[at];
    std::vector<NodeId> nodes;
    for (const auto& [node, pursuit] : module.pursuits) nodes.push_back(NodeId{node});
    std::sort(nodes.begin(), nodes.end(), [&](NodeId left, NodeId right) {
      return module.tree->span(left).offset < module.tree->span(right).offset;
    });
    for (const NodeId node : nodes) plans.push_back(make_plan(program, ModuleId{at}, node, verdicts));
  }
  return plans;
}

void warn_of_actions(const CheckedProgram& program, diagnostics::Diagnostics& diagnostics) {
  for (const PursuitPlan& plan : make_plans(program, program.verdicts)) {
    for (const PlannedAction& action : plan.actions) {
      if (!action.is_reachable) diagnostics.report(diagnostics::ActionNeverEnabled, action.span, action.name);
    }
  }
}

void warn_of_goal(const PursuitPlan& plan, diagnostics::Diagnostics& diagnostics) {
  if (plan.is_goal_entailed() || plan.is_goal_undecided()) return;
  diagnostics.report(diagnostics::GoalNeverEntailed, plan.goal_span, plan.goal)
      .hint("where an action ensures the goal, a run that takes it has reached what is pursued");
}

std::string_view decider_name(DecidedBy by) {
  switch (by) {
    case DecidedBy::Types:
      return "types";
    case DecidedBy::Words:
      return "words";
    case DecidedBy::Checker:
      return "checker";
    case DecidedBy::Model:
      return "model";
    case DecidedBy::Run:
      return "run";
    case DecidedBy::None:
      break;
  }
  return "nobody";
}

}  // namespace tenon::types
