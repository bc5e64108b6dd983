#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "bytecode/program.h"
#include "vm/failure.h"
#include "vm/loaded_program.h"
#include "vm/refusal.h"
#include "vm/request.h"
#include "vm/values/labels.h"
#include "vm/values/value.h"

namespace tenon::vm {

/// What a run starts with. Without a source, the value counts as program text.
struct Argument {
  Value value;
  std::optional<Source> source;
};

/// The function has returned.
struct Finished {
  Value value;
};
/// A failure has reached the first frame.
struct Failed {
  FailureReport report;
};
/// All branches wait for outcomes.
struct Waiting {};
/// The slice of instructions is used up.
struct Paused {};
/// The program or the snapshot does what no compiled program does: bytes that were damaged or forged. The run has
/// ended.
struct Damaged {
  std::string message;
  std::string place;
};
using Step = std::variant<Finished, Failed, Waiting, Paused, Damaged>;

/// Is notified of calls as they happen. Output only: a run is the same with and without it, and a snapshot does not
/// contain it.
class Observer {
 public:
  virtual ~Observer() = default;
  /// `branch`: the key of the parallel branch, empty outside of one. The arguments are valid during the call.
  virtual void on_call(std::string_view branch, std::uint32_t function, std::span<const Value> arguments) = 0;
  virtual void on_return(std::string_view branch, std::uint32_t function, const Value& value) = 0;
  /// A frame that a failure has ended; `failure` is the Failure record.
  virtual void on_unwind(std::string_view branch, std::uint32_t function, const Value& failure) = 0;
  /// A frame that ends without a value, because another agent continues the turn that it belongs to.
  virtual void on_abandon(std::string_view branch, std::uint32_t function) = 0;
  /// `values`: the arguments of the call, or the value that must be trusted.
  virtual void on_refused(std::string_view /*branch*/, const Refusal& /*refusal*/, std::span<const Value> /*values*/) {}
  /// A narrow answer is not asked for: of the bits that its budget allows, too many are spent.
  virtual void on_bits_spent(std::string_view /*branch*/, bytecode::Place /*place*/, std::uint32_t /*bits*/,
                             std::uint64_t /*spent*/, std::uint64_t /*allowed*/) {}
  /// `value`: with the labels that it has had so far.
  virtual void on_endorsed(std::string_view /*branch*/, bytecode::Place /*place*/, const Value& /*value*/,
                           std::string_view /*why*/) {}
};

struct MachineState;

/// One run of a program: pure, without clock, disk or network. It runs until it needs something from the world, makes
/// requests, and continues with their outcomes. All its state is data (vm/snapshot). Belongs to one thread at a time.
class Machine {
 public:
  /// There must be as many arguments as the function has parameters, of the types that they promise. `bounds`: of the
  /// whole run. `labels`: those that the arguments have already.
  Machine(std::shared_ptr<const LoadedProgram> program, std::uint32_t function, std::vector<Argument> arguments,
          const bytecode::Bounds& bounds = bytecode::default_bounds, LabelTable labels = {});
  explicit Machine(std::unique_ptr<MachineState> state);
  Machine(Machine&&) noexcept;
  Machine& operator=(Machine&&) noexcept;
  ~Machine();

  /// Runs until the end, until all wait, or until `instructions_max` instructions are executed. After the end: the same
  /// end again.
  [[nodiscard]] Step run(std::uint64_t instructions_max = UINT64_MAX);

  /// The requests that were made since the last call, oldest first.
  [[nodiscard]] std::vector<Request> take_requests();
  /// All requests that wait, taken or not: what a resumed run must ask again.
  [[nodiscard]] std::vector<Request> pending_requests();
  /// Requests that were taken, and whose branch has ended since, so that nothing waits for their outcomes.
  [[nodiscard]] std::vector<RequestId> take_cancelled();
  /// Calls that are made at most once, and whose branch was cancelled since the last call, or since a snapshot was
  /// read: the branch ends with their outcome, which nothing sees.
  [[nodiscard]] std::vector<RequestId> take_awaited_calls();
  /// What was refused since the last call, oldest first.
  [[nodiscard]] std::vector<Refusal> take_refusals();
  /// Hands in the outcome of a request that waits. Its values get the label of what the request saw, and of where they
  /// come from.
  [[nodiscard]] Result<void, ResumeError> resume(RequestId request, Outcome outcome);

  /// Ends the run as a failure of the kind Cancelled that nothing handles, once all blocks of `finally` around what is
  /// in progress have run; those that run already end by themselves. False, and nothing done, when there are none.
  [[nodiscard]] bool cancel(std::string reason);

  /// What an agent's functions find as its state, before the first `run`.
  void set_agent_state(Value state);
  /// As the run has left it, after the end; before, as it is now.
  [[nodiscard]] const Value& agent_state() const;
  /// The states of other agents that have had the turn, for when they get it back: each a record of the agent's state.
  /// `handoffs`: the label of what has decided, in earlier turns, who has this one; all of the run depends on it.
  void set_kept_states(std::vector<Value> states, LabelId handoffs);
  [[nodiscard]] std::span<const Value> kept_states() const;
  /// The label of what has decided who has the next turn.
  [[nodiscard]] LabelId handoffs() const;
  /// The label of what has decided whether a person was asked by the run itself.
  [[nodiscard]] LabelId questions() const;

  /// What the budgets of time around a waiting request leave for it, milliseconds; nothing when none bounds it.
  [[nodiscard]] std::optional<std::uint64_t> time_left(RequestId request) const;
  /// The calls around a waiting request; empty when there is no such request.
  [[nodiscard]] CallStack call_stack(RequestId request) const;
  /// Whether a waiting request's answer, a text, is what the run says (vm/execution/streamed_output.h).
  [[nodiscard]] bool is_streamed_output(RequestId request) const;
  /// The agents that wait for the one in whose function the request was made, its caller first: indices into
  /// Program::agents, `no_agent` for a caller that is none.
  static constexpr std::uint32_t no_agent = UINT32_MAX;
  [[nodiscard]] std::vector<std::uint32_t> waiting_agents(RequestId request) const;
  /// The calls around the newest branch; empty after the end.
  [[nodiscard]] CallStack call_stack() const;

  [[nodiscard]] const LoadedProgram& program() const;
  [[nodiscard]] LabelTable& labels();
  [[nodiscard]] const LabelTable& labels() const;
  /// Executed so far, in all branches.
  [[nodiscard]] std::uint64_t instructions() const;
  /// Null: none. Must outlive the machine or be replaced.
  void set_observer(Observer* observer);

  [[nodiscard]] MachineState& state() { return *state_; }
  [[nodiscard]] const MachineState& state() const { return *state_; }

 private:
  std::unique_ptr<MachineState> state_;
};

}  // namespace tenon::vm
