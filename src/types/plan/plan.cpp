// The Kripke structure of a `pursue`: what each action's `ensures` says of each action's `requires` and of the goal.

#include "types/plan/plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

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
  std::optional<bool> may_hold;          ///< whether `computed` may be true; nothing until it was asked
};

/// What is asked of a state.
struct Demand {
  std::string words;
  bool is_judged = false;
  std::string key;
  Condition computed;
};

/// What a planner is for. What is not needed for it is not read.
enum class PlanPart : std::uint8_t {
  All,     ///< every edge, with everything that is known of it
  Faults,  ///< what `check` warns of
  Texts,   ///< which texts need not be judged
};

class Planner {
 public:
  /// The conditions are compared as long as there are `steps`, which outlive this; `All` takes no steps.
  Planner(const CheckedProgram& program, ModuleId module, NodeId node, const PlanVerdicts& verdicts, PlanPart part,
          ComparisonSteps& steps)
      : program_(program),
        module_id_(module),
        module_(program.modules[module.index]),
        tree_(*module_.tree),
        pursuit_(module_.pursuits.at(node.index)),
        verdicts_(verdicts),
        part_(part),
        has_questions_(part == PlanPart::All || !verdicts.empty()),
        steps_(steps) {
    plan_.module = module;
    plan_.node = node;
    read();
  }

  PursuitPlan make_plan() {
    for (std::uint32_t from = 0; from < states_.size(); ++from) {
      for (std::uint32_t to = 0; to < wanted_.size(); ++to) {
        if (has_edge(from, to)) add_edge(from, to);
      }
    }
    mark_reachable();
    find_missing();
    plan_.texts = find_known();
    return std::move(plan_);
  }

  void warn(diagnostics::Diagnostics& diagnostics) {
    for (const StateFacts& state : states_) steps_.left += steps_for(state.computed);
    for (const std::vector<Demand>& demands : wanted_) {
      for (const Demand& demand : demands) steps_.left += steps_for(demand.computed);
    }
    const std::vector<bool> reachable = find_reachable();
    for (std::uint32_t action = 0; action < pursuit_.actions.size(); ++action) {
      if (reachable[action]) continue;
      diagnostics.report(diagnostics::ActionNeverEnabled, tree_.span(pursuit_.actions[action]), pursuit_.names[action]);
    }
    for (std::uint32_t from = 0; from < states_.size(); ++from) {
      if (has_edge(from, goal_target()) && !is_closed(from, goal_target())) return;
    }
    auto& report = diagnostics.report(diagnostics::GoalImpossible, plan_.goal_span, plan_.goal);
    for (std::uint32_t from = 1; from < states_.size(); ++from) {
      if (fits(from, goal_target()))
        report.label(tree_.span(pursuit_.actions[from - 1]), "its result always violates the goal");
    }
    report.hint("change the goal or an `ensures`, or add an action whose value can be the goal");
  }

  /// As PursuitPlan::texts.
  [[nodiscard]] KnownTexts find_known() const {
    struct Place {
      std::uint32_t to = 0;
      std::size_t at = 0;
    };
    std::unordered_map<std::string_view, std::vector<Place>> places;  // of a text's key, in order
    std::vector<Place> judged;
    for (std::uint32_t to = 0; to < goal_target(); ++to) {
      for (std::size_t at = 0; at < wanted_[to].size(); ++at) {
        const Demand& demand = wanted_[to][at];
        if (!demand.is_judged || demand.key.empty()) continue;
        places[demand.key].push_back({to, at});
        judged.push_back({to, at});
      }
    }
    KnownTexts texts;
    texts.known.resize(states_.size());
    texts.known[0] = states_[0].keys;
    texts.gives_goal.assign(goal_target(), false);
    for (std::uint32_t from = 0; from < states_.size(); ++from) {
      const StateFacts& state = states_[from];
      std::vector<std::pair<Place, std::string_view>> entailed;
      for (const std::string& key : state.keys) {
        const auto found = places.find(key);
        if (found == places.end()) continue;
        const auto place = std::find_if(found->second.begin(), found->second.end(),
                                        [&](const Place& one) { return fits(from, one.to); });
        if (place != found->second.end()) entailed.emplace_back(*place, key);
      }
      for (const Place& place : verdicts_.empty() ? std::vector<Place>() : judged) {
        const Demand& demand = wanted_[place.to][place.at];
        if (!fits(from, place.to) || compare(state, demand).relation != Relation::Entails) continue;
        entailed.emplace_back(place, demand.key);
      }
      std::stable_sort(entailed.begin(), entailed.end(), [](const auto& one, const auto& other) {
        return std::pair(one.first.to, one.first.at) < std::pair(other.first.to, other.first.at);
      });
      std::vector<std::string>& known = texts.known[from];
      std::unordered_set<std::string_view> seen;
      if (from == 0) seen.insert(state.keys.begin(), state.keys.end());
      for (const auto& [place, key] : entailed) {
        if (seen.insert(key).second) known.emplace_back(key);
      }
      // Whether the goal is reached is left to a judge of the value, unless one has just said so.
      const Demand& wanted = wanted_.back().front();
      if (from > 0 && wanted.is_judged && !wanted.key.empty() && fits(from, goal_target())) {
        texts.gives_goal[from - 1] = std::find(state.keys.begin(), state.keys.end(), wanted.key) != state.keys.end();
      }
    }
    return texts;
  }

