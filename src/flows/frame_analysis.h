#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "flows/program_analysis.h"

namespace tenon::flows {

/// What a function's call does, for one set of inputs: all ways through its code until nothing new is found.
class FrameAnalysis {
 public:
  FrameAnalysis(ProgramAnalysis& program, CallId call, CallInputs inputs);

  void run();
  [[nodiscard]] const CallSummary& summary() const { return summary_; }
  /// The calls of externs that act.
  [[nodiscard]] std::vector<SinkVisit> sinks() const;
  /// Its trials in which something might have failed.
  [[nodiscard]] std::vector<TrialVisit> trials() const;

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  /// A budget around the frame: its handlers are not in it.
  static constexpr std::size_t outer_budget = SIZE_MAX;
  static constexpr std::size_t no_budget = SIZE_MAX - 1;

  /// One way through the code apart from others: a branch, or a `finally` that runs because of a failure.
  struct Strand {
    std::uint32_t outer = none;     ///< of a branch: the strand whose block it belongs to
    std::uint32_t block_pc = none;  ///< likewise, its instruction
    std::uint32_t branch = 0;
    std::uint32_t cleanup = none;  ///< the `finally` handler that runs
    std::uint32_t base = 0;        ///< the strand without that
    std::size_t budget_floor = 0;  ///< budgets that belong to the block around
    Label control;                 ///< what decided that it runs
    std::vector<std::optional<FrameState>> states;
    // Of a branch.
    std::optional<ValueId> value;
    std::optional<CallFailure> failure;
    Label spent;
    Doubt doubt;
  };
  /// A handler, the part before a `finally` block, or the inside of one, at some place of the code.
  struct Cover {
    enum class Kind : std::uint8_t { Handler, Guard, Running };
    Kind kind = Kind::Handler;
    std::size_t index = 0;
    std::uint32_t size = 0;
  };

  /// Control may come there with this state.
  void flow(std::uint32_t strand, std::uint32_t pc, const FrameState& state);
  void flow(std::uint32_t strand, std::uint32_t pc, FrameState&& state);
  void execute(std::uint32_t strand, std::uint32_t pc);
  /// Executes one instruction. Returns whether control continues with the next one.
  bool step(std::uint32_t strand, std::uint32_t pc, FrameState& state);
  bool jump(std::uint32_t strand, std::uint32_t pc, FrameState& state);
  bool ask(std::uint32_t strand, std::uint32_t pc, FrameState& state);
  bool call(std::uint32_t strand, std::uint32_t pc, FrameState& state);
  bool call_extern(std::uint32_t strand, std::uint32_t pc, FrameState& state);
  void may_ask_about_call(std::uint32_t strand, std::uint32_t pc, FrameState& state, Label call);
  bool require_trusted(std::uint32_t strand, std::uint32_t pc, FrameState& state);
  bool run_branches(std::uint32_t strand, std::uint32_t pc, FrameState& state);
  bool leave(std::uint32_t strand, std::uint32_t pc, FrameState& state);
  bool use_budget(std::uint32_t strand, std::uint32_t pc, FrameState& state);
  [[nodiscard]] CallSummary call_function(std::uint32_t pc, std::uint32_t function, CallInputs inputs);
  [[nodiscard]] std::optional<CallSummary> call_tool(std::uint32_t strand, std::uint32_t pc, FrameState& state);

  void fail(std::uint32_t strand, std::uint32_t pc, const FrameState& state, Label label,
            std::size_t budget = no_budget);
  void doubt(std::uint32_t strand, std::uint32_t pc, Doubt doubt, std::size_t budget = no_budget);
  void fail_by_budgets(std::uint32_t strand, std::uint32_t pc, const FrameState& state);
  void add_failure(std::optional<CallFailure>& failure, const FrameState& state, Label label, bool& is_changed);
  [[nodiscard]] std::vector<Cover> covers_of(std::uint32_t strand, std::uint32_t pc) const;
  void enter_handler(std::uint32_t strand, std::uint32_t pc, std::size_t index, FrameState state, Label label);
  void enter_cleanup(std::uint32_t strand, std::uint32_t pc, std::size_t index, FrameState state, Label label);

  void decide(std::uint32_t strand, std::uint32_t pc, FrameState& state, Label label);
  void open_region(std::uint32_t strand, FrameState& state, bytecode::Decision decision, Label label);
  void drop_regions(FrameState& state, std::uint32_t begin, std::uint32_t end) const;
  void end_regions(std::uint32_t pc, FrameState& state);
  void raise_state(FrameState& state, const bytecode::StateWrites& writes, Label label);
  [[nodiscard]] ValueId leave_regions(FrameState& state, ValueId result);
  [[nodiscard]] Label control_of(std::uint32_t strand, const FrameState& state);
  void spend(std::uint32_t strand, FrameState& state, Label label);

  [[nodiscard]] std::uint32_t add_strand(Strand strand);
  [[nodiscard]] std::uint32_t strand_of_cleanup(std::uint32_t strand, std::uint32_t cleanup);
  [[nodiscard]] std::uint32_t strand_of_branch(std::uint32_t outer, std::uint32_t pc, std::uint32_t branch);
  void run_again(std::uint32_t strand);
  [[nodiscard]] Step at(std::uint32_t pc, StepKind kind = StepKind::Read) const { return {kind, index_, pc}; }
  [[nodiscard]] std::uint32_t target_of(std::uint32_t pc) const;
  [[nodiscard]] bytecode::Opcode opcode_at(std::uint32_t pc) const {
    return static_cast<bytecode::Opcode>(function_.code[pc].opcode);
  }

  ProgramAnalysis& program_;
  Labels& labels_;
  Values& values_;
  const CallId call_;
  const CallInputs inputs_;
  const std::uint32_t index_;
  const bytecode::Function& function_;
  const std::vector<std::uint32_t>& leaders_;  ///< by instruction: its number among those that control can jump to
  CallSummary summary_;
  std::vector<Strand> strands_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> pending_;  ///< instruction, strand
  std::map<std::pair<std::uint32_t, std::uint32_t>, SinkVisit> sinks_;
  std::map<std::size_t, TrialVisit> trials_;  ///< by handler
};

}  // namespace tenon::flows
