#include "runtime/recovery/migration.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ensure.h"
#include "effects/value_form.h"
#include "types/table/shape.h"

namespace tenon::runtime {

using bytecode::Agent;
using bytecode::Program;
using types::TypeId;
using types::TypeTable;

namespace {

/// For functions that run between turns, which make no requests.
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

/// The types with the agent's state as it was written: without the entries that lowering has added.
TypeTable written_types(const Program& program, const Agent& agent) {
  TypeTable types = program.types;
  std::vector<types::Field>& fields = types.mutable_struct(agent.state).fields;
  ENSURE(agent.added_entries.size() <= fields.size());
  fields.resize(fields.size() - agent.added_entries.size());
  return types;
}

/// The state's written entries, as JSON; a failure in words.
Result<std::string, std::string> write_written(std::string_view state, const Program& program, const Agent& agent,
                                               const TypeTable& written) {
  if (agent.added_entries.empty()) return std::string(state);
  auto value = effects::read_value(state, agent.state, program.types);
  if (!value) return failure("the agent's state: " + value.error().message);
  const auto fields = value->fields().first(written.struct_type(agent.state).fields.size());
  std::string text;
  const auto kept = vm::Value::record(agent.state, {fields.begin(), fields.end()});
  if (auto did = effects::write_value(kept, agent.state, written, text); !did) {
    return failure("the agent's state: " + did.error().message);
  }
  return text;
}

/// Keeps the old state's added entries, except for the scratchpad and entries of another shape, which start empty.
void keep_added(std::vector<vm::Value>& fields, std::string_view state, const Program& before, const Agent& old_agent,
                const Program& program, const Agent& agent) {
  const auto old_value = effects::read_value(state, old_agent.state, before.types);
  if (!old_value) return;
  const auto& old_fields = before.types.struct_type(old_agent.state).fields;
  const auto& new_fields = program.types.struct_type(agent.state).fields;
  for (std::size_t at = new_fields.size() - agent.added_entries.size(); at < new_fields.size(); ++at) {
    if (new_fields[at].name == "scratchpad") continue;
    for (std::size_t old = old_fields.size() - old_agent.added_entries.size(); old < old_fields.size(); ++old) {
      if (old_fields[old].name != new_fields[at].name ||
          !types::reads_as(before.types, old_fields[old].type, program.types, new_fields[at].type)) {
        continue;
      }
      std::string text;
      if (!effects::write_value(old_value->fields()[old], old_fields[old].type, before.types, text)) continue;
      if (auto read = effects::read_value(text, new_fields[at].type, program.types)) fields[at] = std::move(*read);
    }
  }
}

std::string describe_differences(const TypeTable& old_types, const Agent& old_agent, const TypeTable& new_types,
                                 const Agent& agent) {
  std::string text = fmt::format("the state of `{}` changed in the new program:\n", agent.name);
  for (const std::string& line : types::list_shape_differences(old_types, old_agent.state, new_types, agent.state)) {
    text += "  " + line + "\n";
  }
  const std::string old_name = agent.name + "Before";
  text += fmt::format(
      "Add a migration:\n  {}\nand, in the agent:\n  fn migrate(old: {}) -> {} {{ … }}\n"
      "Until then it keeps its current program",
      types::declare_struct(old_types, old_agent.state, old_name), old_name, agent.name);
  return text;
}

}  // namespace

Result<vm::Value, std::string> compute(const ProgramImage& image, std::uint32_t function,
                                       std::vector<vm::Argument> arguments, const std::optional<vm::Value>& agent_state,
                                       vm::LabelTable& labels, std::string_view what) {
  bytecode::Bounds budgets = bytecode::default_bounds;
  budgets.instructions = preparation_instructions_max;
  vm::Machine machine(image.loaded(), function, std::move(arguments), budgets, labels);
  if (agent_state) machine.set_agent_state(*agent_state);
  const vm::Step step = machine.run();
  labels = machine.labels();
  if (const auto* finished = std::get_if<vm::Finished>(&step)) return finished->value;
  if (const auto* failed = std::get_if<vm::Failed>(&step)) {
    return failure(fmt::format("{}: {}: {}", failed->report.place, what, failed->report.message));
  }
  return failure(fmt::format("{} made a request; only a turn can", what));
}

Result<vm::Value, std::string> first_state(const ProgramImage& image, const Agent& agent) {
  vm::LabelTable labels;
  return compute(image, agent.initial_state, {}, std::nullopt, labels, "the agent's state");
}

Result<std::string, std::string> migrate(const ProgramImage& before, const Agent& old_agent, std::string_view state,
                                         const ProgramImage& image, const Agent& agent) {
  const TypeTable& types = image.program().types;
  const TypeTable old_types = written_types(before.program(), old_agent);
  const TypeTable new_types = written_types(image.program(), agent);
  const bool is_same = types::reads_as(old_types, old_agent.state, new_types, agent.state);
  const std::uint32_t migration =
      is_same ? bytecode::no_function
              : find_migration(image.program(), agent, old_types, old_agent.state).value_or(bytecode::no_function);
  const bool is_made = migration != bytecode::no_function;
  if (!is_same && !is_made) return failure(describe_differences(old_types, old_agent, new_types, agent));
  auto written = write_written(state, before.program(), old_agent, old_types);
  if (!written) return failure(std::move(written.error()));
  const TypeId type = is_same ? agent.state : image.program().functions[migration].parameters[0];
  auto value = effects::read_value(*written, type, is_same ? new_types : types);
  if (!value) return failure("the agent's state: " + value.error().message);
  if (is_made || !agent.added_entries.empty()) {
    auto fresh = first_state(image, agent);
    if (!fresh) return failure(std::move(fresh.error()));
    std::vector<vm::Value> fields(fresh->fields().begin(), fresh->fields().end());
    if (is_made) {
      std::vector<vm::Argument> arguments;
      arguments.push_back({std::move(*value), std::nullopt});
      vm::LabelTable labels;
      auto made = compute(image, migration, std::move(arguments), std::move(*fresh), labels,
                          fmt::format("`{}`", image.program().functions[migration].name));
      if (!made) return failure(std::move(made.error()));
      value = std::move(*made);
    }
    std::copy(value->fields().begin(), value->fields().end(), fields.begin());
    keep_added(fields, state, before.program(), old_agent, image.program(), agent);
    value = vm::Value::record(agent.state, std::move(fields));
  }
  std::string text;
  if (auto did = effects::write_value(*value, agent.state, types, text); !did) {
    return failure("the agent's state: " + did.error().message);
  }
  return text;
}

}  // namespace tenon::runtime