 private:
  /// For each comparison in a condition; what was left by one condition is there for the others.
  static constexpr std::size_t steps_per_comparison = 100;

  [[nodiscard]] static std::size_t steps_for(const Condition& condition) {
    return steps_per_comparison * size_of(condition);
  }

  void read() {
    const NodeId goal = tree_.first(plan_.node);
    const NodeId start = tree_.next(goal);
    plan_.goal_span = tree_.span(goal);
    plan_.start_type = program_.types.describe(module_.facts_of(start).type);
    plan_.goal_type = program_.types.describe(pursuit_.type);
    states_.push_back(facts_of_start(start));
    for (const NodeId action : pursuit_.actions) {
      const FunctionDeclaration* const callee = callee_of(action);
      const std::size_t hole = hole_of(action);
      const CallArguments arguments = arguments_in(action, callee);
      wanted_.push_back(callee == nullptr ? std::vector<Demand>{} : required_by(*callee, hole, arguments));
      StateFacts given = callee == nullptr ? StateFacts{} : ensured_by(*callee, hole, arguments);
      given.type = module_.facts_of(action).type;
      if (part_ != PlanPart::Texts) given.computed = given.computed && refinements_of(given.type);
      add_definitions_of_type(given);
      if (part_ == PlanPart::All) add_action(action, given.type);
      states_.push_back(std::move(given));
    }
    wanted_.push_back({goal_of(goal)});
    plan_.goal = wanted_.back().front().words;
  }

  /// The number that the goal has among the targets of edges.
  [[nodiscard]] std::uint32_t goal_target() const { return static_cast<std::uint32_t>(pursuit_.actions.size()); }

  /// A judged goal is not checked before the first step.
  [[nodiscard]] bool has_edge(std::uint32_t from, std::uint32_t to) const {
    return from > 0 || to < goal_target() || (!wanted_.back().front().is_judged && pursuit_.may_start_there);
  }

  [[nodiscard]] bool fits(std::uint32_t from, std::uint32_t to) const {
    return to < goal_target() ? pursuit_.takes[to][from] : from == 0 || pursuit_.may_reach[from - 1];
  }

  /// Whether a requirement contradicts what is known of the state, as far as there are steps to find out.
  [[nodiscard]] bool is_closed(std::uint32_t from, std::uint32_t to) {
    return !fits(from, to) || std::any_of(wanted_[to].begin(), wanted_[to].end(), [&](const Demand& demand) {
      if (!demand.is_judged) return contradicts(states_[from], demand.computed);
      return !verdicts_.empty() && compare(states_[from], demand).relation == Relation::Contradicts;
    });
  }

  [[nodiscard]] bool contradicts(StateFacts& state, const Condition& wanted) {
    if (!state.may_hold) state.may_hold = may_hold(state.computed, steps_);
    return *state.may_hold && !may_hold(state.computed, wanted, steps_);
  }

  /// Most actions give a value of the same type.
  [[nodiscard]] const Condition& refinements_of(TypeId type) {
    const auto [found, is_new] = refinements_.try_emplace(type.index);
    if (is_new) found->second = Condition(program_.types, type);
    return found->second;
  }

