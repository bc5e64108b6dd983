#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/code_builder.h"
#include "types/plan/plan.h"

namespace tenon::compiler {

/// An action.
struct Action {
  syntax::NodeId node;
  std::uint32_t number = 0;
  types::FunctionId function;  ///< absent for an extern without a contract
  std::vector<types::TypeId> type_arguments;
  std::optional<std::uint32_t> budget;  ///< index into Program::budgets
  CallShape shape;
  Register given = 0;  ///< its arguments, in consecutive registers; () in place of the state
  std::size_t hole = 0;
  Register about = 0;       ///< a text: its other arguments, `language = German, tone = dry`; empty if there are none
  std::string documented;   ///< its function's name and doc comment
  bool has_others = false;  ///< it has arguments that are shown
  bool has_guard = false;   ///< it has `requires`
  bool has_judged_guard = false;  ///< one of them is judged
  bool has_judged = false;        ///< it has an `ensures` or `check` that is judged
};

/// The variables of the loop.
struct PursuitCode {
  const types::Pursuit& facts;
  types::KnownTexts texts;
  std::vector<Action> actions = {};
  syntax::NodeId goal;
  Register goal_text = 0;  ///< the goal as text
  Register limit = 0;      ///< of steps
  std::optional<Register> width =
      std::nullopt;       ///< the number of states that are kept; none: one, whose action is chosen
  Register value = 0;     ///< the current state
  Register tag = 0;       ///< the action that produced it: see types::Pursuit
  Register known = 0;     ///< list of the keys of texts that are known to be satisfied by it
  Register ensured = 0;   ///< the ones of these that a judge has just confirmed
  Register steps = 0;     ///< the number of steps so far
  Register blocked = 0;   ///< list of the reasons why each action was not available
  Register is_spent = 0;  ///< whether the steps are used up
  bool is_judged = false;
  std::vector<types::TypeId> types = {};  ///< by tag: of the states, without refinements

  /// Whether several actions accept some state.
  [[nodiscard]] bool may_choose() const {
    for (std::size_t tag = 0; tag < types.size(); ++tag) {
      const auto takes_tag = [&](const std::vector<bool>& takes) { return takes[tag]; };
      if (std::ranges::count_if(facts.takes, takes_tag) > 1) return true;
    }
    return false;
  }

  /// Equal values of the same class are the same state: they have the same type, and the same actions accept them. The
  /// class is the first of their tags.
  [[nodiscard]] std::uint32_t class_of(std::uint32_t tag) const {
    const auto is_goal = [&](std::uint32_t of) { return of == 0 ? facts.may_start_there : facts.may_reach[of - 1]; };
    const auto is_same = [&](std::uint32_t other) {
      return types[other] == types[tag] && is_goal(other) == is_goal(tag) &&
             std::all_of(facts.takes.begin(), facts.takes.end(),
                         [&](const std::vector<bool>& takes) { return takes[other] == takes[tag]; });
    };
    std::uint32_t first = 0;
    while (!is_same(first)) ++first;
    return first;
  }
};

/// `pursue`: a loop over states, or a search.
class PursueCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  void pursue(NodeId node, Register to);

 private:
  std::vector<Action> actions_of(NodeId node);
  void describe_action(Action& action, const std::string& name);
  std::uint32_t action_part(const Action& action, Part part);
  void find_enabled(const PursuitCode& code, Register enabled);
  std::uint32_t add_choice(const Action& action);
  void choose_action(const PursuitCode& code, Register enabled, Register chosen);
  void take_action(const PursuitCode& code, const Action& action);
  void load_known(const PursuitCode& code, std::uint32_t tag);
  Register is_goal(const PursuitCode& code, const Action* by);
  std::vector<std::size_t> walk(const PursuitCode& code);
  void describe_action_failure(const Action& action, Register caught, Register to);
  void switch_over_actions(const PursuitCode& code, Register chosen, const std::function<void(const Action&)>& write);
  std::vector<std::size_t> search(const PursuitCode& code, NodeId node);
  void name_state(std::string_view what, NodeId node, Register at);
  void list_steps(const PursuitCode& code, Register states, Register work);
  void try_steps(const PursuitCode& code, Register work);
  void list_found(const PursuitCode& code, Register results, Register visited, Register found,
                  std::vector<std::size_t>& reached);
  void make_visited(Register state_class, Register value, Register to);
  std::uint32_t pursuit_function(const std::string& name);
  types::TypeId pursuit_type(const std::string& name);
};

}  // namespace tenon::compiler
