#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bytecode/control_regions.h"
#include "vm/execution/registers.h"
#include "vm/machine.h"

namespace re2 {
class RE2;
}

namespace tenon::vm {

/// Branches of one block that run at the same time; a larger limit in the program is cut to it.
inline constexpr std::uint64_t branches_per_block_max = 4'096;
/// Branches of a run that exist at the same time.
inline constexpr std::uint64_t fibers_max = 65'536;
/// Registers of one branch. Bounds the memory of a deep recursion whose depth budget was raised.
inline constexpr std::uint64_t registers_max = 16U * 1024U * 1024U;

/// What all blocks of `finally` of a run may take beyond the budgets that are spent, so that they can run and end.
inline constexpr bytecode::Bounds cleanup_bounds{
    .model_calls = 20, .tokens = 100'000, .instructions = 1'000'000, .milliseconds = 60'000};
/// And one of them beyond a spent budget of calls within calls.
inline constexpr std::uint64_t cleanup_depth_max = 1'000;

/// What an instruction touches beyond this is charged as further instructions, so that a budget bounds the work that
/// is done, and a slice ends soon, whatever a single instruction does.
inline constexpr std::uint64_t uncharged_bytes = 1'024;
inline constexpr std::uint64_t bytes_per_instruction = 16;
/// To look at a value is less work than to copy it: bytes.
inline constexpr std::uint64_t cost_per_inspected_value = 4;
/// In a budget of time, instructions count as time at this fixed speed: no clock says how long they took, so a run that
/// is repeated comes to the same end.
inline constexpr std::uint64_t instructions_per_millisecond = 200'000;

/// An index into MachineState::scopes.
struct ScopeId {
  static constexpr std::uint32_t none = UINT32_MAX;
  std::uint32_t index = none;
  friend bool operator==(ScopeId, ScopeId) = default;
};
/// The run's own bounds.
inline constexpr ScopeId run_scope{0};

/// What a scope bounds.
enum class ScopeKind : std::uint8_t {
  Budget = 0,
  Cleanup = 1,    ///< the block of a `finally`: has no bounds of its own
  Allowance = 2,  ///< the same, once a budget around it was spent: the run's allowance holds instead of all around it
};

/// What an entered budget has left. Scopes form a tree: what is spent in one counts in all around it.
struct BudgetScope {
  ScopeId parent;
  std::uint32_t budget = UINT32_MAX;  ///< index into Program::budgets; none for the run's own and for a free scope
  bool is_open = false;
  ScopeKind kind = ScopeKind::Budget;
  bytecode::Bounds bounds;
  std::uint64_t model_calls = 0, tokens = 0, instructions = 0, cost_millionths = 0, milliseconds = 0;
  std::uint64_t base_depth = 0;  ///< frames below the one that entered it
  LabelId label;                 ///< of what decided how much was spent: that it is spent up says as much
  std::uint64_t bits = 0;        ///< of narrow answers, if it bounds them or is the run's own
};

/// A running function. `pc` is the instruction that runs or comes next; below the newest frame: the call.
struct Frame {
  std::uint32_t function = 0;
  std::uint32_t pc = 0;
  std::uint32_t base = 0;
  ScopeId scope;
  std::uint32_t open_budgets = 0;  ///< of this frame
  std::uint32_t open_regions = 0;  ///< likewise, and its trials
};

/// Code that runs because of a decision on labelled values (vm/execution/implicit_flows.h).
struct OpenRegion {
  std::uint32_t frame = 0;  ///< index into Fiber::frames
  bytecode::Decision decision = 0;
  LabelId label;  ///< of what was decided on
};

/// What a handler protects, while it runs (vm/execution/trials.h).
struct Trial {
  std::uint32_t frame = 0;    ///< index into Fiber::frames
  std::uint32_t handler = 0;  ///< index into the handlers of its function
  LabelId label;              ///< of what might have failed in it, and was paid for
  LabelId doubt;              ///< likewise, since the last call that acts
  std::uint32_t shown = 0;    ///< calls that have said that nothing has failed before
};

enum class FiberState : std::uint8_t {
  Ready = 0,
  Requesting = 1,  ///< is at the instruction that made the request
  Joining = 2,     ///< is at its parallel block
};

struct FiberId {
  static constexpr std::uint64_t none = UINT64_MAX;
  std::uint64_t number = none;
  friend auto operator<=>(FiberId, FiberId) = default;
};

/// A parallel block whose branches run.
struct Block {
  std::vector<Value> values;  ///< one for each branch; () while it runs
  std::uint32_t started = 0;  ///< branches started, in order
  std::uint32_t finished = 0;
};

/// Of a call that would be refused, where a person is asked.
enum class Approval : std::uint8_t {
  None = 0,
  Asked = 1,  ///< the request at which the fiber waits is the question about its call
  Given = 2,  ///< its next instruction is the call with the approved arguments
};

/// One strand of execution: the run itself, or a branch of a parallel block.
struct Fiber {
  FiberId id;
  FiberId parent;
  std::uint32_t branch = 0;        ///< its number in the parent's block
  std::uint32_t block_pc = 0;      ///< the block's instruction in the parent's frame
  std::uint32_t budget_floor = 0;  ///< budgets of its first frame that belong to the parent
  std::uint64_t depth_base = 0;    ///< frames below its first
  std::string key;                 ///< empty for the run itself
  std::uint64_t next_ordinal = 0;  ///< of its next request or block
  FiberState state = FiberState::Ready;
  std::uint64_t ordinal = 0;  ///< of the request or block at which it waits
  RequestId request;          ///< while Requesting
  bool is_request_taken = false;
  Approval approval = Approval::None;
  Block block;  ///< while Joining
  /// While Joining: the failure that continues when its branches, which have something to clean up or wait for a call,
  /// have ended. While Requesting: the cancellation that continues when the call has an outcome. Or ().
  Value awaited;
  Value agent_state;  ///< of the agent whose function runs; () outside of one
  /// A list: the states of agents that had the turn before and may have it again; or (). Its own label is that of what
  /// decided who has the turn.
  Value kept_states;
  std::vector<Frame> frames;
  std::vector<OpenRegion> regions;  ///< frames in order, and of each the oldest first
  std::vector<Trial> trials;        ///< likewise: the innermost one comes last
  /// The join of their labels, and of those of the fiber that it is a branch of: what its next instruction depends on.
  LabelId control;
  RegisterStack registers;

