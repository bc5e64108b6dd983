#include "algebra/call_sites.h"

#include <algorithm>
#include <map>

#include "base/ensure.h"
#include "bytecode/tool_sets.h"
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

/// By extern, whether a function of the program calls it.
std::vector<bool> find_called_externs(const Program& program) {
  std::vector<bool> is_called(program.externs.size(), false);
  for (const Function& function : program.functions) {
    for (const Instruction& instruction : function.code) {
      if (is(instruction, Opcode::CallExtern)) is_called[instruction.wide()] = true;
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

CallSites::CallSites(const Program& program, Form form)
    : program_(program),
      extern_tools_(program.externs.size()),
      function_tools_(program.functions.size()),
      is_always_call_(program.functions.size(), false),
      calls_(program.sites.size()) {
  // Which functions are tools.
  std::vector<bool> is_tool(program.functions.size(), false);
  bool has_select = false;
  for (const Site& site : program.sites) {
    if (site.kind == SiteKind::Completion) is_always_call_[site.function] = is_tool[site.function] = true;
    has_select = has_select || site.kind == SiteKind::Select;
  }
  const auto each_site = [&](auto visit) {
    for (const Function& function : program.functions) {
      for (std::uint32_t pc = 0; pc < function.code.size(); ++pc) {
        if (is(function.code[pc], Opcode::Fill) || is(function.code[pc], Opcode::Select)) visit(function, pc);
      }
    }
  };
  each_site([&](const Function& function, std::uint32_t pc) { find_calls(function, pc); });
  each_site([&](const Function& function, std::uint32_t pc) {
    for (const auto& call : calls_[function.code[pc].wide()]) {
      if (call && is(function.code[*call->pc], Opcode::Call)) is_tool[function.code[*call->pc].wide()] = true;
    }
  });
  for (const bytecode::Tool& tool : program.tools) {
    const std::vector<Instruction>& code = program.functions[tool.function].code;
    const auto call = std::find_if(code.begin(), code.end(), is_call);
    ModelCall made{.function = tool.function};
    if (call != code.end()) {
      made.pc = static_cast<std::uint32_t>(call - code.begin());
      if (is(*call, Opcode::Call)) is_tool[call->wide()] = true;
    }
    tool_calls_.push_back(made);
  }

  const auto add = [&](ToolKind kind, std::string name) {
    tools_.push_back({kind, std::move(name)});
    return static_cast<std::uint32_t>(tools_.size() - 1);
  };
  const std::vector<bool> is_called =
      form < Form::Said ? std::vector<bool>(program.externs.size(), true) : find_called_externs(program);
  for (std::size_t at = 0; at < program.externs.size(); ++at) {
    if (!is_called[at] || program.externs[at].builtin_effect != BuiltinEffect::Native) continue;
    extern_tools_[at] = add(ToolKind::Extern, program.externs[at].name);
  }
  // An agent is one tool, whether it is called or takes over.
  std::multimap<std::uint32_t, std::size_t> agent_functions;
  for (std::size_t at = 0; at < is_tool.size(); ++at) {
    const Function& function = program.functions[at];
    if (function.is_agent_run || takes_over(program, function)) {
      is_always_call_[at] = true;
      agent_functions.emplace(function.agent, at);
    } else if (is_tool[at]) {
      function_tools_[at] = add(ToolKind::Function, function.name);
    }
  }
  for (auto at = agent_functions.begin(); at != agent_functions.end();) {
    const std::uint32_t agent = at->first;
    const std::uint32_t tool = add(ToolKind::Agent, program.agents[agent].name);
    for (; at != agent_functions.end() && at->first == agent; ++at) function_tools_[at->second] = tool;
  }
  attempt_tools_.resize(program.sites.size());
  for (std::size_t at = 0; at < program.sites.size(); ++at) {
    const Site& site = program.sites[at];
    if (site.is_attempt) attempt_tools_[at] = add(ToolKind::Answer, program.functions[site.function].name);
  }
  std::map<std::string_view, std::uint32_t> actions;
  for (std::size_t at = 0; at < tool_calls_.size(); ++at) {
    if (tool_calls_[at].pc) continue;
    const std::string& name = program.tools[at].call.name;
    if (!actions.contains(name)) actions.emplace(name, add(ToolKind::Action, name));
    tool_calls_[at].tool = actions.at(name);
  }
  if (has_select) select_tool_ = add(ToolKind::Select, "select");
  for (const ToolKind kind : {ToolKind::Ask, ToolKind::Now, ToolKind::Random, ToolKind::Sleep}) {
    // In the first forms a column of its own also where there is no such extern.
    std::optional<std::uint32_t> tool;
    if (form < Form::Said) tool = add(kind, std::string(tool_kind_name(kind)));
    for (std::size_t at = 0; at < program.externs.size(); ++at) {
      if (!is_called[at] || kind_of(program.externs[at].builtin_effect) != kind) continue;
      if (!tool) tool = add(kind, std::string(tool_kind_name(kind)));
      extern_tools_[at] = tool;
    }
  }
  each_site([&](const Function& function, std::uint32_t pc) {
    auto& calls = calls_[function.code[pc].wide()];
    for (auto& call : calls) {
      if (call) call->tool = callee(function.code[*call->pc]);
    }
    number_alternatives(calls);
  });
  for (ModelCall& call : tool_calls_) {
    if (call.pc) call.tool = callee(program.functions[*call.function].code[*call.pc]);
  }
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
  return is(instruction, Opcode::CallExtern) ? *extern_tools_[instruction.wide()]
                                             : *function_tools_[instruction.wide()];
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
