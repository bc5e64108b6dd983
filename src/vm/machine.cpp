#include "vm/machine.h"

#include <re2/re2.h>

#include <algorithm>

#include "base/ensure.h"
#include "vm/execution/implicit_flows.h"
#include "vm/execution/interpreter.h"
#include "vm/execution/streamed_output.h"
#include "vm/machine_state.h"
#include "vm/values/object.h"

namespace tenon::vm {
namespace {

/// As the run has left them, after the end; before, as they are now.
const Value& kept_states_of(const MachineState& state) {
  const auto root = state.fibers.find(FiberId{0});
  return root == state.fibers.end() ? state.kept_states_at_end : root->second->kept_states;
}

/// Deals with why a fiber has stopped. It is in no queue; one that can go on is put into one.
void proceed(MachineState& state, Fiber& fiber, Exit exit) {
  OpStatus status = OpStatus::Ok;
  switch (exit) {
    case Exit::OutOfFuel:
    case Exit::Scope:
      state.ready.push_front(fiber.id);
      return;
    case Exit::Failed:
      status = OpStatus::Failed;
      break;
    case Exit::Damaged:
      status = OpStatus::Corrupt;
      break;
    case Exit::Effect:
      status = make_request(state, fiber);
      break;
    case Exit::Block:
      status = start_block(state, fiber);
      break;
    case Exit::Returned: {
      Value value = std::move(fiber.registers.data()[0]);
      end_run(state, Finished{std::move(value)});
      return;
    }
    case Exit::BranchEnded: {
      Value value = std::move(fiber.registers.data()[instruction_of(state, fiber).a]);
      if (fiber.frames.back().open_regions != 0) leave_regions(state, fiber, value);
      finish_branch(state, fiber.id, std::move(value));
      return;
    }
  }
  if (status == OpStatus::Failed) unwind(state, fiber.id);
  if (status == OpStatus::Corrupt) end_damaged(state, fiber);
}

}  // namespace

MachineState::MachineState(std::shared_ptr<const LoadedProgram> loaded) : program(std::move(loaded)) {
  allowance.is_open = true;
  allowance.kind = ScopeKind::Allowance;
  allowance.bounds = cleanup_bounds;
}
MachineState::~MachineState() = default;

Machine::Machine(std::shared_ptr<const LoadedProgram> program, std::uint32_t function, std::vector<Argument> arguments,
                 const bytecode::Bounds& bounds, LabelTable labels)
    : state_(std::make_unique<MachineState>(std::move(program))) {
  state_->labels = std::move(labels);
  const Callable& callable = state_->program->callables()[function];
  ENSURE(arguments.size() == callable.parameter_count);
  BudgetScope run;
  run.is_open = true;
  run.bounds = bounds;
  state_->scopes.push_back(run);

  auto fiber = std::make_unique<Fiber>();
  fiber->id = {state_->next_fiber++};
  fiber->frames.push_back({function, 0, 0, run_scope, 0});
  fiber->registers.reserve(callable.register_count);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].source) add_label(arguments[i].value, state_->labels.intern(*arguments[i].source), state_->labels);
    fiber->registers.data()[i] = std::move(arguments[i].value);
  }
  make_ready(*state_, *fiber);
  state_->fibers.emplace(fiber->id, std::move(fiber));
}

Machine::Machine(std::unique_ptr<MachineState> state) : state_(std::move(state)) {}
Machine::Machine(Machine&&) noexcept = default;
Machine& Machine::operator=(Machine&&) noexcept = default;
Machine::~Machine() = default;

Step Machine::run(std::uint64_t instructions_max) {
  MachineState& state = *state_;
  std::uint64_t left = instructions_max;
  while (!state.end && !state.ready.empty()) {
    if (left == 0) return Paused{};
    Fiber& fiber = state.fiber(state.ready.front());
    state.ready.pop_front();
    const ScopeId scope = fiber.frames.back().scope;
    const std::uint64_t allowed = std::min(left, instructions_left(state, scope));
    if (allowed == 0) {
      ENSURE(fail_instructions(state, scope) == OpStatus::Failed);
      unwind(state, fiber.id);
      continue;
    }
    std::uint64_t fuel = allowed;
    const Exit exit = interpret(state, fiber, fuel, depth_limit(state, scope));
    const std::uint64_t used = allowed - fuel + std::exchange(state.deferred_cost, 0);
    charge_instructions(state, scope, used);
    state.instructions += used;
    left -= std::min(left, used);
    proceed(state, fiber, exit);
  }
  if (state.end) return *state.end;
  return Waiting{};
}

std::vector<Request> Machine::take_requests() {
  std::vector<Request> requests;
  for (const RequestId id : std::exchange(state_->untaken, {})) {
    Fiber& fiber = state_->fiber(state_->waiting.at(id));
    fiber.is_request_taken = true;
    requests.push_back(request_of(*state_, fiber));
  }
  return requests;
}

std::vector<Request> Machine::pending_requests() {
  std::vector<Request> requests;
  for (const auto& [id, fiber] : state_->waiting) requests.push_back(request_of(*state_, state_->fiber(fiber)));
  return requests;
}

std::vector<RequestId> Machine::take_cancelled() {
  return std::exchange(state_->cancelled, {});
}

