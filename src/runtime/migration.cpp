#include "runtime/migration.h"

#include <fmt/format.h>

#include "effects/value_form.h"
#include "types/shape.h"

namespace tenon::runtime {

using bytecode::Agent;
using bytecode::Program;
using types::TypeId;
using types::TypeTable;

namespace {

/// Of what is computed between turns, which asks nobody anything.
constexpr std::uint64_t preparation_instructions_max = 10'000'000;

/// The agent's migration that takes the type, an index into Program::functions.
std::optional<std::uint32_t> find_migration(const Program& program, const Agent& agent, const TypeTable& old_types,
                                            TypeId old_state) {
  const std::string name = agent.name + "::migrate";
  for (std::uint32_t at = 0; at < program.functions.size(); ++at) {
    const bytecode::Function& function = program.functions[at];
    if (function.name != name && !function.name.starts_with(name + "_")) continue;
    const bool is_migration = function.parameters.size() == 1 && function.result == agent.state;
    if (is_migration && types::reads_as(old_types, old_state, program.types, function.parameters[0])) return at;
  }
  return std::nullopt;
}

std::string describe_differences(const ProgramImage& before, const Agent& old_agent, const ProgramImage& image,
                                 const Agent& agent) {
  const TypeTable& old_types = before.program().types;
  std::string text = fmt::format("the state of `{}` is of another shape in the new program:\n", agent.name);
  for (const std::string& line :
       types::list_shape_differences(old_types, old_agent.state, image.program().types, agent.state)) {
    text += "  " + line + "\n";
  }
  const std::string old_name = agent.name + "Before";
  text += fmt::format(
      "Say in the new program what becomes of it:\n  {}\nand, in the agent:\n  fn migrate(old: {}) -> {} {{ … }}\n"
      "Until then the conversation goes on with the program that it has",
      types::declare_struct(old_types, old_agent.state, old_name), old_name, agent.name);
  return text;
}

}  // namespace

std::optional<std::uint32_t> find_agent(const Program& program, std::string_view name) {
  for (std::uint32_t at = 0; at < program.agents.size(); ++at) {
    if (program.agents[at].name == name) return at;
  }
  return std::nullopt;
}

Result<vm::Value, std::string> compute(const ProgramImage& image, std::uint32_t function,
                                       std::vector<vm::Argument> arguments, const std::optional<vm::Value>& agent_state,
                                       std::string_view what) {
  vm::MachineOptions budgets;
  budgets.instructions_max = preparation_instructions_max;
  vm::Machine machine(image.loaded(), function, std::move(arguments), budgets);
  if (agent_state) machine.set_agent_state(*agent_state);
  const vm::Step step = machine.run();
  if (const auto* finished = std::get_if<vm::Finished>(&step)) return finished->value;
  if (const auto* failed = std::get_if<vm::Failed>(&step)) {
    return failure(fmt::format("{}: {}: {}", failed->report.place, what, failed->report.message));
  }
  return failure(fmt::format("{} asked for something; only a turn can", what));
}

Result<vm::Value, std::string> first_state(const ProgramImage& image, const Agent& agent) {
  return compute(image, agent.initial_state, {}, std::nullopt, "the agent's state");
}

Result<std::string, std::string> migrate(const ProgramImage& before, const Agent& old_agent, std::string_view state,
                                         const ProgramImage& image, const Agent& agent) {
  const TypeTable& types = image.program().types;
  const TypeTable& old_types = before.program().types;
  const bool is_same = types::reads_as(old_types, old_agent.state, types, agent.state);
  const auto migration = is_same ? std::nullopt : find_migration(image.program(), agent, old_types, old_agent.state);
  if (!is_same && !migration) return failure(describe_differences(before, old_agent, image, agent));
  const TypeId type = is_same ? agent.state : image.program().functions[*migration].parameters[0];
  auto value = effects::read_value(state, type, types);
  if (!value) return failure("the agent's state: " + value.error().message);
  if (migration) {
    auto fresh = first_state(image, agent);
    if (!fresh) return failure(std::move(fresh.error()));
    std::vector<vm::Argument> arguments;
    arguments.push_back({std::move(*value), std::nullopt});
    auto made = compute(image, *migration, std::move(arguments), std::move(*fresh),
                        fmt::format("`{}`", image.program().functions[*migration].name));
    if (!made) return failure(std::move(made.error()));
    value = std::move(*made);
  }
  std::string text;
  if (auto written = effects::write_value(*value, agent.state, types, text); !written) {
    return failure("the agent's state: " + written.error().message);
  }
  return text;
}

}  // namespace tenon::runtime