  [[nodiscard]] std::uint64_t depth() const { return depth_base + frames.size(); }
  /// The key of the request or block with that ordinal.
  [[nodiscard]] std::string key_of(std::uint64_t of) const {
    return key.empty() ? std::to_string(of) : key + '.' + std::to_string(of);
  }
};

/// Saves the state of the agent that hands the turn off, for its next turn. Then restores a saved state of that struct
/// and returns true; without one, the state is ().
bool swap_agent_state(Fiber& fiber, types::TypeId state);

/// A failure on its way to a handler.
struct PendingFailure {
  Value failure;                  ///< the Failure record
  ScopeId scope;                  ///< of a spent budget
  CallStack call_stack;           ///< of the frames and branches that it has ended
  bool is_cancel = false;         ///< only a `finally` takes it
  bool has_newest_frame = false;  ///< the newest frame is in `call_stack` already
};
/// Convert a pending failure to a value that a register or a branch can keep, and back; nothing if `kept` is not such a
/// value.
[[nodiscard]] Value keep_failure(const PendingFailure& pending);
[[nodiscard]] std::optional<PendingFailure> read_failure(const Value& kept, const LoadedProgram& program);

/// All of a run. The first group is what a snapshot holds.
struct MachineState {
  explicit MachineState(std::shared_ptr<const LoadedProgram> loaded);
  ~MachineState();

