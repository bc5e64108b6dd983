#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "bytecode/control_regions.h"
#include "bytecode/program.h"
#include "flows/flows.h"
#include "flows/transfer.h"

namespace tenon::flows {

/// A call of a function with certain inputs, distinct from those with others.
using CallId = Id<struct FlowCallTag>;

struct CallInputs {
  std::uint32_t function = 0;
  Label control;  ///< what decided that it is called
  ValueId agent_state = Values::clean;
  ValueId kept_states = Values::clean;
  std::vector<ValueId> arguments = {};
  Label spent = {};  ///< what has decided how much is spent before; of no interest unless it has a `finally`
};

struct CallFailure {
  Label label;
  ValueId agent_state = Values::clean;
  ValueId kept_states = Values::clean;
  friend bool operator==(const CallFailure&, const CallFailure&) = default;
};

struct CallReturn {
  ValueId value = Values::clean;
  ValueId agent_state = Values::clean;
  ValueId kept_states = Values::clean;
  friend bool operator==(const CallReturn&, const CallReturn&) = default;
};

/// What might have failed and has not (vm/execution/trials.h), where that is followed.
struct Doubt {
  Label label;
  bool is_after_action = false;  ///< perhaps after a call that acts
  friend bool operator==(const Doubt&, const Doubt&) = default;
};

/// What comes of a call. Absent: it does not come to that.
struct CallSummary {
  std::optional<CallReturn> returned;
  std::optional<CallFailure> failed;
  Label spent;      ///< what decided how much of the budgets around it is spent
  Doubt doubt;      ///< whose failure would be taken outside of the call
  Label questions;  ///< what decided whether a person is asked, so that the conversation has it
  friend bool operator==(const CallSummary&, const CallSummary&) = default;
};

/// An instruction before which the machine tests what must be trusted (vm/execution/trust.cpp): the labels of that.
struct SinkVisit {
  std::uint32_t function = 0;
  std::uint32_t pc = 0;
  Label control;              ///< of a call
  std::vector<Label> values;  ///< of its trusted parameters, in order; or of the one value that is tested
};

/// What a handler protects where it may be charged that nothing has failed: a trial.
struct TrialVisit {
  std::uint32_t function = 0;
  std::size_t handler = 0;
  std::map<std::uint32_t, Doubt> doubts = {};  ///< by instruction
};

/// What all analyses of a program need to know of its code.
class ProgramFacts {
 public:
  /// `program` outlives it, and passes the verifier.
  explicit ProgramFacts(const bytecode::Program& program);

  [[nodiscard]] const bytecode::Program& program() const { return program_; }
  [[nodiscard]] const bytecode::ControlRegions& regions() const { return regions_; }
  /// By instruction: its number among those to which control can come otherwise than from the one before; `UINT32_MAX`
  /// for the others.
  [[nodiscard]] const std::vector<std::uint32_t>& leaders_of(std::uint32_t function) const;
  /// Whether what has decided how much is spent shows in something: in whether a budget of the program is spent, or
  /// in the questions that a run has come to before its own was.
  [[nodiscard]] bool watches_spending() const { return watches_spending_; }
  /// Whether the function, or one that it calls, uses an agent's state.
  [[nodiscard]] bool uses_state(std::uint32_t function) const { return uses_state_[function]; }
  /// Likewise, whether it has a `finally`.
  [[nodiscard]] bool has_cleanup(std::uint32_t function) const { return has_cleanup_[function]; }

 private:
  const bytecode::Program& program_;
  bytecode::ControlRegions regions_;
  mutable std::vector<std::vector<std::uint32_t>> leaders_;
  std::vector<bool> uses_state_;
  std::vector<bool> has_cleanup_;
  bool watches_spending_;
};

/// All calls that runs of a program can come to, and what comes of each.
class ProgramAnalysis {
 public:
  /// `facts` outlive it. `traced`: as in Labels.
  ProgramAnalysis(const ProgramFacts& facts, Assumptions assumptions, std::span<const Source> traced)
      : ProgramAnalysis(facts, assumptions, Labels(traced)) {}
  /// Follows what becomes trusted instead, or also what might have failed.
  ProgramAnalysis(const ProgramFacts& facts, Assumptions assumptions, Followed followed)
      : ProgramAnalysis(facts, assumptions, Labels(followed)) {}

