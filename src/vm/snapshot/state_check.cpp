#include "vm/snapshot/state_check.h"

#include <algorithm>

#include "vm/execution/agent_prompts.h"
#include "vm/execution/finally_handlers.h"
#include "vm/execution/implicit_flows.h"
#include "vm/execution/tool_sets.h"
#include "vm/values/object.h"

namespace tenon::vm {
namespace {

using bytecode::Instruction;
using bytecode::Opcode;

class StateChecker {
 public:
  explicit StateChecker(MachineState& state) : state_(state) {}

  Result<void, StateError> run() {
    check_scopes();
    if (is_good_) check_end();
    for (const auto& [id, fiber] : state_.fibers) {
      if (is_good_) check_fiber(*fiber);
    }
    if (is_good_) check_branches();
    if (is_good_) check_regions();
    if (is_good_) check_trials();
    if (is_good_) check_scope_owners();
    if (is_good_) check_queues();
    if (is_good_) return {};
    return failure(std::move(error_));
  }

 private:
  void expect(bool holds, std::string_view complaint) {
    if (holds || !is_good_) return;
    is_good_ = false;
    error_.message = "the snapshot is damaged: ";
    error_.message += complaint;
  }

  [[nodiscard]] bool is_open(ScopeId scope) const {
    return scope.index < state_.scopes.size() && state_.scopes[scope.index].is_open;
  }

  void check_scopes() {
    const auto& scopes = state_.scopes;
    expect(!scopes.empty() && scopes[0].is_open && scopes[0].parent.index == ScopeId::none &&
               scopes[0].budget == UINT32_MAX,
           "there are no bounds of the run");
    expect(scopes.empty() || scopes[0].kind == ScopeKind::Budget, "there are no bounds of the run");
    for (const BudgetScope& scope : scopes) expect(state_.labels.contains(scope.label), "a budget has no label");
    expect(state_.labels.contains(state_.allowance.label), "a budget has no label");
    expect(state_.labels.contains(state_.questions), "what a person was asked has no label");
    for (std::size_t i = 1; i < scopes.size() && is_good_; ++i) {
      if (!scopes[i].is_open) {
        state_.free_scopes.insert(static_cast<std::uint32_t>(i));
        continue;
      }
      expect(is_open(scopes[i].parent), "a budget is inside one that is not open");
      if (scopes[i].kind == ScopeKind::Budget) {
        expect(scopes[i].budget < state_.program->program().budgets.size(), "a budget is not in the program");
      } else {
        const BudgetScope& own = scopes[i];
        expect(own.budget == UINT32_MAX && own.bounds == bytecode::Bounds{}, "a `finally` has bounds of its own");
      }
    }
    if (!is_good_) return;
    // All scopes lead to the run's: a scope that was already checked need not be followed again.
    std::vector<bool> leads(scopes.size(), false);
    leads[0] = true;
    std::vector<std::uint32_t> path;
    for (std::uint32_t i = 1; i < scopes.size() && is_good_; ++i) {
      path.clear();
      for (std::uint32_t at = i; scopes[at].is_open && !leads[at] && is_good_; at = scopes[at].parent.index) {
        path.push_back(at);
        expect(path.size() <= scopes.size(), "the budgets form a cycle");
      }
      for (const std::uint32_t at : path) leads[at] = true;
    }
  }

  void check_end() {
    expect(state_.fibers.empty() == state_.end.has_value(), "the run is both ended and in progress");
    if (state_.fibers.empty()) return;
    const Fiber& first = *state_.fibers.begin()->second;
    expect(first.parent.number == FiberId::none && first.id.number == 0, "the first strand is a branch");
    expect(state_.fibers.size() <= fibers_max + 1, "there are too many branches");
  }

  const Callable& callable_of(const Frame& frame) { return state_.program->callables()[frame.function]; }
  Instruction instruction_of(const Frame& frame) { return state_.program->code_of(frame.function)[frame.pc]; }

