#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "bytecode/program.h"

/// What a decision of a program decides: the code that runs or does not run because of it, and what that code may
/// write. A run needs it to label what depends on a labelled decision (implicit flows). The region of a branch ends at
/// its immediate post-dominator, as in D. E. Denning and P. J. Denning, "Certification of programs for secure
/// information flow", 1977.
namespace tenon::bytecode {

/// Entries of an agent's state, by their index in its record.
struct StateWrites {
  bool all = false;
  std::vector<std::uint16_t> entries;  ///< ascending; empty when it is all of them

  [[nodiscard]] bool is_empty() const { return !all && entries.empty(); }
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
  StateWrites state;                     ///< likewise, by the functions that it calls, too
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
/// Whether the instruction continues at more than one place, or calls what a value says.
[[nodiscard]] bool decides(Opcode opcode);

/// The regions of a program's functions, each computed when it is first asked for. Any thread may ask.
class ControlRegions {
 public:
  /// The opcode that `marked_code` has where a region ends. No instruction has it.
  static constexpr std::uint16_t region_end = 255;

  /// `program` outlives it, and passes the verifier.
  explicit ControlRegions(const Program& program);
  ~ControlRegions();
  ControlRegions(const ControlRegions&) = delete;
  ControlRegions& operator=(const ControlRegions&) = delete;

  /// `decision`: one of the function's. Valid as long as this.
  [[nodiscard]] const ControlRegion& region(std::uint32_t function, Decision decision) const;
  /// The function's code with `region_end` in place of each instruction at which a region ends. Valid as long as this.
  [[nodiscard]] const Instruction* marked_code(std::uint32_t function) const;

 private:
  class FunctionRegions;

  [[nodiscard]] FunctionRegions& of(std::uint32_t function) const;
  /// Adds the entries of the agent's state that the instruction may change.
  void add_state_writes(const Function& function, std::uint32_t pc, StateWrites& writes) const;
  /// What a call of each function may change of the caller's state.
  [[nodiscard]] const std::vector<StateWrites>& writes_of_calls() const;

  const Program& program_;
  mutable std::vector<std::atomic<FunctionRegions*>> functions_;
  mutable std::once_flag calls_once_;
  mutable std::vector<StateWrites> calls_;
};

}  // namespace tenon::bytecode
