#include "bytecode/control_regions.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "base/ensure.h"
#include "bytecode/windows.h"

namespace tenon::bytecode {
namespace {

/// What an agent changes that takes over.
const StateWrites whole_turn{.all = true, .hands_off = true};
const StateWrites question{.asks = true};

Opcode opcode_of(Instruction instruction) {
  return static_cast<Opcode>(instruction.opcode);
}

bool calls_tool(Instruction instruction) {
  return opcode_of(instruction) == Opcode::CallTool || opcode_of(instruction) == Opcode::CallToolInParts;
}

bool asks_by(const Program& program, Instruction instruction) {
  return opcode_of(instruction) == Opcode::CallExtern && may_ask(program.externs[instruction.wide()]);
}

std::uint32_t jump_target(std::uint32_t pc, Instruction instruction) {
  return static_cast<std::uint32_t>(std::int64_t{pc} + 1 + instruction.signed_wide());
}

bool is_in(std::uint32_t pc, const Handler& handler) {
  return pc >= handler.begin && pc < handler.end;
}

/// Visits where control can go from an instruction within its function: nowhere when it returns or fails.
void for_each_successor(const Program& program, const Function& function, std::uint32_t pc, auto visit) {
  const Instruction instruction = function.code[pc];
  switch (opcode_of(instruction)) {
    case Opcode::Jump:
      return visit(jump_target(pc, instruction));
    case Opcode::JumpIf:
    case Opcode::JumpUnless:
    case Opcode::ForList:
    case Opcode::ForMap:
    case Opcode::ForRange:
    case Opcode::ForInclusiveRange:
      visit(pc + 1);
      return visit(jump_target(pc, instruction));
    case Opcode::Switch: {
      const JumpTable& table = program.jump_tables[instruction.wide()];
      for (const std::uint32_t target : table.targets) visit(target);
      return visit(table.otherwise);
    }
    case Opcode::Return:
    case Opcode::ReturnUnit:
    case Opcode::EndBranch:
    case Opcode::Fail:
    case Opcode::Raise:
    case Opcode::BreakContract:
    case Opcode::BreakRequires:
    case Opcode::Unreachable:
      return;
    default:
      visit(pc + 1);
  }
}

/// Where the branches begin that the instruction runs.
std::vector<std::uint32_t> branches_at(const Program& program, const Function& function, std::uint32_t pc) {
  const Instruction instruction = function.code[pc];
  if (opcode_of(instruction) == Opcode::Parallel) return program.jump_tables[instruction.wide()].targets;
  if (opcode_of(instruction) == Opcode::ParallelFor) return {jump_target(pc, instruction)};
  return {};
}

bool returns(Opcode opcode) {
  return opcode == Opcode::Return || opcode == Opcode::ReturnUnit || opcode == Opcode::EndBranch;
}

void add_written_registers(const Program& program, const Function& function, Instruction instruction,
                           std::set<std::uint16_t>& registers) {
  const InstructionInfo* const info = find_instruction(instruction.opcode);
  ENSURE(info != nullptr);
  const std::array<std::uint16_t, 3> places = {instruction.a, instruction.b, instruction.c};
  for (std::size_t at = 0; at < places.size(); ++at) {
    const Operand operand = info->operands[at];
    if (operand == Operand::Write || operand == Operand::ReadWrite) registers.insert(places[at]);
  }
  if (info->operands[0] != Operand::Window) return;
  const std::size_t count =
      std::min<std::size_t>(written_window(program, instruction), function.register_count - instruction.a);
  for (std::size_t k = 0; k < count; ++k) registers.insert(static_cast<std::uint16_t>(instruction.a + k));
}

/// The functions of the program that the instruction may run.
std::vector<std::uint32_t> callees_of(const Program& program, Instruction instruction) {
  std::vector<std::uint32_t> callees;
  if (opcode_of(instruction) == Opcode::Call) callees.push_back(instruction.wide());
  if (calls_tool(instruction)) {
    for (const Tool& tool : program.tools) callees.push_back(tool.function);
  }
  const bool calls_native = opcode_of(instruction) == Opcode::CallExtern &&
                            program.externs[instruction.wide()].builtin_effect == types::BuiltinEffect::Native;
  // An extern can let an agent take a turn.
  for (std::size_t at = 0; calls_native && at < program.agents.size(); ++at) {
    for (const std::uint32_t turn : {program.agents[at].run, program.agents[at].take_over}) {
      if (turn != no_function) callees.push_back(turn);
    }
  }
  return callees;
}

/// The entries that the StoreState at `pc` changes: those that were set since its register got the state.
StateWrites writes_of_store(const Function& function, std::uint32_t pc) {
  const std::uint16_t at = function.code[pc].a;
  StateWrites writes;
  for (std::uint32_t before = pc; before-- > 0;) {
    const Instruction instruction = function.code[before];
    const Opcode opcode = opcode_of(instruction);
    if (opcode == Opcode::TakeState && instruction.a == at) return writes;
    if (opcode == Opcode::SetField && instruction.a == at) {
      writes.add(instruction.b);
    } else if (opcode == Opcode::TakeField && instruction.b == at) {
      writes.add(instruction.c);
    } else {
      const InstructionInfo* const info = find_instruction(instruction.opcode);
      const bool is_first = info->operands[0] == Operand::Write || info->operands[0] == Operand::ReadWrite;
      if ((is_first && instruction.a == at) || (info->operands[1] == Operand::ReadWrite && instruction.b == at)) break;
    }
  }
  writes.add(StateWrites{.all = true});
  return writes;
}

}  // namespace

void StateWrites::add(std::uint16_t entry) {
  if (all) return;
  const auto place = std::ranges::lower_bound(entries, entry);
  if (place == entries.end() || *place != entry) entries.insert(place, entry);
}

void StateWrites::add(const StateWrites& other) {
  if (other.all) {
    all = true;
    entries.clear();
  }
  for (const std::uint16_t entry : other.entries) add(entry);
  hands_off |= other.hands_off;
  asks |= other.asks;
}

Decision decision_of_handler(const Function& function, std::size_t handler) {
  return static_cast<Decision>(function.code.size() + handler);
}

Decision decision_of_cleanup(const Function& function, std::size_t finally_handler) {
  return static_cast<Decision>(function.code.size() + function.handlers.size() + finally_handler);
}

bool is_decision(const Function& function, Decision decision) {
  if (decision == whole_function) return true;
  if (decision < function.code.size()) return decides(opcode_of(function.code[decision]));
  return decision < decision_of_cleanup(function, function.finally_handlers.size());
}

bool decides(Opcode opcode) {
  switch (opcode) {
    case Opcode::JumpIf:
    case Opcode::JumpUnless:
    case Opcode::Switch:
    case Opcode::ForList:
    case Opcode::ForMap:
    case Opcode::ForRange:
    case Opcode::ForInclusiveRange:
    case Opcode::CallTool:
    case Opcode::CallToolInParts:
      return true;
    default:
      return false;
  }
}

/// The post-dominators of one function's code, and its regions.
class ControlRegions::FunctionRegions {
 public:
  FunctionRegions(const ControlRegions& regions, const Function& function)
      : regions_(regions),
        function_(function),
        size_(static_cast<std::uint32_t>(function.code.size())),
        by_decision_(decision_of_cleanup(function, function.finally_handlers.size()) + 1U) {
    find_post_dominators();
    find_trials();
    mark();
  }
  ~FunctionRegions() {
    for (auto& region : by_decision_) delete region.load();
  }
  FunctionRegions(const FunctionRegions&) = delete;
  FunctionRegions& operator=(const FunctionRegions&) = delete;

