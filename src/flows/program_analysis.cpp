#include "flows/program_analysis.h"

#include <algorithm>

#include "base/ensure.h"
#include "flows/frame_analysis.h"

namespace tenon::flows {
namespace {

using bytecode::Opcode;

constexpr std::uint32_t not_leader = UINT32_MAX;

bool works_on_state(Opcode opcode) {
  switch (opcode) {
    case Opcode::LoadState:
    case Opcode::TakeState:
    case Opcode::StoreState:
    case Opcode::SwapState:
    case Opcode::TakeKept:
    case Opcode::StoreKept:
      return true;
    default:
      return false;
  }
}

/// By function, whether it or what it calls has an instruction for which `is_wanted` holds.
std::vector<bool> find_users(const bytecode::Program& program, bool (*is_wanted)(Opcode)) {
  std::vector<bool> users(program.functions.size(), false);
  std::vector<std::vector<std::uint32_t>> callers(program.functions.size());
  std::vector<std::uint32_t> found;
  for (std::uint32_t index = 0; index < program.functions.size(); ++index) {
    for (const bytecode::Instruction& instruction : program.functions[index].code) {
      const auto opcode = static_cast<Opcode>(instruction.opcode);
      if (opcode == Opcode::Call) callers[instruction.wide()].push_back(index);
      if (opcode == Opcode::CallTool || opcode == Opcode::CallToolInParts) {
        for (const bytecode::Tool& tool : program.tools) {
          const std::uint32_t callee = opcode == Opcode::CallTool ? tool.function : tool.function_in_parts;
          if (callee != bytecode::no_function) callers[callee].push_back(index);
        }
      }
      if (!is_wanted(opcode) || users[index]) continue;
      users[index] = true;
      found.push_back(index);
    }
  }
  while (!found.empty()) {
    const std::uint32_t callee = found.back();
    found.pop_back();
    for (const std::uint32_t caller : callers[callee]) {
      if (users[caller]) continue;
      users[caller] = true;
      found.push_back(caller);
    }
  }
  return users;
}

std::vector<std::uint32_t> find_leaders(const bytecode::Program& program, const bytecode::Function& function) {
  std::vector<std::uint32_t> leaders(function.code.size() + 1, not_leader);
  const auto mark = [&](std::int64_t pc) { leaders[static_cast<std::size_t>(pc)] = 0; };
  mark(0);
  for (std::uint32_t pc = 0; pc < function.code.size(); ++pc) {
    const bytecode::Instruction& i = function.code[pc];
    const std::int64_t target = std::int64_t{pc} + 1 + i.signed_wide();
    switch (static_cast<Opcode>(i.opcode)) {
      case Opcode::Jump:
      case Opcode::JumpIf:
      case Opcode::JumpUnless:
      case Opcode::ForList:
      case Opcode::ForMap:
      case Opcode::ForRange:
      case Opcode::ForInclusiveRange:
        mark(target);
        break;
      case Opcode::ParallelFor:
        mark(pc);
        mark(target);
        break;
      case Opcode::Parallel:
        mark(pc);
        [[fallthrough]];
      case Opcode::Switch:
        for (const std::uint32_t one : program.jump_tables[i.wide()].targets) mark(one);
        mark(program.jump_tables[i.wide()].otherwise);
        break;
      default:
        break;
    }
  }
  for (const bytecode::Handler& handler : function.handlers) mark(handler.target);
  for (const bytecode::FinallyHandler& cleanup : function.finally_handlers) mark(std::int64_t{cleanup.block} + 1);
  std::uint32_t count = 0;
  for (std::uint32_t& leader : leaders) {
    if (leader != not_leader) leader = count++;
  }
  return leaders;
}

}  // namespace

ProgramFacts::ProgramFacts(const bytecode::Program& program)
    : program_(program),
      regions_(program),
      leaders_(program.functions.size()),
      uses_state_(find_users(program, works_on_state)),
      has_cleanup_(find_users(program, [](Opcode opcode) { return opcode == Opcode::BeginCleanup; })),
      watches_spending_(!program.budgets.empty() || std::ranges::any_of(program.externs, bytecode::may_ask)) {}

const std::vector<std::uint32_t>& ProgramFacts::leaders_of(std::uint32_t function) const {
  std::vector<std::uint32_t>& leaders = leaders_[function];
  if (leaders.empty()) leaders = find_leaders(program_, program_.functions[function]);
  return leaders;
}

ProgramAnalysis::ProgramAnalysis(const ProgramFacts& facts, Assumptions assumptions, Labels labels)
    : facts_(facts),
      program_(facts.program()),
      assumptions_(assumptions),
      labels_(std::move(labels)),
      values_(labels_),
      transfer_(program_, labels_, values_),
      calls_of_(program_.functions.size()),
      widened_(program_.functions.size()) {}

CallId ProgramAnalysis::find_call(CallInputs inputs) {
  key_ = {labels_.canonical(inputs.control).index, values_.canonical(inputs.agent_state).index,
          values_.canonical(inputs.kept_states).index, labels_.canonical(inputs.spent).index};
  for (const ValueId argument : inputs.arguments) key_.push_back(values_.canonical(argument).index);
  const auto next = CallId{static_cast<std::uint32_t>(calls_.size())};
  std::vector<CallId>& known = calls_of_[inputs.function];
  for (const CallId call : known) {
    if (calls_[call.index]->key == key_) return call;
  }
  if (known.size() >= calls_per_function_max) {
    CallId& widened = widened_[inputs.function];
    if (widened.exists()) {
      widen(widened, inputs);
      return widened;
    }
    widened = next;
  } else {
    known.push_back(next);
  }
  calls_.push_back(std::make_unique<Call>());
  calls_.back()->inputs = std::move(inputs);
  calls_.back()->key = key_;
  return next;
}

void ProgramAnalysis::widen(CallId id, const CallInputs& inputs) {
  CallInputs& known = calls_[id.index]->inputs;
  bool is_changed = false;
  const auto put = [&](auto& place, auto merged) {
    is_changed = is_changed || !(place == merged);
    place = merged;
  };
  put(known.control, labels_.merge(known.control, inputs.control));
  put(known.spent, labels_.merge(known.spent, inputs.spent));
  put(known.agent_state, values_.merge(known.agent_state, inputs.agent_state));
  put(known.kept_states, values_.merge(known.kept_states, inputs.kept_states));
  for (std::size_t at = 0; at < known.arguments.size(); ++at) {
    put(known.arguments[at], values_.merge(known.arguments[at], inputs.arguments[at]));
  }
  if (is_changed) wait(id);
}

void ProgramAnalysis::wait(CallId id) {
  if (!id.exists() || calls_[id.index]->is_pending) return;
  calls_[id.index]->is_pending = true;
  pending_.push_back(id);
}

CallSummary ProgramAnalysis::call(CallId caller, CallInputs inputs) {
  const ValueId agent_state = inputs.agent_state;
  const ValueId kept_states = inputs.kept_states;
  const bool has_state = facts_.uses_state(inputs.function);
  if (!has_state) inputs.agent_state = inputs.kept_states = Values::clean;
  if (!facts_.has_cleanup(inputs.function)) inputs.spent = {};
  const CallId id = find_call(std::move(inputs));
  calls_[id.index]->callers.insert(caller);
  if (!calls_[id.index]->is_begun) {
    if (depth_ < depth_max) {
      analyse(id);
    } else {
      wait(id);
    }
  }
  CallSummary summary = calls_[id.index]->summary;
  if (!has_state && summary.returned) {
    summary.returned->agent_state = agent_state;
    summary.returned->kept_states = kept_states;
  }
  if (!has_state && summary.failed) {
    summary.failed->agent_state = agent_state;
    summary.failed->kept_states = kept_states;
  }
  return summary;
}

CallReturn ProgramAnalysis::merge(const CallReturn& a, const CallReturn& b) {
  return {values_.merge(a.value, b.value), values_.merge(a.agent_state, b.agent_state),
          values_.merge(a.kept_states, b.kept_states)};
}

CallFailure ProgramAnalysis::merge(const CallFailure& a, const CallFailure& b) {
  return {labels_.merge(a.label, b.label), values_.merge(a.agent_state, b.agent_state),
          values_.merge(a.kept_states, b.kept_states)};
}

CallSummary ProgramAnalysis::merge(const CallSummary& a, const CallSummary& b) {
  const auto either = [&](const auto& one, const auto& other) {
    if (!one) return other;
    return other ? std::optional(merge(*one, *other)) : one;
  };
  return {either(a.returned, b.returned), either(a.failed, b.failed), labels_.join(a.spent, b.spent),
          join(a.doubt, b.doubt), labels_.join(a.questions, b.questions)};
}

void ProgramAnalysis::analyse(CallId id) {
  ++depth_;
  calls_[id.index]->is_begun = true;
  FrameAnalysis frame(*this, id, calls_[id.index]->inputs);
  frame.run();
  --depth_;
  Call& call = *calls_[id.index];
  // What was found before is still possible: where a source is traced, its first way is kept.
  CallSummary summary = merge(call.summary, frame.summary());
  call.sinks = frame.sinks();
  call.trials = frame.trials();
  if (summary == call.summary) return;
  call.summary = summary;
  for (const CallId caller : call.callers) wait(caller);
}

void ProgramAnalysis::finish() {
  while (!pending_.empty()) {
    const CallId id = pending_.front();
    pending_.pop_front();
    calls_[id.index]->is_pending = false;
    analyse(id);
  }
}

std::vector<SinkVisit> ProgramAnalysis::sinks() const {
  std::vector<SinkVisit> all;
  for (const auto& call : calls_) all.insert(all.end(), call->sinks.begin(), call->sinks.end());
  return all;
}

std::vector<TrialVisit> ProgramAnalysis::trials() const {
  std::vector<TrialVisit> all;
  for (const auto& call : calls_) all.insert(all.end(), call->trials.begin(), call->trials.end());
  return all;
}

CallSummary ProgramAnalysis::run_alone(CallInputs inputs) {
  static_cast<void>(call({}, inputs));
  finish();
  return call({}, std::move(inputs));
}

/// Whether a run can be started with it by its name (runtime::find_function).
bool ProgramAnalysis::can_be_run(std::uint32_t index) const {
  const bytecode::Function& function = program_.functions[index];
  const auto is_test = [&](std::uint32_t at) {
    return std::ranges::any_of(program_.tests, [&](const auto& test) { return test.function == at; });
  };
  if (is_test(index)) return false;
  // Of the turns of agents, see `run_turns`.
  for (const bytecode::Agent& agent : program_.agents) {
    if (index == agent.turn || index == agent.run || index == agent.take_over) return false;
  }
  const auto is_set = [&](types::TypeId type) { return program_.types.kind(type) == types::TypeKind::Tools; };
  if (std::ranges::any_of(function.parameters, is_set)) return false;
  return std::ranges::none_of(program_.tools, [&](const bytecode::Tool& tool) {
    return tool.function == index || tool.function_in_parts == index;
  });
}

void ProgramAnalysis::run_function(std::uint32_t index) {
  const bytecode::Function& function = program_.functions[index];
  CallInputs inputs{index, {}, Values::clean, Values::clean, {}};
  for (const types::TypeId type : function.parameters) {
    if (program_.types.base(type) == types::TypeTable::context) {
      inputs.arguments.push_back(values_.empty_context());
    } else {
      const Label label = assumptions_.persons_arguments ? person({StepKind::Read, index, 0}) : Label{};
      inputs.arguments.push_back(values_.plain(label));
    }
  }
  static_cast<void>(run_alone(std::move(inputs)));
}

bool ProgramAnalysis::hands_off() const {
  if (program_.agents.empty()) return false;
  for (const bytecode::Function& function : program_.functions) {
    for (const bytecode::Instruction& i : function.code) {
      if (static_cast<Opcode>(i.opcode) != Opcode::Call) continue;
      const auto takes_over = [&](const bytecode::Agent& agent) { return agent.take_over == i.wide(); };
      if (std::ranges::any_of(program_.agents, takes_over)) return true;
    }
  }
  return false;
}

/// A state between two turns: of each entry it is known which sources are in it (runtime/label_sources.h).
ValueId ProgramAnalysis::recorded(ValueId state) {
  if (values_.shape(state) != Shape::Record) return values_.flatten(state);
  std::vector<ValueId> entries;
  for (std::size_t at = 0; at < values_.part_count(state); ++at) {
    entries.push_back(values_.plain(values_.whole(values_.take(state, at)).possible()));
  }
  return values_.make(Shape::Record, {}, std::move(entries));
}

/// A conversation's turns, one after another: what a turn leaves is there in the next one (runtime/conversation.cpp).
void ProgramAnalysis::run_turns() {
  struct Kept {
    ValueId state = Values::clean;
    Label said;
    Label handoffs;   ///< what decided that it has the turn
    Label questions;  ///< what decided whether a person was asked
    bool operator==(const Kept&) const = default;
  };
  std::vector<Kept> kept(program_.agents.size());
  const bool is_shared = hands_off();
  for (std::size_t at = 0; at < kept.size(); ++at) {
    const CallSummary initial = run_alone({program_.agents[at].initial_state, {}, {}, {}, {}});
    if (initial.returned) kept[at].state = recorded(initial.returned->value);
  }
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (std::size_t at = 0; at < kept.size(); ++at) {
      const bytecode::Agent& agent = program_.agents[at];
      const Step begin{StepKind::Read, agent.turn, 0};
      ValueId others = Values::clean;
      if (is_shared) {
        for (const Kept& one : kept) others = values_.merge(others, values_.flatten(one.state));
      }
      const Step since{StepKind::Kept, agent.turn, 0};
      Label shown = labels_.join(person(begin), labels_.step(kept[at].said, since));
      const Label handoffs = labels_.step(kept[at].handoffs, since);
      Label count = labels_.step(kept[at].questions, since);
      if (agent.instructions != bytecode::no_function) {
        const CallSummary instructed =
            run_alone({agent.instructions, {}, kept[at].state, values_.list({}, others), {values_.empty_context()}});
        if (instructed.returned) {
          // If they are empty, there is no entry for them.
          count = labels_.join(count, values_.whole(instructed.returned->value));
          shown = labels_.join(shown, values_.whole(instructed.returned->value));
        }
      }
      CallInputs inputs{agent.turn, handoffs, kept[at].state, values_.list(handoffs, others), {}};
      inputs.arguments = {values_.context({}, shown, shown.possible(), count), values_.plain(person(begin))};
      inputs.arguments.resize(program_.functions[agent.turn].parameters.size(), Values::clean);
      const CallSummary turn = run_alone(std::move(inputs));
      Label questions = turn.questions;
      if (facts_.regions().asks(agent.turn)) {
        // A failure that ends the turn has decided what is not asked after it.
        questions = labels_.join(questions, turn.spent).possible();
        if (turn.failed) questions = labels_.join(questions, turn.failed->label).possible();
      }
      Label said = labels_.join(labels_.join(handoffs, questions), asked_);
      if (turn.returned) said = labels_.join(said, values_.whole(turn.returned->value));
      said = said.possible();
      // A turn that fails leaves the questions and their answers, and nothing else.
      const bool is_left = turn.returned.has_value();
      const ValueId left = is_left ? recorded(values_.raise(turn.returned->agent_state, handoffs)) : kept[at].state;
      const ValueId left_kept = is_left ? turn.returned->kept_states : Values::clean;
      for (std::size_t other = 0; other < kept.size(); ++other) {
        if (other != at && !is_shared) continue;
        const ValueId flat = values_.merge(values_.flatten(left), values_.flatten(values_.part(left_kept, 0)));
        const ValueId state = values_.merge(kept[other].state, is_shared ? flat : left);
        const Kept next{state, labels_.merge(kept[other].said, said),
                        labels_.merge(kept[other].handoffs, values_.own(left_kept).possible()),
                        labels_.merge(kept[other].questions, questions)};
        is_changed = is_changed || next != kept[other];
        kept[other] = next;
      }
    }
  }
}

void ProgramAnalysis::run() {
  for (std::uint32_t index = 0; index < program_.functions.size(); ++index) {
    if (can_be_run(index)) run_function(index);
  }
  run_turns();
}

}  // namespace tenon::flows
