#include "compiler/program_compiler.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/compile.h"
#include "compiler/function_compiler.h"
#include "diagnostics/kinds.h"

namespace tenon::compiler {

using syntax::NodeId;
using types::TypeId;
using types::TypeTable;

Program compile(const types::CheckedProgram& checked, diagnostics::Diagnostics& diagnostics) {
  return ProgramCompiler(checked, diagnostics).run();
}

ProgramCompiler::ProgramCompiler(const types::CheckedProgram& checked, diagnostics::Diagnostics& diagnostics)
    : checked_(checked), diagnostics_(diagnostics) {
  program_.types = checked.types;
  for (const types::Module& module : checked.modules) {
    program_.sources.push_back({module.file->path(), std::string(module.file->text())});
  }
  // The variables of a function are in a row, but functions are in another order.
  first_locals_.assign(checked.functions.size(), static_cast<std::uint32_t>(checked.locals.size()));
  for (std::size_t at = checked.locals.size(); at-- > 0;) {
    const types::FunctionId function = checked.locals[at].function;
    if (function.exists()) first_locals_[function.index] = static_cast<std::uint32_t>(at);
  }
  // The verdicts are in the code of each `pursue`, so they belong to the program as its modules do.
  if (!checked.plan_path.empty()) program_.sources.push_back({checked.plan_path, checked.plan_text});
}

Program ProgramCompiler::run() {
  for (std::uint32_t id = 0; id < checked_.externs.size(); ++id) {
    if (checked_.externs[id].builtin_effect == types::BuiltinEffect::Native) extern_instance(types::ExternId{id}, {});
  }
  for (std::uint32_t id = 0; id < checked_.functions.size(); ++id) {
    const types::FunctionDeclaration& function = checked_.functions[id];
    if (function.type_parameters.empty() && !function.is_test) instance(types::FunctionId{id}, {});
  }
  program_.trusts_person = checked_.trusts_person;
  for (const types::FunctionId test : checked_.tests) compile_test(test);
  for (const types::AgentDeclaration& agent : checked_.agents) {
    const types::Module& module = checked_.modules[agent.module.index];
    Agent entry{agent.name,
                agent.documentation,
                place(module, agent.node, true),
                agent.state,
                agent.added_entries,
                instance(agent.turn, {}),
                instance(agent.initial_state, {}),
                no_function,
                instance(agent.run, {}),
                instance(agent.take_over, {})};
    if (agent.instructions.exists()) entry.instructions = instance(agent.instructions, {});
    program_.agents.push_back(std::move(entry));
  }
  // Instances are added while others are compiled.
  for (std::size_t at = 0; at < instances_.size(); ++at) {
    const Instance next = instances_[at];
    current_ = at;
    Function function = next.made
                            ? *next.made
                            : FunctionCompiler(*this, next.what.function, next.what.type_arguments, next.what.strategy,
                                               next.what.part, next.what.holes, next.what.outer)
                                  .run();
    program_.functions.resize(instances_.size());
    program_.functions[at] = std::move(function);
  }
  for (std::size_t tool = 0; uses_tools_in_parts_ && tool < tools_in_parts_.size(); ++tool) {
    if (!tools_in_parts_[tool]) continue;
    program_.tools[tool].function_in_parts = static_cast<std::uint32_t>(program_.functions.size());
    program_.functions.push_back(std::move(*tools_in_parts_[tool]));
  }
  return std::move(program_);
}

std::uint32_t ProgramCompiler::instance(types::FunctionId function, const std::vector<TypeId>& type_arguments) {
  return instance(function, type_arguments, checked_.functions[function.index].strategy);
}

std::uint32_t ProgramCompiler::instance(types::FunctionId function, const std::vector<TypeId>& type_arguments,
                                        const types::Strategy& strategy, Part part, const Holes& holes,
                                        const OuterContract& outer) {
  const auto next = static_cast<std::uint32_t>(instances_.size());
  const auto [found, added] =
      instance_index_.emplace(InstanceKey{function, type_arguments, strategy, part, holes, outer}, next);
  if (!added) return found->second;
  const auto is_large = [&](TypeId type) { return program_.types.count_parts(type) > types::type_parts_max; };
  const auto large = std::ranges::find_if(type_arguments, is_large);
  const bool is_one_too_many = !type_arguments.empty() && ++instance_counts_[function.index] > function_instances_max;
  if (large != type_arguments.end() || is_one_too_many) {
    const types::FunctionDeclaration& declaration = checked_.functions[function.index];
    const source::Span span = checked_.modules[declaration.module.index].tree->main_span(declaration.node);
    if (!diagnostics_.has_errors()) {
      auto& report =
          is_one_too_many
              ? diagnostics_.report(diagnostics::TooLarge, span, "instances of this function", function_instances_max)
              : diagnostics_.report(diagnostics::TypeTooLarge, span, program_.types.describe_briefly(*large),
                                    std::size_t{types::type_parts_max});
      report.hint(describe_recursion(function));
    }
    found->second = 0;
    return 0;
  }
  instances_.push_back({{function, type_arguments, strategy, part, holes, outer}, std::nullopt, current_});
  return next;
}

std::string ProgramCompiler::describe_recursion(types::FunctionId function) const {
  std::string chain = "`" + checked_.functions[function.index].name + "`";
  const std::string last = chain;
  bool is_direct = true;
  for (std::size_t at = current_; at != Instance::no_caller; at = instances_[at].caller) {
    const Instance& caller = instances_[at];
    if (!caller.made && caller.what.function == function) {
      return is_direct ? fmt::format("{} calls itself with ever larger types", last)
                       : fmt::format("{} → {} calls itself with ever larger types", last, chain);
    }
    if (!caller.made) chain = "`" + checked_.functions[caller.what.function.index].name + "` → " + chain;
    is_direct = false;
  }
  return fmt::format("{} is called with ever larger types", last);
}

std::uint32_t ProgramCompiler::add_function(Function function) {
  instances_.push_back({InstanceKey{}, std::move(function), current_});
  return static_cast<std::uint32_t>(instances_.size() - 1);
}

std::uint32_t ProgramCompiler::add_tool(Tool tool, std::optional<Function> in_parts) {
  program_.tools.push_back(std::move(tool));
  tools_in_parts_.push_back(std::move(in_parts));
  return static_cast<std::uint32_t>(program_.tools.size() - 1);
}

std::uint32_t ProgramCompiler::extern_instance(types::ExternId callee, const std::vector<TypeId>& type_arguments) {
  const auto next = static_cast<std::uint32_t>(program_.externs.size());
  const auto [found, added] = extern_index_.emplace(std::pair(callee.index, type_arguments), next);
  if (!added) return found->second;
  const types::ExternDeclaration& declaration = checked_.externs[callee.index];
  Extern entry;
  entry.builtin_effect = declaration.builtin_effect;
  entry.name = declaration.name;
  entry.documentation = declaration.documentation;
  entry.call_options = declaration.call_options;
  entry.is_vouched = declaration.is_vouched;
  if (declaration.module.exists()) {
    entry.place = place(checked_.modules[declaration.module.index], declaration.node, true);
  }
  for (const types::Parameter& parameter : declaration.parameters) {
    if (parameter.is_trusted) entry.trusted_parameters.push_back(static_cast<std::uint16_t>(entry.parameters.size()));
    entry.parameter_names.push_back(parameter.name);
    entry.parameters.push_back(substitute(parameter.type, declaration.type_parameter_types, type_arguments));
  }
  entry.parameter_documentation = types::documentation_of(declaration.parameters);
  entry.result = substitute(declaration.result, declaration.type_parameter_types, type_arguments);
  // A person may refuse, which is None; the machine makes a failure of it.
  if (entry.builtin_effect == types::BuiltinEffect::Approve) entry.result = program_.types.option(entry.result);
  program_.externs.push_back(std::move(entry));
  if (std::ranges::any_of(declaration.parameters, &types::Parameter::asks_approval)) {
    const TypeId call = record_of_call(program_.externs.back());
    program_.externs[next].approval = extern_instance(checked_.effect_builtins.at("approve"), {call});
  }
  return next;
}

/// A struct of its arguments: what a person looks at.
TypeId ProgramCompiler::record_of_call(const Extern& callee) {
  types::StructType record{callee.name, "", {}};
  for (std::size_t at = 0; at < callee.parameters.size(); ++at) {
    record.fields.push_back({callee.parameter_names[at], callee.parameters[at], ""});
  }
  return program_.types.add_struct(std::move(record));
}

std::uint32_t ProgramCompiler::constant(Constant value) {
  std::string key(1, static_cast<char>('0' + value.index()));
  if (const auto* integer = std::get_if<std::int64_t>(&value)) key += std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&value)) key += fmt::format("{:a}", *number);
  if (const auto* text = std::get_if<std::string>(&value)) key += *text;
  const auto [found, added] =
      constant_index_.emplace(std::move(key), static_cast<std::uint32_t>(program_.constants.size()));
  if (added) program_.constants.push_back(std::move(value));
  return found->second;
}