std::vector<RequestId> Machine::take_awaited_calls() {
  return std::exchange(state_->awaited_calls, {});
}

std::vector<Refusal> Machine::take_refusals() {
  return std::exchange(state_->refusals, {});
}

Result<void, ResumeError> Machine::resume(RequestId request, Outcome outcome) {
  return take_outcome(*state_, request, std::move(outcome));
}

bool Machine::cancel(std::string reason) {
  if (state_->end || !has_cleanup(*state_)) return false;
  cancel_run(*state_, std::move(reason));
  return true;
}

void Machine::set_agent_state(Value agent_state) {
  for (const auto& [id, fiber] : state_->fibers) fiber->agent_state = agent_state;
}

void Machine::set_kept_states(std::vector<Value> states, LabelId handoffs) {
  Value kept = states.empty() ? Value() : Value::list(std::move(states));
  kept.set_label(handoffs);
  for (const auto& [id, fiber] : state_->fibers) {
    fiber->kept_states = kept;
    inherit_regions(*state_, *fiber, handoffs);
  }
}

LabelId Machine::handoffs() const {
  return kept_states_of(*state_).label();
}

LabelId Machine::questions() const {
  return state_->questions;
}

std::span<const Value> Machine::kept_states() const {
  const Value& kept = kept_states_of(*state_);
  return kept.tag() == Tag::List ? kept.items() : std::span<const Value>();
}

bool swap_agent_state(Fiber& fiber, types::TypeId state) {
  const auto is_of = [](const Value& value, types::TypeId type) {
    return value.tag() == Tag::Record && value.type() == type;
  };
  std::vector<Value> kept;
  const bool is_record = fiber.agent_state.tag() == Tag::Record;
  if (is_record) kept.push_back(fiber.agent_state);
  if (fiber.kept_states.tag() == Tag::List) {
    for (const Value& other : fiber.kept_states.items()) {
      const bool is_newer_kept = is_record && is_of(other, fiber.agent_state.type());
      if (other.tag() == Tag::Record && !is_newer_kept) kept.push_back(other);
    }
  }
  const auto found = std::find_if(kept.begin(), kept.end(), [&](const Value& other) { return is_of(other, state); });
  const bool is_found = found != kept.end();
  fiber.agent_state = is_found ? std::move(*found) : Value();
  if (is_found) kept.erase(found);
  const LabelId handoffs = fiber.kept_states.label();
  fiber.kept_states = kept.empty() ? Value() : Value::list(std::move(kept));
  fiber.kept_states.set_label(handoffs);
  return is_found;
}

const Value& Machine::agent_state() const {
  const auto root = state_->fibers.find(FiberId{0});
  return root == state_->fibers.end() ? state_->agent_state_at_end : root->second->agent_state;
}

CallStack Machine::call_stack(RequestId request) const {
  const auto waiting = state_->waiting.find(request);
  if (waiting == state_->waiting.end()) return {};
  return call_stack_of(*state_, state_->fiber(waiting->second));
}

std::optional<std::uint64_t> Machine::time_left(RequestId request) const {
  const auto waiting = state_->waiting.find(request);
  if (waiting == state_->waiting.end()) return std::nullopt;
  return vm::time_left(*state_, state_->fiber(waiting->second).frames.back().scope);
}

bool Machine::is_streamed_output(RequestId request) const {
  const auto waiting = state_->waiting.find(request);
  return waiting != state_->waiting.end() && vm::is_streamed_output(*state_, state_->fiber(waiting->second));
}

std::vector<std::uint32_t> Machine::waiting_agents(RequestId request) const {
  std::vector<std::uint32_t> agents;
  const auto waiting = state_->waiting.find(request);
  if (waiting == state_->waiting.end()) return agents;
  const std::vector<bytecode::Function>& functions = state_->program->program().functions;
  bool is_caller_next = false;  // the frame is one that an agent was called from
  for (const Fiber* fiber = &state_->fiber(waiting->second); fiber != nullptr;) {
    for (auto frame = fiber->frames.rbegin(); frame != fiber->frames.rend(); ++frame) {
      const bytecode::Function& function = functions[frame->function];
      if (is_caller_next) {
        // A function of no agent was called from elsewhere, unless it is the run's own.
        agents.push_back(no_agent);
        is_caller_next = false;
      }
      if (!agents.empty() && agents.back() == no_agent) agents.back() = function.agent;
      if (function.is_agent_run) is_caller_next = true;
    }
    fiber = fiber->parent.number == FiberId::none ? nullptr : state_->fibers.at(fiber->parent).get();
  }
  return agents;
}

CallStack Machine::call_stack() const {
  if (state_->fibers.empty()) return {};
  return call_stack_of(*state_, *state_->fibers.rbegin()->second);
}

const LoadedProgram& Machine::program() const {
  return *state_->program;
}
LabelTable& Machine::labels() {
  return state_->labels;
}
const LabelTable& Machine::labels() const {
  return state_->labels;
}
std::uint64_t Machine::instructions() const {
  return state_->instructions;
}
void Machine::set_observer(Observer* observer) {
  state_->observer = observer;
}

}  // namespace tenon::vm
