#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "bytecode/program.h"
#include "types/builtins.h"

/// What a decision of a program decides: the code that runs or does not run because of it, and what that code may
/// write. A run needs it to label what depends on a labelled decision (implicit flows). The region of a branch ends at
/// its immediate post-dominator, as in D. E. Denning and P. J. Denning, "Certification of programs for secure
/// information flow", 1977.
namespace tenon::bytecode {

/// What may be changed of what an agent has for its next turn: entries of its state, by their index in its record.
struct StateWrites {
  bool all = false;
  std::vector<std::uint16_t> entries = {};  ///< ascending; empty when it is all of them
  bool hands_off = false;                   ///< another agent may get the turn
  bool asks = false;                        ///< a person may be asked, which the conversation has then

  [[nodiscard]] bool is_empty() const { return !all && entries.empty() && !hands_off && !asks; }
  void add(std::uint16_t entry);
  void add(const StateWrites& other);
  friend bool operator==(const StateWrites&, const StateWrites&) = default;
};

/// The region of one decision.
struct ControlRegion {
  /// The first instruction that runs whatever was decided; the size of the code when there is none before the
  /// function's end.
  std::uint32_t end = 0;
  std::vector<std::uint16_t> registers;  ///< that some path to the end writes; ascending
  StateWrites state;                     ///< likewise, by the functions that it calls, too; of a whole function as well
  /// Some path to the end has an instruction that can fail; of a failure that a handler receives, only the handler's.
  bool can_fail = false;
};

/// What is called only where the body of a handler has not failed: in the body, or after it where the handler does not
/// come to.
enum class Tried : std::uint8_t {
  NoAction,    ///< no extern that acts
  ToolOfASet,  ///< one only by the call of a tool of a set, which runs once
  Action,
};

/// A handler and its body, of a program with externs that act.
struct HandlerFacts {
  Tried tried = Tried::NoAction;
  bool can_fail_again = true;  ///< what runs because of a failure may fail, too
  bool is_watched = false;     ///< its body is a trial: some path through the handler comes to the function's end
};

/// Calls that may come to an extern that acts.
struct Actions {
  std::vector<std::uint32_t> calls;  ///< instructions of a function; ascending
  bool are_repeated = false;         ///< control may come to one of them again
};

/// What decides in a function, so that a region begins: a number for each of these.
///   0 … n-1            the instruction at this pc, of n: a jump with a condition, a loop, the call of a tool of a set
///   n + k              the failure that its handler k receives
///   n + handlers + k   the failure with which its `finally` handler k runs; its region ends with the block
///   whole_function     what decided that the function is called
using Decision = std::uint32_t;
inline constexpr Decision whole_function = UINT32_MAX;

[[nodiscard]] Decision decision_of_handler(const Function& function, std::size_t handler);
[[nodiscard]] Decision decision_of_cleanup(const Function& function, std::size_t finally_handler);
/// Whether a region can begin with it.
[[nodiscard]] bool is_decision(const Function& function, Decision decision);
/// Whether a person may be asked when it is called: by it, or about the call.
[[nodiscard]] inline bool may_ask(const Extern& callee) {
  return types::asks_person(callee.builtin_effect) || callee.approval != no_extern;
}
/// Whether the instruction continues at more than one place, or calls what a value says.
[[nodiscard]] bool decides(Opcode opcode);
/// Whether the instruction can fail because of what its operands are, not only because they are too large; or does.
[[nodiscard]] constexpr bool can_fail(Opcode opcode);
[[nodiscard]] constexpr bool can_fail(Instruction instruction);

/// The regions of a program's functions, each computed when it is first asked for. Any thread may ask.
class ControlRegions {
 public:
  /// The opcode that `marked_code` has where a region ends, and perhaps a trial begins. No instruction has it.
  static constexpr std::uint16_t region_end = 255;
  /// The opcode where a trial begins: the body of a handler that is watched.
  static constexpr std::uint16_t trial_begin = 254;

  /// `program` outlives it, and passes the verifier.
  explicit ControlRegions(const Program& program);
  ~ControlRegions();
  ControlRegions(const ControlRegions&) = delete;
  ControlRegions& operator=(const ControlRegions&) = delete;

