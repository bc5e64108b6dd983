// The Kripke structure of a `pursue`: what each action's `ensures` says of each action's `requires` and of the goal.

#include "types/plan/plan.h"

#include <algorithm>

#include "diagnostics/kinds.h"
#include "types/plan/contract_words.h"
#include "types/plan/plan_definitions.h"

namespace tenon::types {

using syntax::NodeId;
using syntax::NodeKind;

namespace {

/// What is known of a state.
struct StateFacts {
  TypeId type;
  Condition computed;
  std::vector<std::string> keys;         ///< of texts that a judge has found to hold
  std::vector<std::string> given;        ///< all that is ensured, in words
  std::vector<std::string> definitions;  ///< of its type, and of the functions that are called in these
};

/// What is asked of a state.
struct Demand {
  std::string words;
  bool is_judged = false;
  std::string key;
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
      const std::size_t hole = hole_of(action);
      const CallArguments arguments = arguments_in(action, callee);
      wanted.push_back(callee == nullptr ? std::vector<Demand>{} : required_by(*callee, hole, arguments));
      StateFacts given = callee == nullptr ? StateFacts{} : ensured_by(*callee, hole, arguments);
      given.type = module_.facts_of(action).type;
      given.computed = given.computed && Condition(program_.types, given.type);
      add_definitions_of_type(given);
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
    action.name = pursuit_.names[plan_.actions.size()];
    action.takes = program_.types.describe(module_.facts_of(arguments_of(call)[hole_of(call)]).type);
    action.gives = program_.types.describe(gives);
    action.span = tree_.span(call);
    plan_.actions.push_back(std::move(action));
  }

  /// What the call gives for its callee's parameters; each call has a number of its own.
  [[nodiscard]] CallArguments arguments_in(NodeId call, const FunctionDeclaration* callee) {
    CallArguments given{next_call_++, {}};
    const std::vector<NodeId> arguments = arguments_of(call);
    for (std::size_t at = 0; callee != nullptr && at < arguments.size(); ++at) {
      const LocalId local = parameter_local(program_, *callee, at);
      auto constant = constant_of(program_, module_id_, arguments[at]);
      if (local.exists() && constant) given.constants.emplace(local.index, std::move(*constant));
    }
    return given;
  }

  /// What is known about the call's result; `state` is the position of the argument that it works on.
  [[nodiscard]] StateFacts ensured_by(const FunctionDeclaration& function, std::optional<std::size_t> state,
                                      const CallArguments& given) const {
    StateFacts facts;
    for (const Contract& contract : function.contracts) {
      if (contract.kind == ContractKind::Requires) continue;
      if (contract.is_judged) {
        const ContractWords text = words_in_call(program_, function, contract.expression, state, given);
        if (text.key) facts.keys.push_back(*text.key);
        facts.given.push_back(text.words);
        continue;
      }
      const bool has_words =
          contract.words.exists() && words_in_call(program_, function, contract.words, state, given).is_plain;
      if (has_words) {
        facts.given.push_back(words_in_call(program_, function, contract.words, state, given).words);
      } else {
        facts.given.push_back(words_of_expression(program_, function, contract.expression, given));
        for (std::string& one : definitions_of_calls(program_, function.module, contract.expression)) {
          const bool is_new =
              std::find(facts.definitions.begin(), facts.definitions.end(), one) == facts.definitions.end();
          if (is_new) facts.definitions.push_back(std::move(one));
        }
      }
      facts.computed =
          facts.computed && Condition(program_, function.module, contract.expression, contract.result, given);
    }
    return facts;
  }

  /// Adds them before those of functions, if a model could be asked about the state.
  void add_definitions_of_type(StateFacts& state) const {
    if (state.given.empty()) return;
    std::vector<std::string> all = definitions_of_type(program_, state.type);
    all.insert(all.end(), state.definitions.begin(), state.definitions.end());
    state.definitions = std::move(all);
  }

  /// What is known about a literal, or about the result of a call: what its function ensures.
  [[nodiscard]] StateFacts facts_of_start(NodeId start) {
    StateFacts state;
    if (tree_.kind(start) == NodeKind::CallExpression) {
      const TargetKind target = module_.facts_of(start).target.kind;
      const bool is_call = target == TargetKind::Function || target == TargetKind::Extern;
      if (const FunctionDeclaration* const callee = is_call ? callee_of(start) : nullptr;
          callee != nullptr && callee->role != FunctionRole::AgentRun) {
        state = ensured_by(*callee, only_argument(*callee), arguments_in(start, callee));
      }
    }
    state.type = module_.facts_of(start).type;
    state.computed =
        state.computed && Condition(program_.types, state.type) && Condition::of_value(program_, module_id_, start);
    add_definitions_of_type(state);
    return state;
  }

  /// The parameter that is not a context, if there is exactly one.
  [[nodiscard]] static std::optional<std::size_t> only_argument(const FunctionDeclaration& function) {
    std::optional<std::size_t> found;
    for (std::size_t at = 0; at < function.parameters.size(); ++at) {
      if (function.parameters[at].type == TypeTable::context) continue;
      if (found) return std::nullopt;
      found = at;
    }
    return found;
  }

