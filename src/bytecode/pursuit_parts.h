#pragma once

#include "bytecode/compiler.h"
#include "types/plan.h"

/// What compile_pursue.cpp and compile_search.cpp share. Internal to this folder.
namespace tenon::bytecode {

/// One that may be taken.
struct FunctionCompiler::Action {
  NodeId node;
  std::uint32_t number = 0;
  types::FunctionId function;  ///< absent for an extern without a contract
  std::vector<types::TypeId> type_arguments;
  std::optional<std::uint32_t> budget;  ///< index into Program::budgets
  CallShape shape;
  Register given = 0;  ///< its arguments, in a row; where the state goes, ()
  std::size_t hole = 0;
  Register about = 0;       ///< a text: its other arguments, `language = German, tone = dry`; empty without any
  std::string documented;   ///< its function's name and comment
  bool has_others = false;  ///< arguments that are shown
  bool has_guard = false;   ///< `requires`
  bool has_judged = false;  ///< an `ensures` or `check` that is judged
};

/// The loop's variables.
struct FunctionCompiler::Chase {
  const types::Pursuit& facts;
  types::PursuitPlan plan;
  std::vector<Action> actions = {};
  NodeId goal;
  Register goal_text = 0;  ///< the goal in words
  Register limit = 0;      ///< of steps
  std::optional<Register> width =
      std::nullopt;       ///< of states that are gone on with at once; none: one, which is chosen
  Register value = 0;     ///< the present state
  Register tag = 0;       ///< what gave it: see types::Pursuit
  Register known = 0;     ///< list of the keys of what is known to hold of it
  Register ensured = 0;   ///< of these the ones that a judge has just confirmed
  Register steps = 0;     ///< how many have been done
  Register blocked = 0;   ///< list of what kept each action away
  Register is_spent = 0;  ///< whether the steps are used up
  bool is_judged = false;
};

}  // namespace tenon::bytecode