  const ControlRegion& region(Decision decision) {
    std::atomic<const ControlRegion*>& slot =
        by_decision_[decision == whole_function ? by_decision_.size() - 1 : decision];
    if (const ControlRegion* const known = slot.load(std::memory_order_acquire)) return *known;
    auto made = std::make_unique<const ControlRegion>(make_region(decision));
    const ControlRegion* published = nullptr;
    if (slot.compare_exchange_strong(published, made.get(), std::memory_order_acq_rel)) return *made.release();
    return *published;
  }

  [[nodiscard]] const Instruction* marked_code() const { return marked_.data(); }
  [[nodiscard]] const Instruction* code_with_trials() const {
    return with_trials_.empty() ? function_.code.data() : with_trials_.data();
  }
  [[nodiscard]] HandlerFacts handler_facts(std::size_t handler) const {
    return handler_facts_.empty() ? HandlerFacts() : handler_facts_[handler];
  }

  [[nodiscard]] Actions tried_actions(std::size_t index) const {
    const Handler& handler = function_.handlers[index];
    return actions_from(handler.begin, end_of_handler(handler), handler.begin);
  }
  [[nodiscard]] Actions actions() const { return actions_from(0, size_, size_); }

  [[nodiscard]] bool branches_ask(std::uint32_t pc) const {
    return asks_on(branches_at(regions_.program_, function_, pc), size_, pc);
  }