  [[nodiscard]] std::vector<Demand> required_by(const FunctionDeclaration& function, std::size_t parameter,
                                                const CallArguments& given) const {
    std::vector<Demand> all;
    for (const Contract& contract : function.contracts) {
      if (contract.kind != ContractKind::Requires) continue;
      if (contract.is_judged) {
        all.push_back(judged(words_in_call(program_, function, contract.expression, parameter, given)));
        continue;
      }
      const syntax::SyntaxTree& tree = *program_.modules[function.module.index].tree;
      Demand wanted;
      wanted.words = std::string(tree.text(contract.expression));
      wanted.computed = Condition(program_, function.module, contract.expression,
                                  parameter_local(program_, function, parameter), given);
      all.push_back(std::move(wanted));
    }
    return all;
  }

  [[nodiscard]] static Demand judged(ContractWords text) {
    return {std::move(text.words), true, std::move(text.key).value_or(""), {}};
  }

  [[nodiscard]] Demand goal_of(NodeId goal) const {
    if (tree_.kind(goal) != NodeKind::ClosureExpression) return judged(words_of_text(program_, module_id_, goal));
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
    // A judged goal is not checked before the first step.
    if (is_goal && from == 0 && (wanted.front().is_judged || !pursuit_.may_start_there)) return;
    const bool fits = !is_goal ? pursuit_.takes[to][from] : from == 0 || pursuit_.may_reach[from - 1];
    PlanEdge edge{from, to, fits, {}};
    for (const Demand& one : wanted) {
      if (edge.fits) edge.requirements.push_back(compare(states_[from], one));
    }
    plan_.edges.push_back(std::move(edge));
  }

  [[nodiscard]] PlannedRequirement compare(const StateFacts& state, const Demand& wanted) const {
    PlannedRequirement found{wanted.words, wanted.is_judged, wanted.key, Relation::Open, DecidedBy::Run, {}, {}};
    if (!wanted.is_judged) {
      found.relation = relate(state.computed, wanted.computed);
      if (found.relation != Relation::Open) found.by = DecidedBy::Checker;
      return found;
    }
    if (wanted.key.empty()) return found;
    if (std::find(state.keys.begin(), state.keys.end(), wanted.key) != state.keys.end()) {
      found.relation = Relation::Entails;
      found.by = DecidedBy::Words;
      return found;
    }
    if (state.given.empty()) return found;
    found.question =
        EntailmentQuestion{program_.types.describe(state.type), state.given, wanted.words, state.definitions};
    const auto verdict = verdicts_.find(found.question->key());
    found.by = verdict == verdicts_.end() ? DecidedBy::Undecided : DecidedBy::Model;
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
    plan_.known.resize(states_.size());
    plan_.known[0] = states_[0].keys;
    plan_.gives_goal.assign(plan_.actions.size(), false);
    for (const PlanEdge& edge : plan_.edges) {
      const bool is_goal = edge.to == plan_.actions.size();
      for (const PlannedRequirement& requirement : edge.requirements) {
        if (!requirement.is_judged || requirement.relation != Relation::Entails) continue;
        // Whether the goal is reached is left to a judge of the value, unless one has just said so.
        if (is_goal) {
          if (edge.from > 0) plan_.gives_goal[edge.from - 1] = requirement.by == DecidedBy::Words;
          continue;
        }
        std::vector<std::string>& known = plan_.known[edge.from];
        if (std::find(known.begin(), known.end(), requirement.key) == known.end()) known.push_back(requirement.key);
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
  std::uint32_t next_call_ = 1;  ///< 0 is the goal, which is not part of a call
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
    // Undecided is weaker than a run, which is weaker than anything that has been decided.
    if (by == DecidedBy::Undecided || requirement.by == DecidedBy::Undecided) {
      by = DecidedBy::Undecided;
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

bool PursuitPlan::is_goal_impossible() const {
  return std::none_of(edges.begin(), edges.end(),
                      [&](const PlanEdge& edge) { return edge.to == actions.size() && !edge.is_closed(); });
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

void warn_of_plans(const CheckedProgram& program, diagnostics::Diagnostics& diagnostics) {
  for (const PursuitPlan& plan : make_plans(program, program.verdicts)) {
    for (const PlannedAction& action : plan.actions) {
      if (!action.is_reachable) diagnostics.report(diagnostics::ActionNeverEnabled, action.span, action.name);
    }
    if (!plan.is_goal_impossible()) continue;
    auto& report = diagnostics.report(diagnostics::GoalImpossible, plan.goal_span, plan.goal);
    for (const PlanEdge& edge : plan.edges) {
      if (edge.to != plan.actions.size() || !edge.fits || edge.from == 0) continue;
      const PlannedAction& action = plan.actions[edge.from - 1];
      report.label(action.span, "its result always violates the goal");
    }
    report.hint("change the goal or an `ensures`, or add an action whose value can be the goal");
  }
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
    case DecidedBy::Undecided:
      break;
  }
  return "undecided";
}

}  // namespace tenon::types
