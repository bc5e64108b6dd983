#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "types/checked_program.h"
#include "types/conditions.h"
#include "types/plan_verdicts.h"

namespace tenon::types {

/// How a relation between what is ensured and what is required was found.
enum class DecidedBy : std::uint8_t {
  None,     ///< it was not: a model could tell, and none has been asked about these words
  Types,    ///< by what can be a state at all
  Words,    ///< both say the same
  Checker,  ///< by comparing expressions
  Model,    ///< a verdict in the file beside the program
  Run,      ///< only a run can tell: it is computed there, or its words depend on values
};

/// What must hold for a step, or of the goal, and what is known of that in one state.
struct PlannedRequirement {
  std::string words;       ///< an expression as it is written, or the text that is judged
  bool is_judged = false;  ///< a text
  std::string key;         ///< of a text, contract_words.h; empty where only a run knows it
  Relation relation = Relation::Open;
  DecidedBy by = DecidedBy::Run;
  std::optional<EntailmentQuestion> question;  ///< where a model could tell, or has told
  std::string reason;                          ///< the model's
};

/// States are numbered as Pursuit has it: 0 is the one that a `pursue` begins with, n + 1 what action n gives.
struct PlanEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;                          ///< an action; the number of actions for the goal
  bool fits = true;                              ///< whether the action takes such a state, or the goal can be one
  std::vector<PlannedRequirement> requirements;  ///< of the action or the goal; empty where it does not fit

  /// Can never be taken.
  [[nodiscard]] bool is_closed() const;
  /// Can always be taken.
  [[nodiscard]] bool is_certain() const;
  /// How the edge was decided as a whole: the weakest of the means, or what closes it.
  [[nodiscard]] DecidedBy decided_by() const;
};

struct PlannedAction {
  std::string name;
  std::string takes, gives;  ///< types
  source::Span span;
  bool is_reachable = false;  ///< a path of edges that are not closed leads to it
};

/// A requirement that no state is known to satisfy, whatever led to it.
struct MissingAction {
  std::uint32_t action = 0;  ///< whose; the number of actions for the goal
  std::string words;
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
  /// By state the keys (contract_words.h) of texts that a judge need not be asked about, as far as they are known
  /// before a run: what follows from what has been found to hold of it.
  std::vector<std::vector<std::string>> known;
  /// By action: whether what it gives is the goal without a question, since it was just found to be, in the same words.
  std::vector<bool> gives_goal;

  [[nodiscard]] bool is_goal_entailed() const;
  /// Whether a model could still tell something of the goal.
  [[nodiscard]] bool is_goal_undecided() const;
};

/// Of a `pursue` in a program without errors. What models have said counts when it stands in `verdicts`.
[[nodiscard]] PursuitPlan make_plan(const CheckedProgram& program, ModuleId module, syntax::NodeId pursue,
                                    const PlanVerdicts& verdicts);
/// Of all of the program, in the order of its modules and their text; the standard library's apart.
[[nodiscard]] std::vector<PursuitPlan> make_plans(const CheckedProgram& program, const PlanVerdicts& verdicts);

/// Tells of actions that no path leads to.
void warn_of_actions(const CheckedProgram& program, diagnostics::Diagnostics& diagnostics);
/// Tells when nothing that is ensured is, or entails, the goal; not while a model might find that it does.
void warn_of_goal(const PursuitPlan& plan, diagnostics::Diagnostics& diagnostics);

/// `types`, `words`, `checker`, `model`, `run`; `nobody` where it was not decided.
[[nodiscard]] std::string_view decider_name(DecidedBy by);

}  // namespace tenon::types
