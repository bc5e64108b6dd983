#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "types/checked_program.h"
#include "types/plan/conditions.h"
#include "types/plan/plan_verdicts.h"

namespace tenon::types {

/// How a relation between what is ensured and what is required was determined.
enum class DecidedBy : std::uint8_t {
  Undecided,  ///< a model could judge these texts, and has not been asked
  Types,      ///< by the types of the states
  Words,      ///< both texts are equal
  Checker,    ///< by comparing expressions
  Model,      ///< a verdict in the file next to the program
  Run,        ///< only known in a run: it is computed there, or its text depends on values
};

/// A condition of a step or of the goal, and what is known about it in one state.
struct PlannedRequirement {
  std::string words;       ///< an expression as written, or the text that is judged
  bool is_judged = false;  ///< a text
  std::string key;         ///< of a text, contract_words.h; empty if it is only known in a run
  Relation relation = Relation::Open;
  DecidedBy by = DecidedBy::Run;
  std::optional<EntailmentQuestion> question;  ///< if a model could judge it, or has judged it
  std::string reason;                          ///< the model's
};

/// States are numbered as in Pursuit: 0 is the initial state of a `pursue`, n + 1 the value of action n.
struct PlanEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;                          ///< an action; the number of actions for the goal
  bool fits = true;                              ///< whether the action accepts such a state, or the goal can be one
  std::vector<PlannedRequirement> requirements;  ///< of the action or the goal; empty if it does not fit

  /// Can never be taken.
  [[nodiscard]] bool is_closed() const;
  /// Can always be taken.
  [[nodiscard]] bool is_certain() const;
  /// How the edge as a whole was determined: the weakest of the means, or the one that closes it.
  [[nodiscard]] DecidedBy decided_by() const;
};

struct PlannedAction {
  std::string name;
  std::string takes, gives;  ///< types
  source::Span span;
  bool is_reachable = false;  ///< there is a path of edges that are not closed
};

/// A condition that is not known to be satisfied in any state.
struct MissingAction {
  std::uint32_t action = 0;  ///< the action that it belongs to; the number of actions for the goal
  std::string words;
};

/// What need not be judged in a run, as far as known before it: what follows from texts that have been found to be
/// satisfied.
struct KnownTexts {
  std::vector<std::vector<std::string>> known;  ///< by state: keys (contract_words.h)
  /// By action: whether its value is the goal without judging it, because it was just ensured with the same text.
  std::vector<bool> gives_goal;
};

/// The Kripke structure of one `pursue`.
struct PursuitPlan {
  ModuleId module;
  syntax::NodeId node;
  std::string goal;  ///< in words
  std::string start_type, goal_type;
  source::Span goal_span;
  std::vector<PlannedAction> actions;
  std::vector<PlanEdge> edges;  ///< every pair, by `from`, then by `to`
  std::vector<MissingAction> missing;
  KnownTexts texts;

  [[nodiscard]] bool is_goal_entailed() const;
  /// Whether no state can be the goal, not even one that no path leads to.
  [[nodiscard]] bool is_goal_impossible() const;
};

/// For a `pursue` in a program without errors. The verdicts of models are taken from `verdicts`. Without verdicts it
/// takes time linear in the contracts.
[[nodiscard]] KnownTexts find_known_texts(const CheckedProgram& program, ModuleId module, syntax::NodeId pursue,
                                          const PlanVerdicts& verdicts);
/// For the entire program except the standard library, in the order of its modules and their text. Every condition is
/// compared with what is known of every state, so it takes time quadratic in the number of actions.
[[nodiscard]] std::vector<PursuitPlan> make_plans(const CheckedProgram& program, const PlanVerdicts& verdicts);

/// How much comparing the conditions of a whole program may cost, besides what its size gives: enough to compare each
/// of some 50 actions with all others.
inline constexpr std::size_t comparison_steps_min = 100'000;

/// Reports actions that no path leads to, and goals that contradict what is known of every state. Takes time linear in
/// the program: an edge that is not compared within the steps that its size gives counts as open.
void warn_of_plans(const CheckedProgram& program, diagnostics::Diagnostics& diagnostics);

/// `types`, `words`, `checker`, `model`, `run` or `undecided`.
[[nodiscard]] std::string_view decider_name(DecidedBy by);

}  // namespace tenon::types