  /// Which actions a path of edges leads to that are not closed.
  [[nodiscard]] std::vector<bool> find_reachable() {
    std::vector<bool> reachable(goal_target(), false);
    std::vector<std::uint32_t> others(goal_target());
    std::iota(others.begin(), others.end(), 0U);
    std::vector<std::uint32_t> open{0};
    for (std::size_t at = 0; at < open.size() && !others.empty(); ++at) {
      std::vector<std::uint32_t> left;
      for (const std::uint32_t to : others) {
        if (is_closed(open[at], to)) {
          left.push_back(to);
          continue;
        }
        reachable[to] = true;
        open.push_back(to + 1);
      }
      others = std::move(left);
    }
    return reachable;
  }

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
      if (has_questions_) add_words(facts, function, contract, state, given);
      if (part_ == PlanPart::Texts) continue;
      facts.computed =
          facts.computed && Condition(program_, function.module, contract.expression, contract.result, given);
    }
    return facts;
  }

  /// Adds what a condition ensures in words, and the definitions that these need.
  void add_words(StateFacts& facts, const FunctionDeclaration& function, const Contract& contract,
                 std::optional<std::size_t> state, const CallArguments& given) const {
    if (contract.words.exists()) {
      ContractWords text = words_in_call(program_, function, contract.words, state, given);
      if (text.is_plain) {
        facts.given.push_back(std::move(text.words));
        return;
      }
    }
    facts.given.push_back(words_of_expression(program_, function, contract.expression, given));
    for (std::string& one : definitions_of_calls(program_, function.module, contract.expression)) {
      const bool is_new = std::find(facts.definitions.begin(), facts.definitions.end(), one) == facts.definitions.end();
      if (is_new) facts.definitions.push_back(std::move(one));
    }
  }

  /// Adds them before those of functions, if a model could be asked about the state.
  void add_definitions_of_type(StateFacts& state) const {
    if (state.given.empty() || !has_questions_) return;
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
    if (part_ != PlanPart::Texts) {
      state.computed =
          state.computed && Condition(program_.types, state.type) && Condition::of_value(program_, module_id_, start);
    }
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
      if (part_ != PlanPart::Texts) {
        wanted.computed = Condition(program_, function.module, contract.expression,
                                    parameter_local(program_, function, parameter), given);
      }
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
    if (part_ == PlanPart::Texts) return wanted;
    const std::vector<NodeId> parts = tree_.children(goal);
    const source::Span bound = tree_.main_span(parts.front());
    LocalId subject;
    for (std::uint32_t at = 0; at < program_.locals.size(); ++at) {
      if (program_.locals[at].span == bound) subject = LocalId{at};
    }
    wanted.computed = Condition(program_, module_id_, parts.back(), subject);
    return wanted;
  }

  void add_edge(std::uint32_t from, std::uint32_t to) {
    PlanEdge edge{from, to, fits(from, to), {}};
    for (const Demand& one : wanted_[to]) {
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
    std::vector<std::vector<std::uint32_t>> ways(states_.size());  // by state, to actions
    for (const PlanEdge& edge : plan_.edges) {
      if (edge.to < goal_target() && !edge.is_closed()) ways[edge.from].push_back(edge.to);
    }
    std::vector<std::uint32_t> open{0};
    while (!open.empty()) {
      const std::uint32_t state = open.back();
      open.pop_back();
      for (const std::uint32_t to : ways[state]) {
        if (std::exchange(plan_.actions[to].is_reachable, true)) continue;
        open.push_back(to + 1);
      }
    }
  }

  void find_missing() {
    std::vector<std::vector<bool>> are_given;
    for (const std::vector<Demand>& demands : wanted_) are_given.emplace_back(demands.size(), false);
    for (const PlanEdge& edge : plan_.edges) {
      for (std::size_t at = 0; at < edge.requirements.size(); ++at) {
        if (edge.requirements[at].relation == Relation::Entails) are_given[edge.to][at] = true;
      }
    }
    for (std::uint32_t to = 0; to < wanted_.size(); ++to) {
      for (std::size_t at = 0; at < wanted_[to].size(); ++at) {
        if (!are_given[to][at]) plan_.missing.push_back({to, wanted_[to][at].words});
      }
    }
  }

  const CheckedProgram& program_;
  ModuleId module_id_;
  const Module& module_;
  const syntax::SyntaxTree& tree_;
  const Pursuit& pursuit_;
  const PlanVerdicts& verdicts_;
  const PlanPart part_;
  const bool has_questions_;  ///< whether it matters what a model would be asked
  ComparisonSteps& steps_;
  PursuitPlan plan_;
  std::vector<StateFacts> states_;
  std::vector<std::vector<Demand>> wanted_;         ///< by action, then of the goal
  std::map<std::uint32_t, Condition> refinements_;  ///< by type
  std::uint32_t next_call_ = 1;                     ///< 0 is the goal, which is not part of a call
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

namespace {

/// Each `pursue` of the program except the standard library, in the order of its modules and their text.
template <class Visit>
void visit_pursuits(const CheckedProgram& program, const Visit& visit) {
  for (std::uint32_t at = 0; at < program.modules.size(); ++at) {
    const Module& module = program.modules[at];
    std::vector<NodeId> nodes;
    for (const auto& [node, pursuit] : module.pursuits) nodes.push_back(NodeId{node});
    std::sort(nodes.begin(), nodes.end(), [&](NodeId left, NodeId right) {
      return module.tree->span(left).offset < module.tree->span(right).offset;
    });
    for (const NodeId node : nodes) visit(ModuleId{at}, node);
  }
}

}  // namespace

KnownTexts find_known_texts(const CheckedProgram& program, ModuleId module, NodeId pursue,
                            const PlanVerdicts& verdicts) {
  ComparisonSteps none{0};
  return Planner(program, module, pursue, verdicts, PlanPart::Texts, none).find_known();
}

std::vector<PursuitPlan> make_plans(const CheckedProgram& program, const PlanVerdicts& verdicts) {
  std::vector<PursuitPlan> plans;
  ComparisonSteps unlimited;
  visit_pursuits(program, [&](ModuleId module, NodeId node) {
    plans.push_back(Planner(program, module, node, verdicts, PlanPart::All, unlimited).make_plan());
  });
  return plans;
}

void warn_of_plans(const CheckedProgram& program, diagnostics::Diagnostics& diagnostics) {
  ComparisonSteps steps{comparison_steps_min};
  visit_pursuits(program, [&](ModuleId module, NodeId node) {
    Planner(program, module, node, program.verdicts, PlanPart::Faults, steps).warn(diagnostics);
  });
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