 private:
  static constexpr std::uint32_t unknown = UINT32_MAX;

  /// Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm", on the reversed graph, whose root is the
  /// function's end.
  void find_post_dominators() {
    const std::vector<std::uint32_t> finished = find_order();
    // What never comes to the end is dominated by it: nothing is certain to run after it.
    post_dominator_.assign(size_ + 1U, unknown);
    post_dominator_[size_] = size_;
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (std::size_t k = finished.size() - 1; k-- > 0;) {
        const std::uint32_t pc = finished[k];
        std::uint32_t common = returns(opcode_of(function_.code[pc])) ? size_ : unknown;
        for_each_successor(pc, [&](std::uint32_t next) {
          if (order_[next] == unknown || post_dominator_[next] == unknown) return;
          common = common == unknown ? next : common_post_dominator(common, next);
        });
        if (post_dominator_[pc] == common) continue;
        post_dominator_[pc] = common;
        is_changed = true;
      }
    }
    for (std::uint32_t& dominator : post_dominator_) {
      if (dominator == unknown) dominator = size_;
    }
  }

  /// What comes to the function's end, in post-order from there; `order_` has the numbers.
  std::vector<std::uint32_t> find_order() {
    // The predecessors of `pc` are before[first[pc]] up to before[first[pc + 1]].
    std::vector<std::uint32_t> first(size_ + 2U, 0);
    const auto for_each_edge = [&](auto visit) {
      for (std::uint32_t pc = 0; pc < size_; ++pc) {
        if (returns(opcode_of(function_.code[pc]))) visit(pc, size_);
        for_each_successor(pc, [&](std::uint32_t next) { visit(pc, next); });
      }
    };
    for_each_edge([&](std::uint32_t, std::uint32_t to) { ++first[to + 1]; });
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::uint32_t> before(first.back());
    std::vector<std::uint32_t> added(first);
    for_each_edge([&](std::uint32_t from, std::uint32_t to) { before[added[to]++] = from; });
    order_.assign(size_ + 1U, unknown);
    std::vector<std::uint32_t> finished;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open{{size_, first[size_]}};
    std::vector<bool> is_seen(size_ + 1U, false);
    is_seen[size_] = true;
    while (!open.empty()) {
      auto& [pc, next] = open.back();
      if (next == first[pc + 1]) {
        order_[pc] = static_cast<std::uint32_t>(finished.size());
        finished.push_back(pc);
        open.pop_back();
      } else if (const std::uint32_t predecessor = before[next++]; !is_seen[predecessor]) {
        is_seen[predecessor] = true;
        open.emplace_back(predecessor, first[predecessor]);
      }
    }
    return finished;
  }

  void for_each_successor(std::uint32_t pc, auto visit) const {
    bytecode::for_each_successor(regions_.program_, function_, pc, visit);
  }

  [[nodiscard]] std::uint32_t common_post_dominator(std::uint32_t a, std::uint32_t b) const {
    while (a != b) {
      while (order_[a] < order_[b]) a = post_dominator_[a];
      while (order_[b] < order_[a]) b = post_dominator_[b];
    }
    return a;
  }

  /// Where the paths with and without the failure meet again.
  [[nodiscard]] std::uint32_t end_of_handler(const Handler& handler) const {
    const bool can_continue = order_[handler.begin] != unknown;
    if (order_[handler.target] == unknown) return size_;
    std::uint32_t end = can_continue ? common_post_dominator(handler.begin, handler.target) : handler.target;
    while (end < size_ && is_in(end, handler)) end = post_dominator_[end];
    return end;
  }

  [[nodiscard]] std::uint32_t end_of(Decision decision) const {
    if (decision < size_) return calls_tool(function_.code[decision]) ? decision + 1 : post_dominator_[decision];
    const std::size_t handler = decision - size_;
    if (handler < function_.handlers.size()) return end_of_handler(function_.handlers[handler]);
    const std::size_t cleanup = handler - function_.handlers.size();
    return cleanup < function_.finally_handlers.size() ? function_.finally_handlers[cleanup].end : size_;
  }

  void find_trials() {
    // Programs compiled by older versions have handlers in the functions of agents that only restore a state.
    if (!regions_.has_actions() || function_.is_agent_run) return;
    for (std::size_t at = 0; at < function_.handlers.size(); ++at) {
      const Handler& handler = function_.handlers[at];
      const std::uint32_t end = end_of_handler(handler);
      handler_facts_.push_back(
          {tried_by(handler, end), can_fail_on(handler.target, end), order_[handler.target] != unknown});
    }
  }