  /// Analyses runs of every function that can be run and the turns of every agent.
  void run();
  /// Of all calls, by place.
  [[nodiscard]] std::vector<SinkVisit> sinks() const;
  /// Of all calls, where what might have failed is followed.
  [[nodiscard]] std::vector<TrialVisit> trials() const;
  /// Whether calls of a function with different inputs were taken as one: sources may be where they cannot be.
  [[nodiscard]] bool has_widened() const { return std::ranges::any_of(widened_, &CallId::exists); }

  // Below: for the analysis of one call.

  [[nodiscard]] const bytecode::Program& program() const { return program_; }
  [[nodiscard]] const ProgramFacts& facts() const { return facts_; }
  [[nodiscard]] Labels& labels() { return labels_; }
  [[nodiscard]] const Labels& labels() const { return labels_; }
  [[nodiscard]] Values& values() { return values_; }
  [[nodiscard]] Transfer& transfer() { return transfer_; }
  /// What comes of the call, as far as it is known; `caller` is analysed again when there is more.
  [[nodiscard]] CallSummary call(CallId caller, CallInputs inputs);
  /// What is one or the other.
  [[nodiscard]] CallReturn merge(const CallReturn& a, const CallReturn& b);
  [[nodiscard]] CallFailure merge(const CallFailure& a, const CallFailure& b);
  [[nodiscard]] CallSummary merge(const CallSummary& a, const CallSummary& b);
  [[nodiscard]] Doubt join(const Doubt& a, const Doubt& b) {
    return {labels_.join(a.label, b.label), a.is_after_action || b.is_after_action};
  }
  /// A person is asked something with this label.
  void ask(Label label) { asked_ = labels_.join(asked_, label.possible()); }
  /// That a person is asked in the call, or not, depends on what has this label.
  void add_question(CallSummary& call, Label label) { call.questions = labels_.join(call.questions, label.possible()); }
  [[nodiscard]] Label person(Step step) { return program_.trusts_person ? Label{} : labels_.of(Source{}, step); }

 private:
  /// Calls of one function with other inputs than these many are not distinguished.
  static constexpr std::size_t calls_per_function_max = 64;
  /// Calls inside calls that are analysed at once; deeper ones wait.
  static constexpr std::size_t depth_max = 60;

  struct Call {
    CallInputs inputs;
    std::vector<std::uint32_t> key;  ///< the inputs that distinguish it from other calls of its function
    CallSummary summary;
    std::vector<SinkVisit> sinks;
    std::vector<TrialVisit> trials;
    std::set<CallId> callers;
    bool is_begun = false;
    bool is_pending = false;
  };

  ProgramAnalysis(const ProgramFacts& facts, Assumptions assumptions, Labels labels);

  [[nodiscard]] CallId find_call(CallInputs inputs);
  void widen(CallId call, const CallInputs& inputs);
  void wait(CallId call);
  void analyse(CallId call);
  void finish();
  [[nodiscard]] bool can_be_run(std::uint32_t function) const;
  void run_function(std::uint32_t function);
  void run_turns();
  [[nodiscard]] ValueId recorded(ValueId state);
  [[nodiscard]] CallSummary run_alone(CallInputs inputs);
  [[nodiscard]] bool hands_off() const;

  const ProgramFacts& facts_;
  const bytecode::Program& program_;
  const Assumptions assumptions_;
  Labels labels_;
  Values values_;
  Transfer transfer_;
  std::vector<std::unique_ptr<Call>> calls_;
  std::vector<std::vector<CallId>> calls_of_;  ///< by function
  std::vector<CallId> widened_;                ///< by function: the call of all inputs beyond the limit
  std::vector<std::uint32_t> key_;             ///< of the call that is looked up; kept for its memory
  std::deque<CallId> pending_;
  std::size_t depth_ = 0;
  Label asked_;
};

}  // namespace tenon::flows