  void check_fiber(const Fiber& fiber) {
    const auto& functions = state_.program->program().functions;
    expect(fiber.id.number < state_.next_fiber, "a branch has an id that was not assigned");
    expect(!fiber.frames.empty() && fiber.frames[0].base == 0, "a branch has no frames");
    std::size_t reach = 0;
    for (std::size_t k = 0; k < fiber.frames.size() && is_good_; ++k) {
      const Frame& frame = fiber.frames[k];
      expect(frame.function < functions.size() && frame.pc < functions[frame.function].code.size(),
             "a frame is in no function");
      expect(is_open(frame.scope), "a frame's budget is not open");
      if (!is_good_) return;
      reach = std::max<std::size_t>(reach, std::size_t{frame.base} + callable_of(frame).register_count);
      if (k > 0) check_call(fiber.frames[k - 1], frame);
    }
    expect(reach <= registers_max + bytecode::registers_per_function_max && reach <= fiber.registers.capacity(),
           "registers are missing");
    if (is_good_) check_waiting(fiber);
  }

  /// The caller is at a call of the callee, whose registers are its window.
  void check_call(const Frame& caller, const Frame& callee) {
    const Instruction call = instruction_of(caller);
    expect((is_call_of(call, callee.function) || is_prompt_of(call, callee.function) ||
            is_tool_of(call, callee.function)) &&
               callee.base == std::uint64_t{caller.base} + call.a,
           "a frame was not called");
    expect(scope_after(callee, 0) == caller.scope, "a frame's budgets are not in its caller's");
  }

  /// A call of the function, or of a turn that the function has replaced after a handoff.
  [[nodiscard]] bool is_call_of(Instruction call, std::uint32_t callee) const {
    if (call.opcode != static_cast<std::uint16_t>(Opcode::Call)) return false;
    if (call.wide() == callee) return true;
    const bytecode::Program& program = state_.program->program();
    return is_turn(program, call.wide()) && is_turn(program, callee) &&
           program.functions[call.wide()].result == program.functions[callee].result;
  }

  /// A call of an extern that has prompted an agent.
  [[nodiscard]] bool is_prompt_of(Instruction call, std::uint32_t callee) const {
    if (call.opcode != static_cast<std::uint16_t>(Opcode::CallExtern)) return false;
    const bytecode::Program& program = state_.program->program();
    const bytecode::Extern& caller = program.externs[call.wide()];
    const std::uint32_t agent = program.functions[callee].agent;
    return caller.builtin_effect == types::BuiltinEffect::Native && agent != UINT32_MAX &&
           program.agents[agent].run == callee &&
           may_stand_for(program.types, program.functions[callee].result, caller.result);
  }

  /// The call of a tool, which its set determines.
  [[nodiscard]] bool is_tool_of(Instruction call, std::uint32_t callee) const {
    const auto& tools = state_.program->program().tools;
    if (call.opcode == static_cast<std::uint16_t>(Opcode::CallToolInParts)) {
      return std::ranges::find(tools, callee, &bytecode::Tool::function_in_parts) != tools.end();
    }
    return call.opcode == static_cast<std::uint16_t>(Opcode::CallTool) &&
           std::ranges::find(tools, callee, &bytecode::Tool::function) != tools.end();
  }

  /// The scope of a frame when all its budgets except `kept` are closed; the frame's own scope if it does not have that
  /// many.
  ScopeId scope_after(const Frame& frame, std::uint32_t kept) {
    ScopeId scope = frame.scope;
    expect(frame.open_budgets >= kept && frame.open_budgets - kept <= state_.scopes.size(),
           "a frame has too many budgets");
    for (std::uint32_t open = frame.open_budgets; is_good_ && open > kept; --open) {
      expect(scope != run_scope, "a frame has entered the run's own budget");
      if (!is_good_) break;
      owners_.push_back(scope.index);
      scope = state_.scopes[scope.index].parent;
    }
    return scope;
  }