  /// Whether an instruction on the paths from `begin` to `end` can fail.
  [[nodiscard]] bool can_fail_on(std::uint32_t begin, std::uint32_t end) const {
    bool found = false;
    walk({begin}, end, begin, [&](std::uint32_t pc) { found |= can_fail(function_.code[pc]); });
    return found;
  }

  /// What the paths from the handler's body to the region's end call, but for those through the handler.
  [[nodiscard]] Tried tried_by(const Handler& handler, std::uint32_t end) const {
    std::size_t tools = 0, actions = 0;
    bool has_loop = false;
    const auto visit = [&](std::uint32_t pc) {
      const Instruction instruction = function_.code[pc];
      has_loop |= opcode_of(instruction) == Opcode::ParallelFor;
      for_each_successor(pc, [&](std::uint32_t next) { has_loop |= next <= pc; });
      if (!regions_.may_act(instruction)) return;
      ++(calls_tool(instruction) ? tools : actions);
    };
    walk({handler.begin}, end, handler.begin, visit, Into::Branches);
    if (actions == 0 && tools == 0) return Tried::NoAction;
    return actions == 0 && tools == 1 && !has_loop ? Tried::ToolOfASet : Tried::Action;
  }

  /// The calls that act on the paths from `begin` to `end`. `origin`: as of `walk`.
  [[nodiscard]] Actions actions_from(std::uint32_t begin, std::uint32_t end, std::uint32_t origin) const {
    Actions found;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> loops;  // first and last instruction
    const auto visit = [&](std::uint32_t pc) {
      const Instruction instruction = function_.code[pc];
      if (regions_.may_act(instruction)) found.calls.push_back(pc);
      if (opcode_of(instruction) == Opcode::ParallelFor) loops.emplace_back(pc, after_branches(pc));
      for_each_successor(pc, [&](std::uint32_t next) {
        if (next <= pc && next != end) loops.emplace_back(next, pc);
      });
    };
    walk({begin}, end, origin, visit, Into::Branches);
    std::ranges::sort(found.calls);
    found.are_repeated = std::ranges::any_of(loops, [&](const auto& loop) {
      const auto call = std::ranges::lower_bound(found.calls, loop.first);
      return call != found.calls.end() && *call <= loop.second;
    });
    return found;
  }

  /// Where control continues after the branches of the instruction: they are between both.
  [[nodiscard]] std::uint32_t after_branches(std::uint32_t pc) const {
    std::uint32_t after = unknown;
    for_each_successor(pc + 1, [&](std::uint32_t next) {
      if (after == unknown) after = next;
    });
    return after == unknown ? size_ : std::max(after, pc + 1);
  }

  void mark() {
    for (std::size_t at = 0; at < handler_facts_.size(); ++at) {
      if (!handler_facts_[at].is_watched) continue;
      if (with_trials_.empty()) with_trials_ = function_.code;
      with_trials_[function_.handlers[at].begin].opcode = trial_begin;
    }
    marked_ = with_trials_.empty() ? function_.code : with_trials_;
    for (Decision decision = 0; decision + 1 < by_decision_.size(); ++decision) {
      if (!is_decision(function_, decision)) continue;
      if (const std::uint32_t end = end_of(decision); end < size_) marked_[end].opcode = region_end;
    }
  }

  ControlRegion make_region(Decision decision) {
    ControlRegion region;
    region.end = end_of(decision);
    if (decision < size_) {
      add_writes(region, {decision}, decision);
      return region;
    }
    if (decision == whole_function) {
      if (function_.is_agent_run) return region;  // it gives its caller's state back when it ends
      for (std::uint32_t pc = 0; pc < size_; ++pc) regions_.add_state_writes(function_, pc, region.state);
      return region;
    }
    const std::size_t handler = decision - size_;
    if (handler >= function_.handlers.size()) return region;  // it fails again
    const Handler& taken = function_.handlers[handler];
    region.registers.push_back(taken.failure);
    add_writes(region, {taken.begin, taken.target}, taken.target);
    // What fails in the rest of the body comes to the same handler.
    region.can_fail = can_fail_on(taken.target, region.end);
    return region;
  }