  std::shared_ptr<const LoadedProgram> program;
  LabelTable labels;
  std::vector<BudgetScope> scopes;
  std::map<FiberId, std::unique_ptr<Fiber>> fibers;
  std::deque<FiberId> ready;  ///< those that can run, in the order in which they will
  std::uint64_t next_fiber = 0;
  std::uint64_t next_request = 0;
  std::vector<RequestId> cancelled;  ///< not yet taken
  std::uint64_t instructions = 0;    ///< executed in all fibers
  std::optional<Step> end;           ///< Finished, Failed or Damaged
  Value agent_state_at_end;
  Value kept_states_at_end;
  /// The label of what has decided whether the run itself, and none of the agents that it has called, asks a person:
  /// the entries that a conversation has for its next turn.
  LabelId questions;
  BudgetScope allowance;  ///< what the blocks of `finally` have taken of it; its bounds are the constants above

  // Follows from the above.
  std::map<RequestId, FiberId> waiting;  ///< fibers that are Requesting
  std::vector<RequestId> untaken;        ///< of those, the ones that were not taken yet, oldest first
  std::set<std::uint32_t> free_scopes;
  std::vector<RequestId> awaited_calls;  ///< of cancelled fibers (awaits_once_call), not taken yet

  // Only in this process, not in snapshots.
  Observer* observer = nullptr;
  std::vector<Refusal> refusals;  ///< not yet taken
  /// The cost, in instructions, of work that is not counted yet; charged before the next snapshot.
  std::uint64_t deferred_cost = 0;
  /// What the newest built-in might have failed because of.
  LabelId doubt;
  /// Patterns that the program made, compiled; dropped when they are many.
  std::map<std::string, std::shared_ptr<const re2::RE2>, std::less<>> patterns;
  /// What the instruction that has just failed says; complete once `unwind` has given it a place.
  struct Cause {
    types::FailureKind kind = types::FailureKind::Raised;
    std::string message;
    std::string blame;
    LabelId label;
    ScopeId scope;
    Value raised;                          ///< a Failure record whose place is kept, or ()
    std::optional<PendingFailure> again;   ///< one that a `finally` has kept
    std::optional<bytecode::Place> place;  ///< of the failure, if it is not that of the instruction
    bool is_outcome = false;               ///< an effect has failed
  } cause;
  std::string damage;  ///< what the instruction that cannot be executed does

