#include "flows/frame_analysis.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "bytecode/windows.h"
#include "types/extern_calls.h"

namespace tenon::flows {

using bytecode::Instruction;
using bytecode::Opcode;

FrameAnalysis::FrameAnalysis(ProgramAnalysis& program, CallId call, CallInputs inputs)
    : program_(program),
      labels_(program.labels()),
      values_(program.values()),
      call_(call),
      inputs_(std::move(inputs)),
      index_(inputs_.function),
      function_(program.program().functions[index_]),
      leaders_(program.facts().leaders_of(index_)) {}

void FrameAnalysis::run() {
  Strand root;
  root.control = inputs_.control;
  static_cast<void>(add_strand(std::move(root)));
  FrameState state;
  state.registers.assign(function_.register_count, Values::clean);
  std::ranges::copy(inputs_.arguments, state.registers.begin());
  state.agent_state = inputs_.agent_state;
  state.kept_states = inputs_.kept_states;
  state.spent = inputs_.spent;
  flow(0, 0, state);
  while (!pending_.empty()) {
    const auto [pc, strand] = *pending_.begin();
    pending_.erase(pending_.begin());
    execute(strand, pc);
  }
}

std::vector<SinkVisit> FrameAnalysis::sinks() const {
  std::vector<SinkVisit> all;
  for (const auto& [place, visit] : sinks_) all.push_back(visit);
  return all;
}

std::vector<TrialVisit> FrameAnalysis::trials() const {
  std::vector<TrialVisit> all;
  for (const auto& [handler, visit] : trials_) all.push_back(visit);
  return all;
}

void FrameAnalysis::flow(std::uint32_t strand, std::uint32_t pc, const FrameState& state) {
  std::optional<FrameState>& known = strands_[strand].states[leaders_[pc]];
  if (known && !merge_into(*known, state, labels_, values_)) return;
  if (!known) known = state;
  pending_.emplace(pc, strand);
}

void FrameAnalysis::flow(std::uint32_t strand, std::uint32_t pc, FrameState&& state) {
  std::optional<FrameState>& known = strands_[strand].states[leaders_[pc]];
  if (known && !merge_into(*known, state, labels_, values_)) return;
  if (!known) known = std::move(state);
  pending_.emplace(pc, strand);
}

void FrameAnalysis::execute(std::uint32_t strand, std::uint32_t first) {
  FrameState state = *strands_[strand].states[leaders_[first]];
  for (std::uint32_t pc = first;; ++pc) {
    if (pc != first && leaders_[pc] != none) return flow(strand, pc, std::move(state));
    if (!state.regions.empty()) end_regions(pc, state);
    fail_by_budgets(strand, pc, state);
    if (!step(strand, pc, state)) return;
  }
}

bool FrameAnalysis::step(std::uint32_t strand, std::uint32_t pc, FrameState& state) {
  const Instruction i = function_.code[pc];
  switch (opcode_at(pc)) {
    case Opcode::Jump:
    case Opcode::JumpIf:
    case Opcode::JumpUnless:
    case Opcode::Switch:
    case Opcode::ForList:
    case Opcode::ForMap:
    case Opcode::ForRange:
    case Opcode::ForInclusiveRange:
      return jump(strand, pc, state);
    case Opcode::Call:
    case Opcode::CallTool:
    case Opcode::CallToolInParts:
      return call(strand, pc, state);
    case Opcode::CallExtern:
      return call_extern(strand, pc, state);
    case Opcode::Complete:
    case Opcode::Fill:
    case Opcode::Select:
      return ask(strand, pc, state);
    case Opcode::Parallel:
    case Opcode::ParallelFor:
      return run_branches(strand, pc, state);
    case Opcode::Return:
    case Opcode::ReturnUnit:
    case Opcode::EndBranch:
      return leave(strand, pc, state);
    case Opcode::Fail:
    case Opcode::Raise:
    case Opcode::BreakContract:
    case Opcode::BreakRequires:
      doubt(strand, pc, {program_.transfer().label_of_failure(state, i)});
      fail(strand, pc, state, program_.transfer().label_of_failure(state, i));
      return false;
    case Opcode::Unreachable:
      return false;
    case Opcode::RequireTrusted:
      return require_trusted(strand, pc, state);
    case Opcode::EnterBudget:
    case Opcode::LeaveBudget:
    case Opcode::BeginCleanup:
    case Opcode::EndCleanup:
    case Opcode::EndShield:
      return use_budget(strand, pc, state);
    default:
      if (program_.facts().watches_spending()) spend(strand, state, program_.transfer().label_of_operands(state, i));
      if (bytecode::can_fail(i)) doubt(strand, pc, {program_.transfer().label_of_failure(state, i)});
      if (Transfer::can_fail(opcode_at(pc))) fail(strand, pc, state, program_.transfer().label_of_failure(state, i));
      ENSURE(program_.transfer().apply(state, i, at(pc)));
      return true;
  }
}

std::uint32_t FrameAnalysis::target_of(std::uint32_t pc) const {
  return static_cast<std::uint32_t>(std::int64_t{pc} + 1 + function_.code[pc].signed_wide());
}

bool FrameAnalysis::jump(std::uint32_t strand, std::uint32_t pc, FrameState& state) {
  const Instruction i = function_.code[pc];
  std::vector<ValueId>& r = state.registers;
  switch (opcode_at(pc)) {
    case Opcode::Jump:
      flow(strand, target_of(pc), std::move(state));
      return false;
    case Opcode::JumpIf:
    case Opcode::JumpUnless:
      decide(strand, pc, state, values_.own(r[i.a]));
      flow(strand, target_of(pc), state);
      return true;
    case Opcode::Switch: {
      decide(strand, pc, state, values_.own(r[i.a]));
      const bytecode::JumpTable& table = program_.program().jump_tables[i.wide()];
      for (const std::uint32_t target : table.targets) flow(strand, target, state);
      flow(strand, table.otherwise, std::move(state));
      return false;
    }
    case Opcode::ForList:
    case Opcode::ForMap: {
      decide(strand, pc, state, values_.own(r[i.a]));
      flow(strand, target_of(pc), state);
      r[i.a + 1] = Values::clean;
      r[i.a + 2] = values_.take(r[i.a], 0);
      if (opcode_at(pc) == Opcode::ForMap) r[i.a + 3] = values_.take(r[i.a], 1);
      return true;
    }
    default: {  // ranges
      const Label label = labels_.join(values_.own(r[i.a]), values_.own(r[i.a + 1]));
      decide(strand, pc, state, label);
      flow(strand, target_of(pc), state);
      r[i.a + 2] = r[i.a] = values_.plain(label);
      if (opcode_at(pc) == Opcode::ForInclusiveRange) r[i.a + 1] = values_.merge(r[i.a + 1], values_.plain(label));
      return true;
    }
  }
}

bool FrameAnalysis::ask(std::uint32_t strand, std::uint32_t pc, FrameState& state) {
  const Instruction i = function_.code[pc];
  const bytecode::Site& site = program_.program().sites[i.wide()];
  std::vector<ValueId>& r = state.registers;
  Label seen = program_.transfer().seen_in(r[function_.context_register]);
  const std::size_t written = bytecode::written_window(program_.program(), i);
  const bool is_select = opcode_at(pc) == Opcode::Select;
  ValueId tools = Values::clean;
  if (is_select) {
    // The sets are where the answer goes, after its first register.
    std::size_t sets = 0;
    for (const bytecode::Clause& clause : site.clauses) {
      if (!clause.is_set) continue;
      const ValueId set = r[i.a + 1 + sets++];
      seen = labels_.join(seen, values_.whole(set));
      tools = sets == 1 ? values_.part(set, 0) : values_.merge(tools, values_.part(set, 0));
    }
  }
  const Label label = labels_.join(labels_.step(seen, at(pc, StepKind::Answered)), control_of(strand, state));
  spend(strand, state, label);
  doubt(strand, pc, {label});
  fail(strand, pc, state, label.possible());
  const ValueId answer = program_.transfer().answer_of(site, label, at(pc));
  if (opcode_at(pc) == Opcode::Complete) {
    r[i.a] = answer;
  } else if (!is_select) {
    for (const std::uint16_t hole : site.call.holes) r[i.a + hole] = answer;
  } else {
    for (std::size_t k = 0; k < written && i.a + k < r.size(); ++k) r[i.a + k] = answer;
    const bool has_sets = std::ranges::any_of(site.clauses, &bytecode::Clause::is_set);
    if (has_sets) r[i.a + 1] = values_.raise(tools, label);
  }
  return true;
}

bool FrameAnalysis::call_extern(std::uint32_t strand, std::uint32_t pc, FrameState& state) {
  const Instruction i = function_.code[pc];
  const bytecode::Extern& callee = program_.program().externs[i.wide()];
  std::vector<ValueId>& r = state.registers;
  const Label control = control_of(strand, state);
  Label label = control;
  for (std::size_t at = 0; at < callee.parameters.size(); ++at) label = labels_.join(label, values_.whole(r[i.a + at]));
  if (bytecode::acts(callee)) {
    SinkVisit visit{index_, pc, control, {}};
    for (const std::uint16_t parameter : callee.trusted_parameters) {
      visit.values.push_back(values_.whole(r[i.a + parameter]));
    }
    sinks_.insert_or_assign({strand, pc}, std::move(visit));
  }
  Label source;
  if (types::asks_person(callee.builtin_effect)) {
    program_.ask(label);
    program_.add_question(summary_, control);
    source = program_.person(at(pc));
  } else if (callee.builtin_effect == types::BuiltinEffect::Native) {
    source = labels_.of(Source{i.wide()}, at(pc));
  }
  const bool is_approval = callee.builtin_effect == types::BuiltinEffect::Approve;
  if (callee.approval != bytecode::no_extern) may_ask_about_call(strand, pc, state, label);
  const Label outcome = labels_.join(label, source);
  // What an extern that acts makes of its arguments, and what a person says, is their own.
  if (!bytecode::acts(callee) && !is_approval) doubt(strand, pc, {label});
  spend(strand, state, outcome);
  fail(strand, pc, state, outcome.possible());
  for (std::size_t at = 0; at < callee.parameters.size(); ++at) r[i.a + at] = Values::clean;
  // A person has seen this very value: it is trusted.
  r[i.a] =
      is_approval ? values_.plain(labels_.way_up(index_, pc)) : program_.transfer().result_of(callee, label, source);
  return true;
}

/// `else approve`: a person is asked before a call that would be refused.
void FrameAnalysis::may_ask_about_call(std::uint32_t strand, std::uint32_t pc, FrameState& state, Label call) {
  // Where one source is followed, others may be the reason.
  if (call.is_none() && !labels_.is_traced()) return;
  program_.ask(call);
  program_.add_question(summary_, control_of(strand, state));
  const Label asked = labels_.join(call, program_.person(at(pc)));
  spend(strand, state, asked);
  fail(strand, pc, state, asked);
}

/// What is known to be trusted after the test has no label.
bool FrameAnalysis::require_trusted(std::uint32_t strand, std::uint32_t pc, FrameState& state) {
  const Instruction i = function_.code[pc];
  Label label = values_.whole(state.registers[i.a]);
  for (const OpenRegion& open : state.regions) label = labels_.join(label, open.label);
  sinks_.insert_or_assign({strand, pc}, SinkVisit{index_, pc, {}, {label}});
  fail(strand, pc, state, label.possible());
  if (labels_.followed() == Followed::WaysUp) return true;
  state.registers[i.a] = values_.without_labels(state.registers[i.a]);
  state.regions.clear();
  return true;
}

CallSummary FrameAnalysis::call_function(std::uint32_t pc, std::uint32_t function, CallInputs inputs) {
  inputs.function = function;
  inputs.control = labels_.step(inputs.control, at(pc, StepKind::Passed));
  for (ValueId& argument : inputs.arguments) argument = values_.step(argument, at(pc, StepKind::Passed));
  CallSummary summary = program_.call(call_, std::move(inputs));
  // A called agent has a conversation of its own.
  if (!program_.program().functions[function].is_agent_run) program_.add_question(summary_, summary.questions);
  if (summary.returned) summary.returned->value = values_.step(summary.returned->value, at(pc, StepKind::Returned));
  return summary;
}

/// Calls each tool that the value may stand for, with what pass_tool_arguments (vm/execution/tool_sets.cpp) passes.
std::optional<CallSummary> FrameAnalysis::call_tool(std::uint32_t strand, std::uint32_t pc, FrameState& state) {
  const std::uint16_t window = function_.code[pc].a;
  const ValueId record = state.registers[window];
  const ValueId list = state.registers[window + 1];
  const bool is_in_parts = opcode_at(pc) == Opcode::CallToolInParts;
  decide(strand, pc, state, values_.own(record));
  std::vector<std::uint32_t> tools(values_.tools(record).begin(), values_.tools(record).end());
  if (tools.empty()) {  // nothing is known of it
    for (std::uint32_t at = 0; at < program_.program().tools.size(); ++at) tools.push_back(at);
  }
  std::optional<CallSummary> all;
  for (const std::uint32_t index : tools) {
    const bytecode::Tool& tool = program_.program().tools[index];
    CallInputs inputs{0, control_of(strand, state), state.agent_state, state.kept_states, {}, state.spent};
    const auto is_given = [&](std::uint16_t at) { return std::ranges::find(tool.given, at) != tool.given.end(); };
    std::size_t given = 0;
    for (std::uint16_t at = 0; at < tool.call.parameters.size(); ++at) {
      if (is_given(at)) {
        const bool is_known = values_.shape(record) == Shape::Record;
        inputs.arguments.push_back(is_known ? values_.part(record, 1 + given) : values_.take(record, 1 + given));
        ++given;
      } else if (std::ranges::find(tool.call.holes, at) != tool.call.holes.end()) {
        inputs.arguments.push_back(values_.take(list, 0));
      }
    }
    const std::uint32_t function = is_in_parts ? tool.function_in_parts : tool.function;
    if (function == bytecode::no_function) continue;  // a choice alone, which no set has
    const CallSummary one = call_function(pc, function, std::move(inputs));
    all = all ? program_.merge(*all, one) : one;
  }
  return all;
}

bool FrameAnalysis::call(std::uint32_t strand, std::uint32_t pc, FrameState& state) {
  const Instruction i = function_.code[pc];
  std::vector<ValueId>& r = state.registers;
  std::optional<CallSummary> summary;
  if (opcode_at(pc) == Opcode::CallTool || opcode_at(pc) == Opcode::CallToolInParts) {
    summary = call_tool(strand, pc, state);
  } else {
    const std::size_t count = program_.program().functions[i.wide()].parameters.size();
    CallInputs inputs{0, control_of(strand, state), state.agent_state, state.kept_states, {}, state.spent};
    inputs.arguments.assign(r.begin() + i.a, r.begin() + static_cast<std::ptrdiff_t>(i.a + count));
    summary = call_function(pc, i.wide(), std::move(inputs));
  }
  if (!summary) return false;
  spend(strand, state, summary->spent);
  doubt(strand, pc, summary->doubt);
  if (summary->failed) {
    // The agent's state is then as the callee has left it.
    const ValueId agent_state = std::exchange(state.agent_state, summary->failed->agent_state);
    const ValueId kept_states = std::exchange(state.kept_states, summary->failed->kept_states);
    fail_by_budgets(strand, pc, state);
    fail(strand, pc, state, summary->failed->label);
    state.agent_state = agent_state;
    state.kept_states = kept_states;
  }
  fail_by_budgets(strand, pc, state);
  if (!summary->returned) return false;
  // What is above the result is dead.
  for (std::size_t at = i.a; at < r.size(); ++at) r[at] = Values::clean;
  r[i.a] = summary->returned->value;
  state.agent_state = summary->returned->agent_state;
  state.kept_states = summary->returned->kept_states;
  return true;
}

bool FrameAnalysis::run_branches(std::uint32_t strand, std::uint32_t pc, FrameState& state) {
  const Instruction i = function_.code[pc];
  const bool is_loop = opcode_at(pc) == Opcode::ParallelFor;
  std::vector<std::uint32_t> targets = {};
  if (is_loop) {
    targets.push_back(target_of(pc));
  } else {
    targets = program_.program().jump_tables[i.wide()].targets;
  }
  const ValueId list = state.registers[i.a];
  const Label items = is_loop ? labels_.step(values_.own(list), at(pc, StepKind::Decided)) : Label{};
  const Label control = labels_.join(control_of(strand, state), items);
  FrameState begin = state;
  begin.regions.clear();
  begin.kept_states = Values::clean;
  if (is_loop) begin.registers[i.a + 2] = values_.take(list, 0);
  spend(strand, state, items);
  // Also that there are no items, and so no branches that ask.
  if (is_loop && program_.facts().regions().branches_ask(index_, pc)) program_.add_question(summary_, items);
  for (std::uint32_t branch = 0; branch < targets.size(); ++branch) {
    const std::uint32_t other = strand_of_branch(strand, pc, branch);
    begin.spent = labels_.join(begin.spent, strands_[other].spent);
  }
  for (std::uint32_t branch = 0; branch < targets.size(); ++branch) {
    const std::uint32_t inner = strand_of_branch(strand, pc, branch);
    strands_[inner].budget_floor = state.budgets.size();
    const bool is_started = strands_[inner].states[leaders_[targets[branch]]].has_value();
    const Label known = is_started ? labels_.merge(strands_[inner].control, control) : control;
    if (!(known == strands_[inner].control)) {
      strands_[inner].control = known;
      run_again(inner);
    }
    flow(inner, targets[branch], begin);
  }
  // What is not known of the branches yet comes when they have run: they let this instruction run again.
  bool have_ended = true;
  std::vector<ValueId> values;
  for (std::uint32_t branch = 0; branch < targets.size(); ++branch) {
    const std::uint32_t inner = strand_of_branch(strand, pc, branch);
    spend(strand, state, strands_[inner].spent);
    doubt(strand, pc, strands_[inner].doubt);
    const auto& failed = strands_[inner].failure;
    if (failed) fail(strand, pc, state, failed->label);
    values.push_back(strands_[inner].value.value_or(Values::clean));
    have_ended = have_ended && strands_[inner].value;
  }
  fail(strand, pc, state, is_loop ? values_.own(state.registers[i.a + 1]).possible() : Label{});
  fail_by_budgets(strand, pc, state);
  if (is_loop) {
    state.registers[i.a] = values_.list(values_.own(list), values_.raise(values.front(), items));
    return true;  // there may be no branch
  }
  std::ranges::copy(values, state.registers.begin() + i.a);
  return have_ended;
}

bool FrameAnalysis::leave(std::uint32_t strand, std::uint32_t pc, FrameState& state) {
  const Opcode opcode = opcode_at(pc);
  const ValueId left = opcode == Opcode::ReturnUnit ? Values::clean : state.registers[function_.code[pc].a];
  const ValueId value = leave_regions(state, left);
  if (opcode == Opcode::EndBranch) {
    const std::uint32_t base = strands_[strand].base;
    Strand& branch = strands_[base];
    if (branch.outer == none) return false;
    const ValueId known = branch.value ? values_.merge(*branch.value, value) : value;
    if (branch.value != known) {
      branch.value = known;
      pending_.emplace(branch.block_pc, branch.outer);
    }
    return false;
  }
  const CallReturn returned{value, state.agent_state, state.kept_states};
  summary_.returned = summary_.returned ? program_.merge(*summary_.returned, returned) : returned;
  return false;
}

bool FrameAnalysis::use_budget(std::uint32_t strand, std::uint32_t pc, FrameState& state) {
  switch (opcode_at(pc)) {
    case Opcode::EnterBudget:
      state.budgets.emplace_back();
      return true;
    case Opcode::LeaveBudget:
      if (!state.budgets.empty()) state.budgets.pop_back();
      return true;
    case Opcode::BeginCleanup: {
      // What the block spends beyond the budgets around is the allowance of all such blocks.
      state.budgets.push_back(state.spent);
      const std::uint32_t running = strands_[strand].cleanup;
      if (running == none || function_.finally_handlers[running].block != pc) return true;
      // Control has come back to the beginning: nothing is kept this time.
      flow(strands_[strand].base, pc + 1, state);
      return false;
    }
    case Opcode::EndCleanup: {
      if (!state.budgets.empty()) state.budgets.pop_back();
      fail(strand, pc, state, values_.whole(state.registers[function_.code[pc].a]));
      const std::uint32_t running = strands_[strand].cleanup;
      return running == none || function_.finally_handlers[running].end != pc;
    }
    default:  // EndShield: what it keeps is a cancellation, which no handler takes
      return true;
  }
}

}  // namespace tenon::flows