  /// What is written on the paths from `begins` to the region's end. `origin`: a handler around it is not part of the
  /// region.
  void add_writes(ControlRegion& region, const std::vector<std::uint32_t>& begins, std::uint32_t origin) {
    std::set<std::uint16_t> registers(region.registers.begin(), region.registers.end());
    bool has_branches = false;
    walk(begins, region.end, origin, [&](std::uint32_t pc) {
      const Instruction instruction = function_.code[pc];
      add_written_registers(regions_.program_, function_, instruction, registers);
      regions_.add_state_writes(function_, pc, region.state);
      region.can_fail |= can_fail(instruction);
      has_branches |= !branches_at(regions_.program_, function_, pc).empty();
      for (const Handler& handler : function_.handlers) {
        if (is_in(pc, handler) && !is_in(origin, handler)) registers.insert(handler.failure);
      }
    });
    region.registers.assign(registers.begin(), registers.end());
    // What branches do to the state ends with them, and what they ask does not.
    if (has_branches && !region.state.asks) region.state.asks = asks_on(begins, region.end, origin);
  }

  /// Whether a person may be asked on the paths from `begins` to `end`, also in branches. `origin`: as of `walk`.
  [[nodiscard]] bool asks_on(const std::vector<std::uint32_t>& begins, std::uint32_t end, std::uint32_t origin) const {
    StateWrites writes;
    const auto visit = [&](std::uint32_t pc) { regions_.add_state_writes(function_, pc, writes); };
    walk(begins, end, origin, visit, Into::Branches);
    return writes.asks;
  }

  /// The branches of `parallel` have registers and an agent's state of their own.
  enum class Into : bool { Frame, Branches };

  /// Visits each instruction on the paths from `begins` to `end` once; also through the handlers on them, but not
  /// through those around `origin`.
  void walk(const std::vector<std::uint32_t>& begins, std::uint32_t end, std::uint32_t origin, auto visit,
            Into into = Into::Frame) const {
    std::vector<bool> is_seen(size_, false);
    std::vector<std::uint32_t> open;
    const auto add = [&](std::uint32_t pc) {
      if (pc == end || is_seen[pc]) return;
      is_seen[pc] = true;
      open.push_back(pc);
    };
    for (const std::uint32_t pc : begins) add(pc);
    while (!open.empty()) {
      const std::uint32_t pc = open.back();
      open.pop_back();
      visit(pc);
      for_each_successor(pc, add);
      if (into == Into::Branches) std::ranges::for_each(branches_at(regions_.program_, function_, pc), add);
      for (const Handler& handler : function_.handlers) {
        if (is_in(pc, handler) && !is_in(origin, handler)) add(handler.target);
      }
    }
  }

  const ControlRegions& regions_;
  const Function& function_;
  const std::uint32_t size_;          ///< also the node of the function's end
  std::vector<std::uint32_t> order_;  ///< in post-order from the end, which has the highest; unknown: never comes there
  std::vector<std::uint32_t> post_dominator_;  ///< the immediate one
  std::vector<HandlerFacts> handler_facts_;    ///< empty in a program without actions
  std::vector<Instruction> with_trials_;       ///< empty: the function has none
  std::vector<Instruction> marked_;
  std::vector<std::atomic<const ControlRegion*>> by_decision_;
};

void ControlRegions::add_state_writes(const Function& function, std::uint32_t pc, StateWrites& writes) const {
  const Instruction instruction = function.code[pc];
  switch (opcode_of(instruction)) {
    case Opcode::StoreState:
      writes.add(writes_of_store(function, pc));
      return;
    case Opcode::SwapState:
      writes.add(whole_turn);
      return;
    case Opcode::Call:
      writes.add(writes_of_calls()[instruction.wide()]);
      return;
    case Opcode::CallExtern:
      if (asks_by(program_, instruction)) writes.add(question);
      return;
    case Opcode::CallTool:
    case Opcode::CallToolInParts:
      for (const Tool& tool : program_.tools) writes.add(writes_of_calls()[tool.function]);
      return;
    default:
      return;
  }
}