  [[nodiscard]] Fiber& fiber(FiberId id) { return *fibers.at(id); }
};

// Failing, in failure.cpp. An operation sets the cause and returns OpStatus::Failed.

enum class OpStatus : std::uint8_t {
  Ok,
  Failed,
  Corrupt,
  Charged,  ///< as Ok; MachineState::deferred_cost is to be charged. Only an operation says it.
};

[[nodiscard]] OpStatus fail(MachineState& state, types::FailureKind kind, std::string message, LabelId label = {},
                            std::string blame = {});
/// Fails for a `requires` of the newest frame's function that the caller has violated, at the place of the call.
/// `message`: what is violated, without the caller's name; both are Strings.
[[nodiscard]] OpStatus break_requires(MachineState& state, const Fiber& fiber, const Value& message,
                                      const Value& blame);
/// `name`: as in `budget(name: …)`; `unit`: of the amount, as in `counted`.
[[nodiscard]] OpStatus fail_budget(MachineState& state, ScopeId scope, std::string_view name, std::uint64_t amount,
                                   std::string_view unit, std::string_view units = {});
/// The instruction cannot be executed on what the registers hold.
[[nodiscard]] OpStatus damage(MachineState& state, std::string message);
/// Continues at the handler of the failure in `cause`, in the fiber or in one that it is a branch of; ends
/// branches and, at last, the run.
void unwind(MachineState& state, FiberId id);
/// EndCleanup: fails again with what the register keeps.
[[nodiscard]] OpStatus fail_again(MachineState& state, const Value& kept);
/// Whether something is to be cleaned up before the run can end.
[[nodiscard]] bool has_cleanup(const MachineState& state);
/// Ends the run but for its clean-ups, which run first.
void cancel_run(MachineState& state, std::string reason);
/// The parent's branches have all ended: what it has waited with continues.
void finish_awaiting(MachineState& state, FiberId parent);
void end_damaged(MachineState& state, const Fiber& fiber);
void end_run(MachineState& state, Step end);
[[nodiscard]] CallStack call_stack_of(const MachineState& state, const Fiber& fiber);

// Budgets, in execution/budgets.cpp.

/// Charges what an operation touches; it then ends with `done`.
inline void defer_cost(MachineState& state, std::uint64_t bytes) {
  if (bytes > uncharged_bytes) [[unlikely]]
    state.deferred_cost += bytes / bytes_per_instruction;
}
[[nodiscard]] inline OpStatus done(const MachineState& state) {
  return state.deferred_cost == 0 ? OpStatus::Ok : OpStatus::Charged;
}
void charge_instructions(MachineState& state, ScopeId scope, std::uint64_t count);
/// How many more may be executed in the scope, by its instructions and by its time.
[[nodiscard]] std::uint64_t instructions_left(MachineState& state, ScopeId scope);
/// The deepest frame count that the scope allows.
[[nodiscard]] std::uint64_t depth_limit(const MachineState& state, ScopeId scope);
/// What the budgets of time around leave for an effect, milliseconds; nothing when none bounds it.
[[nodiscard]] std::optional<std::uint64_t> time_left(const MachineState& state, ScopeId scope);
[[nodiscard]] OpStatus fail_instructions(MachineState& state, ScopeId scope);
[[nodiscard]] OpStatus fail_depth(MachineState& state, ScopeId scope, std::uint64_t depth);
[[nodiscard]] OpStatus charge_model_call(MachineState& state, ScopeId scope);
[[nodiscard]] OpStatus charge_usage(MachineState& state, ScopeId scope, RequestKind kind, const Usage& usage);
/// What is spent in the scope from now on depends on what has this label.
void label_spending(MachineState& state, ScopeId scope, LabelId label);
void open_scope(MachineState& state, Fiber& fiber, std::uint32_t budget);
/// That of a block of `finally`.
void open_cleanup(MachineState& state, Fiber& fiber);
/// Closes the newest budget of the fiber's newest frame.
void close_scope(MachineState& state, Fiber& fiber);
[[nodiscard]] bool encloses(const MachineState& state, ScopeId outer, ScopeId inner);
/// The scope that a frame is in once only `open_budgets` of its own are open.
[[nodiscard]] ScopeId restored_scope(const MachineState& state, const Frame& frame, std::uint32_t open_budgets);

// Branches, in execution/branches.cpp.

[[nodiscard]] OpStatus start_block(MachineState& state, Fiber& fiber);
/// The branch has ended with a value: the block continues, or ends.
void finish_branch(MachineState& state, FiberId id, Value value);
/// Ends all branches of a fiber's block, and theirs.
void cancel_branches(MachineState& state, Fiber& fiber);
/// Closes the budgets that the fiber has opened.
void close_all_scopes(MachineState& state, Fiber& fiber);
void make_ready(MachineState& state, Fiber& fiber);

/// The one that the fiber executes.
[[nodiscard]] inline const bytecode::Instruction& instruction_of(const MachineState& state, const Fiber& fiber) {
  const Frame& frame = fiber.frames.back();
  return state.program->code_of(frame.function)[frame.pc];
}

// Requests, in execution/effects.cpp.

[[nodiscard]] OpStatus make_request(MachineState& state, Fiber& fiber);
/// Which agent the fiber's newest frame belongs to, and how many are above it: as in a Request.
struct AmongAgents {
  std::uint32_t agent = UINT32_MAX;
  std::uint32_t depth = 0;
};
[[nodiscard]] AmongAgents place_among_agents(const MachineState& state, const Fiber& fiber);
/// The request at which the fiber waits.
[[nodiscard]] Request request_of(MachineState& state, const Fiber& fiber);
/// Takes an outcome in; the fiber continues, or fails.
[[nodiscard]] Result<void, ResumeError> take_outcome(MachineState& state, RequestId request, Outcome outcome);

}  // namespace tenon::vm