std::uint32_t ProgramCompiler::add_site(Site site) {
  program_.sites.push_back(std::move(site));
  return static_cast<std::uint32_t>(program_.sites.size() - 1);
}

std::uint32_t ProgramCompiler::add_jump_table(JumpTable table) {
  program_.jump_tables.push_back(std::move(table));
  return static_cast<std::uint32_t>(program_.jump_tables.size() - 1);
}

std::uint32_t ProgramCompiler::add_budget(Budget budget) {
  program_.budgets.push_back(budget);
  return static_cast<std::uint32_t>(program_.budgets.size() - 1);
}

std::uint16_t ProgramCompiler::type_operand(TypeId type) {
  if (type.index <= UINT16_MAX) return static_cast<std::uint16_t>(type.index);
  if (!diagnostics_.has_errors()) diagnostics_.report(diagnostics::TooLarge, {}, "types", std::size_t{UINT16_MAX} + 1);
  return 0;
}

TypeId ProgramCompiler::substitute(TypeId type, std::span<const TypeId> parameters, std::span<const TypeId> arguments) {
  for (std::size_t at = 0; at < parameters.size() && at < arguments.size(); ++at) {
    if (type == parameters[at]) return arguments[at];
  }
  if (parameters.empty() || program_.types.get(type).arguments.empty()) return type;
  types::Type copy = program_.types.get(type);
  for (TypeId& argument : copy.arguments) argument = substitute(argument, parameters, arguments);
  return program_.types.intern(std::move(copy));
}

Place ProgramCompiler::place(const types::Module& module, NodeId node, bool main_token) const {
  const source::Span span = main_token ? module.tree->main_span(node) : module.tree->span(node);
  const source::Position position = module.file->position(span.offset);
  return {span.file.index, position.line, position.column};
}

}  // namespace tenon::compiler