const std::vector<StateWrites>& ControlRegions::writes_of_calls() const {
  std::call_once(calls_once_, [this] {
    const std::size_t count = program_.functions.size();
    std::vector<StateWrites> writes(count);
    std::vector<std::vector<std::uint32_t>> callers(count);
    std::vector<std::uint32_t> changed;
    for (std::uint32_t index = 0; index < count; ++index) {
      const Function& function = program_.functions[index];
      // A new agent has a state of its own, and its caller gets back the one that it had.
      if (function.is_agent_run) continue;
      for (std::uint32_t pc = 0; pc < function.code.size(); ++pc) {
        const Instruction instruction = function.code[pc];
        if (opcode_of(instruction) == Opcode::StoreState) writes[index].add(writes_of_store(function, pc));
        if (opcode_of(instruction) == Opcode::SwapState) writes[index].add(whole_turn);
        if (asks_by(program_, instruction)) writes[index].add(question);
        if (opcode_of(instruction) == Opcode::Call) callers[instruction.wide()].push_back(index);
        if (!calls_tool(instruction)) continue;
        for (const Tool& tool : program_.tools) callers[tool.function].push_back(index);
      }
      if (!writes[index].is_empty()) changed.push_back(index);
    }
    while (!changed.empty()) {
      const std::uint32_t callee = changed.back();
      changed.pop_back();
      for (const std::uint32_t caller : callers[callee]) {
        const StateWrites before = writes[caller];
        writes[caller].add(writes[callee]);
        if (!(writes[caller] == before)) changed.push_back(caller);
      }
    }
    calls_ = std::move(writes);
  });
  return calls_;
}

bool ControlRegions::may_act(Instruction instruction) const {
  if (opcode_of(instruction) == Opcode::CallExtern && acts(program_.externs[instruction.wide()])) return true;
  return std::ranges::any_of(callees_of(program_, instruction),
                             [&](std::uint32_t callee) { return functions_that_act_[callee]; });
}

ControlRegions::ControlRegions(const Program& program)
    : program_(program),
      has_actions_(std::ranges::any_of(program.externs, acts)),
      has_questions_(std::ranges::any_of(program.externs, may_ask)),
      functions_that_act_(has_actions_ ? program.functions.size() : 0, false),
      functions_(program.functions.size()) {
  if (has_actions_) find_functions_that_act();
}

void ControlRegions::find_functions_that_act() {
  const std::vector<Function>& functions = program_.functions;
  std::vector<std::set<std::uint32_t>> callers(functions.size());
  std::vector<std::uint32_t> found;
  const auto add = [&](std::uint32_t function) {
    if (!functions_that_act_[function]) found.push_back(function);
    functions_that_act_[function] = true;
  };
  for (std::uint32_t index = 0; index < functions.size(); ++index) {
    for (const Instruction instruction : functions[index].code) {
      if (may_act(instruction)) add(index);
      for (const std::uint32_t callee : callees_of(program_, instruction)) callers[callee].insert(index);
    }
  }
  while (!found.empty()) {
    const std::uint32_t callee = found.back();
    found.pop_back();
    for (const std::uint32_t caller : callers[callee]) add(caller);
  }
}

ControlRegions::~ControlRegions() {
  for (auto& function : functions_) delete function.load();
}

const ControlRegion& ControlRegions::region(std::uint32_t function, Decision decision) const {
  return of(function).region(decision);
}

const Instruction* ControlRegions::marked_code(std::uint32_t function) const {
  return of(function).marked_code();
}

const Instruction* ControlRegions::code_with_trials(std::uint32_t function) const {
  // To look for the ends of regions costs more than to look for handlers.
  const Function& owner = program_.functions[function];
  return has_actions_ && !owner.handlers.empty() ? of(function).code_with_trials() : owner.code.data();
}

HandlerFacts ControlRegions::handler_facts(std::uint32_t function, std::size_t handler) const {
  return has_actions_ ? of(function).handler_facts(handler) : HandlerFacts();
}

Actions ControlRegions::tried_actions(std::uint32_t function, std::size_t handler) const {
  return has_actions_ ? of(function).tried_actions(handler) : Actions();
}

Actions ControlRegions::actions(std::uint32_t function) const {
  return has_actions_ ? of(function).actions() : Actions();
}

bool ControlRegions::asks(std::uint32_t function) const {
  return has_questions_ && writes_of_calls()[function].asks;
}

bool ControlRegions::branches_ask(std::uint32_t function, std::uint32_t pc) const {
  return has_questions_ && of(function).branches_ask(pc);
}

ControlRegions::FunctionRegions& ControlRegions::of(std::uint32_t function) const {
  std::atomic<FunctionRegions*>& slot = functions_[function];
  if (FunctionRegions* const known = slot.load(std::memory_order_acquire)) return *known;
  auto made = std::make_unique<FunctionRegions>(*this, program_.functions[function]);
  FunctionRegions* published = nullptr;
  if (slot.compare_exchange_strong(published, made.get(), std::memory_order_acq_rel)) return *made.release();
  return *published;
}

}  // namespace tenon::bytecode