  void check_waiting(const Fiber& fiber) {
    const Frame& frame = fiber.frames.back();
    const Instruction instruction = instruction_of(frame);
    const auto opcode = static_cast<Opcode>(instruction.opcode);
    const Value* const r = fiber.registers.data() + frame.base;
    const bool is_asked = fiber.approval == Approval::Asked;
    expect(
        fiber.approval == Approval::None ||
            (opcode == Opcode::CallExtern && fiber.state == (is_asked ? FiberState::Requesting : FiberState::Ready) &&
             state_.program->program().externs[instruction.wide()].approval != bytecode::no_extern),
        "a branch asks for the approval of no call");
    const bool asks_model = opcode == Opcode::Complete || opcode == Opcode::Fill || opcode == Opcode::Select;
    switch (fiber.state) {
      case FiberState::Ready:
        break;
      case FiberState::Requesting: {
        expect(asks_model || opcode == Opcode::CallExtern, "a branch waits where nothing is requested");
        if (is_good_ && asks_model) {
          const std::uint16_t context = state_.program->program().functions[frame.function].context_register;
          expect(r[context].tag() == Tag::Context, "a context is missing");
          if (is_good_ && opcode == Opcode::Select) check_sets(r + instruction.a, instruction.wide());
        }
        expect(fiber.request.number < state_.next_request, "a request has an id that was not assigned");
        break;
      }
      case FiberState::Joining: {
        const std::size_t branches = fiber.block.values.size();
        if (opcode == Opcode::Parallel) {
          expect(branches == state_.program->program().jump_tables[instruction.wide()].targets.size(),
                 "a block has another number of branches");
        } else if (opcode == Opcode::ParallelFor) {
          expect(r[instruction.a].tag() == Tag::List && r[instruction.a].items().size() == branches &&
                     r[instruction.a + 1].tag() == Tag::Integer && r[instruction.a + 1].as_integer() >= 1,
                 "a block has another number of branches");
        } else {
          expect(false, "a branch waits without a block");
        }
        expect(fiber.block.finished < fiber.block.started && fiber.block.started <= branches,
               "a block counts its branches wrongly");
        running_[fiber.id] = fiber.block.started - fiber.block.finished;
        break;
      }
    }
    if (fiber.state != FiberState::Joining) expect(fiber.block.values.empty(), "values of a block are left over");
    if (fiber.awaited.tag() == Tag::Unit) return;
    const bool may_wait = fiber.state == FiberState::Joining || (is_good_ && awaits_once_call(state_, fiber));
    expect(may_wait && read_failure(fiber.awaited, *state_.program).has_value(), "a branch waits with no failure");
  }

  /// The sets of a select are in the registers of its answer.
  void check_sets(const Value* window, std::uint32_t site) {
    const bytecode::Program& program = state_.program->program();
    const std::size_t sets = bytecode::count_sets(program.sites[site]);
    std::size_t options = program.sites[site].clauses.size() - sets;
    for (std::size_t at = 0; at < sets && is_good_; ++at) {
      const auto tools = find_tools(window[1 + at], program);
      expect(tools.has_value(), "a set of tools is missing");
      if (tools) options += tools->size();
    }
    expect(sets == 0 || (options > 0 && options <= select_options_max), "there is nothing to choose from, or too much");
  }

  void check_branches() {
    std::set<std::pair<FiberId, std::uint32_t>> seen;
    for (const auto& [id, fiber] : state_.fibers) {
      const Frame& first = fiber->frames.front();
      if (fiber->parent.number == FiberId::none) {
        expect(id.number == 0 && fiber->budget_floor == 0 && fiber->depth_base == 0, "there are two runs");
        expect(scope_after(first, 0) == run_scope, "the first frame's budgets are not in the run's");
        if (!is_good_) return;
        continue;
      }
      const auto parent = state_.fibers.find(fiber->parent);
      expect(parent != state_.fibers.end() && parent->first < id && parent->second->state == FiberState::Joining,
             "a branch belongs to no block");
      if (!is_good_) return;
      const Fiber& owner = *parent->second;
      const Frame& block = owner.frames.back();
      expect(fiber->branch < owner.block.started && seen.emplace(owner.id, fiber->branch).second,
             "a branch runs twice");
      expect(fiber->block_pc == block.pc && first.function == block.function && fiber->depth_base + 1 == owner.depth(),
             "a branch is not in its block");
      expect(fiber->budget_floor == block.open_budgets && scope_after(first, fiber->budget_floor) == block.scope,
             "a branch's budgets are not in its block's");
      if (!is_good_) return;
      --running_[owner.id];
    }
    for (const auto& [id, missing] : running_) expect(missing == 0, "branches of a block are missing");
  }