  /// `decision`: one of the function's. Valid as long as this.
  [[nodiscard]] const ControlRegion& region(std::uint32_t function, Decision decision) const;
  /// The function's code with `region_end` in place of each instruction at which a region ends, and `trial_begin`.
  /// Valid as long as this.
  [[nodiscard]] const Instruction* marked_code(std::uint32_t function) const;
  /// The function's code, with `trial_begin` where a trial begins. Valid as long as this and the program.
  [[nodiscard]] const Instruction* code_with_trials(std::uint32_t function) const;
  /// `handler`: an index into the function's handlers.
  [[nodiscard]] HandlerFacts handler_facts(std::uint32_t function, std::size_t handler) const;
  /// Those on the paths through the handler's body to the end of its region on which it has not failed.
  [[nodiscard]] Actions tried_actions(std::uint32_t function, std::size_t handler) const;
  /// Those of a function.
  [[nodiscard]] Actions actions(std::uint32_t function) const;
  /// Whether the instruction calls an extern that acts, or a function that may come to such a call.
  [[nodiscard]] bool may_act(Instruction instruction) const;
  /// Whether the program calls externs that act.
  [[nodiscard]] bool has_actions() const { return has_actions_; }
  /// Whether a call of the function may ask a person, in the conversation that its caller has.
  [[nodiscard]] bool asks(std::uint32_t function) const;
  /// Whether the branches that the instruction begins may, a loop's that runs in parallel.
  [[nodiscard]] bool branches_ask(std::uint32_t function, std::uint32_t pc) const;

 private:
  class FunctionRegions;

  [[nodiscard]] FunctionRegions& of(std::uint32_t function) const;
  /// Adds what the instruction may change of the agent's state.
  void add_state_writes(const Function& function, std::uint32_t pc, StateWrites& writes) const;
  /// What a call of each function may change of the caller's state.
  [[nodiscard]] const std::vector<StateWrites>& writes_of_calls() const;
  void find_functions_that_act();

  const Program& program_;
  const bool has_actions_;
  const bool has_questions_;              ///< it calls externs about which a person may be asked
  std::vector<bool> functions_that_act_;  ///< or may come to a call that does; empty if there are none
  mutable std::vector<std::atomic<FunctionRegions*>> functions_;
  mutable std::once_flag calls_once_;
  mutable std::vector<StateWrites> calls_;
};

constexpr bool can_fail(Opcode opcode) {
  switch (opcode) {
    case Opcode::AddI32:
    case Opcode::SubtractI32:
    case Opcode::MultiplyI32:
    case Opcode::DivideI32:
    case Opcode::RemainderI32:
    case Opcode::NegateI32:
    case Opcode::AddI32Short:
    case Opcode::AddI64:
    case Opcode::SubtractI64:
    case Opcode::MultiplyI64:
    case Opcode::DivideI64:
    case Opcode::RemainderI64:
    case Opcode::NegateI64:
    case Opcode::AddI64Short:
    case Opcode::F64ToInteger:
    case Opcode::IntegerToI32:
    case Opcode::ReadJson:
    case Opcode::GetItem:
    case Opcode::SetItem:
    case Opcode::TakeItem:
    case Opcode::InsertItem:
    case Opcode::RemoveItem:
    case Opcode::GetEntry:
    case Opcode::TakeEntry:
    case Opcode::InjectRole:
    case Opcode::CallBuiltin:
    case Opcode::Check:
    case Opcode::Assert:
    case Opcode::Call:
    case Opcode::CallTool:
    case Opcode::CallToolInParts:
    case Opcode::CallExtern:
    case Opcode::Complete:
    case Opcode::Fill:
    case Opcode::Select:
    case Opcode::Parallel:
    case Opcode::ParallelFor:
    case Opcode::Fail:
    case Opcode::Raise:
    case Opcode::BreakContract:
    case Opcode::BreakRequires:
      return true;
    default:
      return false;
  }
}

constexpr bool can_fail(Instruction instruction) {
  const auto opcode = static_cast<Opcode>(instruction.opcode);
  return opcode == Opcode::CallBuiltin ? types::can_fail(static_cast<types::Builtin>(instruction.b)) : can_fail(opcode);
}

}  // namespace tenon::bytecode
