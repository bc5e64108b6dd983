#include "algebra/call_sites.h"

#include <algorithm>
#include <map>

#include "base/ensure.h"
#include "bytecode/agents.h"
#include "bytecode/reachable.h"
#include "bytecode/tool_sets.h"
#include "runtime/program_image.h"
#include "vm/execution/tool_sets.h"

namespace tenon::algebra {
namespace {

using bytecode::Function;
using bytecode::Instruction;
using bytecode::Opcode;
using bytecode::Program;
using bytecode::Site;
using bytecode::SiteKind;
using types::BuiltinEffect;

bool is(const Instruction& instruction, Opcode opcode) {
  return instruction.opcode == static_cast<std::uint16_t>(opcode);
}

bool is_call(const Instruction& instruction) {
  return is(instruction, Opcode::Call) || is(instruction, Opcode::CallExtern);
}

std::optional<ToolKind> kind_of(BuiltinEffect call) {
  if (types::is_notification(call)) return std::nullopt;
  switch (call) {
    case BuiltinEffect::Native:
      return ToolKind::Extern;
    case BuiltinEffect::Ask:
    case BuiltinEffect::AskWithin:
    case BuiltinEffect::Approve:
      return ToolKind::Ask;
    case BuiltinEffect::Now:
      return ToolKind::Now;
    case BuiltinEffect::Random:
      return ToolKind::Random;
    case BuiltinEffect::Sleep:
      return ToolKind::Sleep;
    default:
      ENSURE(false);
  }
}

/// Whether the function takes over the rest of another agent's turn.
bool takes_over(const Program& program, const Function& function) {
  return std::any_of(function.code.begin(), function.code.end(), [&](const Instruction& instruction) {
    return is(instruction, Opcode::CallExtern) &&
           program.externs[instruction.wide()].builtin_effect == BuiltinEffect::HandedOff;
  });
}

/// By function, whether the run can come to it. All, if what the cycle names is not in the program.
std::vector<bool> find_reachable(const Program& program, Form form, const Cycle& first) {
  std::vector<std::uint32_t> roots;
  if (form >= Form::Reachable && first.agent.empty()) {
    if (const auto function = runtime::find_function(program, first.function)) roots.push_back(*function);
  } else if (form >= Form::Reachable) {
    if (const auto found = bytecode::find_agent(program, first.agent)) {
      const bytecode::Agent& agent = program.agents[*found];
      roots = {agent.turn, agent.initial_state, agent.instructions};
    }
  }
  if (roots.empty()) return std::vector<bool>(program.functions.size(), true);
  return bytecode::find_reachable_functions(program, roots);
}

/// By extern, whether a function of these calls it, or a person is asked with it before such a call.
std::vector<bool> find_called_externs(const Program& program, const std::vector<bool>& is_reachable) {
  std::vector<bool> is_called(program.externs.size(), false);
  for (std::size_t at = 0; at < program.functions.size(); ++at) {
    if (!is_reachable[at]) continue;
    for (const Instruction& instruction : program.functions[at].code) {
      if (!is(instruction, Opcode::CallExtern)) continue;
      is_called[instruction.wide()] = true;
      const std::uint32_t approval = program.externs[instruction.wide()].approval;
      if (approval != bytecode::no_extern) is_called[approval] = true;
    }
  }
  return is_called;
}

/// Where the call of a chosen clause is: the compiler puts its arguments into `window`, the registers after those
/// of the select's answer. Only the single given argument of a call may be a call in the same register; then the
/// clause's own call is the last one there.
std::uint32_t call_of_clause(const Function& function, const bytecode::CallShape& shape, std::uint32_t begin,
                             std::uint32_t end, std::uint32_t window) {
  const bool takes_first = shape.parameters.size() != 1 || !shape.holes.empty();
  std::optional<std::uint32_t> found;
  for (std::uint32_t pc = begin; pc < end && !(takes_first && found); ++pc) {
    if (is_call(function.code[pc]) && function.code[pc].a == window) found = pc;
  }
  ENSURE(found.has_value());
  return *found;
}

/// Tells calls of one tool apart: each by how many stand before it.
void number_alternatives(std::vector<std::optional<ModelCall>>& calls) {
  for (std::size_t at = 0; at < calls.size(); ++at) {
    if (!calls[at]) continue;
    calls[at]->alternative = static_cast<std::uint32_t>(
        std::count_if(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(at),
                      [&](const auto& other) { return other && other->tool == calls[at]->tool; }));
  }
}

}  // namespace

CallSites::CallSites(const Program& program, Form form, const Cycle& first)
    : program_(program),
      is_reachable_(find_reachable(program, form, first)),
      extern_tools_(program.externs.size()),
      function_tools_(program.functions.size()),
      is_always_call_(program.functions.size(), false),
      attempt_tools_(program.sites.size()),
      calls_(program.sites.size()) {
  each_call_by_model([&](const Function& function, std::uint32_t pc) { find_calls(function, pc); });
  find_tool_calls();
  add_columns(form, find_model_functions());
  resolve_calls();
}

template <class Visit>
void CallSites::each_call_by_model(const Visit& visit) {
  for (std::size_t at = 0; at < program_.functions.size(); ++at) {
    const Function& function = program_.functions[at];
    if (!is_reachable_[at]) continue;
    for (std::uint32_t pc = 0; pc < function.code.size(); ++pc) {
      if (is(function.code[pc], Opcode::Fill) || is(function.code[pc], Opcode::Select)) visit(function, pc);
    }
  }
}

void CallSites::find_tool_calls() {
  for (const bytecode::Tool& tool : program_.tools) {
    const std::vector<Instruction>& code = program_.functions[tool.function].code;
    const auto call = std::find_if(code.begin(), code.end(), is_call);
    ModelCall made{.function = tool.function};
    if (call != code.end()) made.pc = static_cast<std::uint32_t>(call - code.begin());
    tool_calls_.push_back(made);
  }
}

std::vector<bool> CallSites::find_model_functions() {
  std::vector<bool> found(program_.functions.size(), false);
  for (const Site& site : program_.sites) {
    const bool is_completed = site.kind == SiteKind::Completion && is_reachable_[site.function];
    if (is_completed) is_always_call_[site.function] = found[site.function] = true;
  }
  const auto add = [&](const Instruction& call) {
    if (is(call, Opcode::Call)) found[call.wide()] = true;
  };
  each_call_by_model([&](const Function& function, std::uint32_t pc) {
    for (const auto& call : calls_[function.code[pc].wide()]) {
      if (call) add(function.code[*call->pc]);
    }
  });
  for (const ModelCall& call : tool_calls_) {
    if (call.pc && is_reachable_[*call.function]) add(program_.functions[*call.function].code[*call.pc]);
  }
  return found;
}

void CallSites::add_columns(Form form, const std::vector<bool>& is_of_model) {
  const auto add = [&](ToolKind kind, std::string name) {
    tools_.push_back({kind, std::move(name)});
    return static_cast<std::uint32_t>(tools_.size() - 1);
  };
  const std::vector<bool> is_called = form < Form::Said ? std::vector<bool>(program_.externs.size(), true)
                                                        : find_called_externs(program_, is_reachable_);
  for (std::size_t at = 0; at < program_.externs.size(); ++at) {
    if (!is_called[at] || program_.externs[at].builtin_effect != BuiltinEffect::Native) continue;
    extern_tools_[at] = add(ToolKind::Extern, program_.externs[at].name);
  }
  // An agent is one tool, whether it is called or takes over.
  std::multimap<std::uint32_t, std::size_t> agent_functions;
  for (std::size_t at = 0; at < program_.functions.size(); ++at) {
    const Function& function = program_.functions[at];
    if (!is_reachable_[at]) continue;
    if (function.is_agent_run || takes_over(program_, function)) {
      is_always_call_[at] = true;
      agent_functions.emplace(function.agent, at);
    } else if (is_of_model[at]) {
      function_tools_[at] = add(ToolKind::Function, function.name);
    }
  }
  for (auto at = agent_functions.begin(); at != agent_functions.end();) {
    const std::uint32_t agent = at->first;
    const std::uint32_t tool = add(ToolKind::Agent, program_.agents[agent].name);
    for (; at != agent_functions.end() && at->first == agent; ++at) function_tools_[at->second] = tool;
  }
  bool has_select = false;
  for (std::size_t at = 0; at < program_.sites.size(); ++at) {
    const Site& site = program_.sites[at];
    if (!is_reachable_[site.function]) continue;
    if (site.is_attempt) attempt_tools_[at] = add(ToolKind::Answer, program_.functions[site.function].name);
    has_select = has_select || site.kind == SiteKind::Select;
  }
  std::map<std::string_view, std::uint32_t> actions;
  for (std::size_t at = 0; at < tool_calls_.size(); ++at) {
    if (tool_calls_[at].pc || !is_reachable_[program_.tools[at].function]) continue;
    const std::string& name = program_.tools[at].call.name;
    if (!actions.contains(name)) actions.emplace(name, add(ToolKind::Action, name));
    tool_calls_[at].tool = actions.at(name);
  }
  if (has_select) select_tool_ = add(ToolKind::Select, "select");
  for (const ToolKind kind : {ToolKind::Ask, ToolKind::Now, ToolKind::Random, ToolKind::Sleep}) {
    // In the first forms a column of its own also where there is no such extern.
    std::optional<std::uint32_t> tool;
    if (form < Form::Said) tool = add(kind, std::string(tool_kind_name(kind)));
    for (std::size_t at = 0; at < program_.externs.size(); ++at) {
      if (!is_called[at] || kind_of(program_.externs[at].builtin_effect) != kind) continue;
      if (!tool) tool = add(kind, std::string(tool_kind_name(kind)));
      extern_tools_[at] = tool;
    }
  }
}

void CallSites::resolve_calls() {
  each_call_by_model([&](const Function& function, std::uint32_t pc) {
    auto& calls = calls_[function.code[pc].wide()];
    for (auto& call : calls) {
      if (call) call->tool = callee(function.code[*call->pc]);
    }
    number_alternatives(calls);
  });
  for (ModelCall& call : tool_calls_) {
    if (!call.pc || !is_reachable_[*call.function]) continue;
    call.tool = callee(program_.functions[*call.function].code[*call.pc]);
  }
}

std::uint32_t CallSites::tool_of_function(std::uint32_t function) const {
  ENSURE(function_tools_[function].has_value());
  return *function_tools_[function];
}

std::vector<std::optional<ModelCall>> CallSites::options(const vm::Request& select) const {
  std::vector<std::optional<ModelCall>> calls;
  for (const vm::SelectOption& option : vm::options_of(select, program_)) {
    calls.push_back(option.tool ? std::optional(tool_calls_[*option.tool]) : calls_[select.subject][option.clause]);
  }
  number_alternatives(calls);
  return calls;
}

std::uint32_t CallSites::callee(const Instruction& instruction) const {
  if (!is(instruction, Opcode::CallExtern)) return tool_of_function(instruction.wide());
  ENSURE(extern_tools_[instruction.wide()].has_value());
  return *extern_tools_[instruction.wide()];
}

void CallSites::find_calls(const Function& function, std::uint32_t pc) {
  const Instruction& asks = function.code[pc];
  const Site& site = program_.sites[asks.wide()];
  auto& calls = calls_[asks.wide()];
  calls.clear();
  if (site.kind == SiteKind::Fill) {
    // Arguments that were tried before are in other registers.
    std::uint32_t call = pc + 1;
    while (call < function.code.size() && !(is_call(function.code[call]) && function.code[call].a == asks.a)) ++call;
    ENSURE(call < function.code.size());
    calls.push_back(ModelCall{call, 0, 0});
    return;
  }
  const std::size_t sets = bytecode::count_sets(site);
  std::size_t holes_max = sets == 0 ? 0 : std::max(sets, bytecode::chosen_tool_values);
  for (const bytecode::Clause& clause : site.clauses) holes_max = std::max(holes_max, clause.call.holes.size());
  const Instruction& jump = function.code[pc + 1];
  ENSURE(is(jump, Opcode::Switch));
  const std::vector<std::uint32_t>& targets = program_.jump_tables[jump.wide()].targets;
  for (std::size_t at = 0; at < site.clauses.size(); ++at) {
    if (site.clauses[at].is_else || site.clauses[at].is_set) {
      calls.emplace_back();
      continue;
    }
    // A clause ends with a jump to the end of the select, and the last one ends there.
    auto end = static_cast<std::uint32_t>(function.code.size());
    if (at + 1 < targets.size()) {
      end = targets[at + 1];
    } else if (targets.size() > 1) {
      const std::uint32_t jump_pc = targets[1] - 1;
      end = static_cast<std::uint32_t>(static_cast<std::int64_t>(jump_pc) + 1 + function.code[jump_pc].signed_wide());
    }
    const auto window = static_cast<std::uint32_t>(asks.a + 1U + holes_max);
    calls.push_back(ModelCall{call_of_clause(function, site.clauses[at].call, targets[at], end, window), 0, 0});
  }
}

}  // namespace tenon::algebra