  /// Parents come before their branches, so what they depend on is known.
  void check_regions() {
    for (const auto& [id, fiber] : state_.fibers) {
      const std::vector<OpenRegion>& regions = fiber->regions;
      for (std::size_t k = 0; k < regions.size() && is_good_; ++k) {
        const OpenRegion& region = regions[k];
        expect(region.frame < fiber->frames.size() && (k == 0 || regions[k - 1].frame <= region.frame),
               "a region of decisions is in no frame");
        if (!is_good_) return;
        Frame& frame = fiber->frames[region.frame];
        expect(bytecode::is_decision(state_.program->program().functions[frame.function], region.decision),
               "a region begins where nothing is decided");
        expect(state_.labels.contains(region.label) && region.label != LabelTable::program_text,
               "a region has no label");
        for (std::size_t other = k; other-- > 0 && regions[other].frame == region.frame;) {
          expect(regions[other].decision != region.decision, "a region is open twice");
        }
        ++frame.open_regions;
      }
      if (is_good_) fiber->control = control_of(state_, *fiber);
    }
  }

  void check_trials() {
    const bytecode::ControlRegions& regions = state_.program->control_regions();
    for (const auto& [id, fiber] : state_.fibers) {
      const std::vector<Trial>& trials = fiber->trials;
      for (std::size_t k = 0; k < trials.size() && is_good_; ++k) {
        const Trial& trial = trials[k];
        expect(trial.frame < fiber->frames.size() && (k == 0 || trials[k - 1].frame <= trial.frame),
               "a trial is in no frame");
        if (!is_good_) return;
        Frame& frame = fiber->frames[trial.frame];
        const std::size_t handlers = state_.program->program().functions[frame.function].handlers.size();
        expect(trial.handler < handlers, "a trial has no handler");
        if (!is_good_) return;
        expect(regions.handler_facts(frame.function, trial.handler).is_watched, "nothing is tried");
        expect(state_.labels.contains(trial.label) && state_.labels.contains(trial.doubt), "a trial has no label");
        for (std::size_t other = k; other-- > 0 && trials[other].frame == trial.frame;) {
          expect(trials[other].handler != trial.handler, "a trial has begun twice");
        }
        ++frame.open_regions;
      }
    }
  }

  void check_scope_owners() {
    std::ranges::sort(owners_);
    expect(std::ranges::adjacent_find(owners_) == owners_.end(), "a budget belongs to two frames");
    std::size_t open = 0;
    for (const BudgetScope& scope : state_.scopes) open += scope.is_open ? 1 : 0;
    // After the end, open budgets are left unchanged.
    if (!state_.end) expect(owners_.size() + 1 == open, "a budget belongs to no frame");
  }

  void check_queues() {
    std::set<FiberId> ready;
    for (const FiberId id : state_.ready) {
      const auto fiber = state_.fibers.find(id);
      expect(fiber != state_.fibers.end() && fiber->second->state == FiberState::Ready && ready.insert(id).second,
             "what is to run next cannot run");
    }
    for (const auto& [id, fiber] : state_.fibers) {
      if (fiber->state == FiberState::Ready) expect(ready.contains(id), "a branch that can run is forgotten");
      if (fiber->state != FiberState::Requesting) continue;
      expect(state_.waiting.emplace(fiber->request, id).second, "two branches wait for one request");
    }
    for (const auto& [request, id] : state_.waiting) {
      if (!state_.fiber(id).is_request_taken) state_.untaken.push_back(request);
      if (state_.fiber(id).awaited.tag() != Tag::Unit) state_.awaited_calls.push_back(request);
    }
  }

  MachineState& state_;
  bool is_good_ = true;
  StateError error_;
  std::vector<std::uint32_t> owners_;        ///< scopes that frames have entered
  std::map<FiberId, std::int64_t> running_;  ///< branches of a block, minus those that were found
};

}  // namespace

Result<void, StateError> check_state(MachineState& state) {
  return StateChecker(state).run();
}

}  // namespace tenon::vm
