#include "runtime/recording/agent_records.h"

#include <fmt/format.h>

#include <algorithm>

#include "bytecode/agents.h"
#include "inference/answers/mismatch.h"
#include "inference/answers/person_answer.h"
#include "json/reader.h"

namespace tenon::runtime {

Result<vm::Value, std::string> read_prompt(const ProgramImage& image, const bytecode::Agent& agent,
                                           std::string_view input, std::string_view whole) {
  const types::TypeId type = bytecode::prompt_type(image.program(), agent);
  auto value = inference::answers::read_person_answer(image.reader(), type, input);
  if (!value) return failure(inference::answers::describe_all(value.error(), whole));
  return std::move(*value);
}

vm::Outcome prompt_outcome(const ProgramImage& image, const effects::AgentPrompt& prompt, const std::string& name) {
  const auto declined = [&](const std::string& why) {
    return vm::Outcome{vm::EffectFailure{types::FailureKind::ToolFailed, fmt::format("`{}` {}", name, why), name}, {}};
  };
  const bytecode::Program& program = image.program();
  const auto agent = bytecode::find_agent(program, prompt.agent);
  if (!agent) return declined(fmt::format("prompts `{}`, and the program has no such agent", prompt.agent));
  auto input = image.reader().read_argument(bytecode::prompt_type(program, program.agents[*agent]), prompt.input);
  if (!input) {
    return declined(fmt::format("prompts `{}` with an invalid input: {}", prompt.agent,
                                inference::answers::describe_all(input.error(), "")));
  }
  return {vm::SpawnedTurn{*agent, std::move(*input), prompt.kind}, {}};
}

std::optional<std::string> plain_answer(const vm::Request& request, const vm::Outcome& outcome,
                                        const bytecode::Program& program) {
  if (request.kind != vm::RequestKind::Complete) return std::nullopt;
  const auto* const answered = std::get_if<vm::ReturnedValue>(&outcome.what);
  const types::TypeKind kind = program.types.kind(program.types.base(program.sites[request.subject].result));
  if (answered == nullptr || (kind != types::TypeKind::String && kind != types::TypeKind::Text)) return std::nullopt;
  return std::string(answered->value.as_text());
}

std::string changed_entries(std::string_view before, std::string_view after,
                            const std::vector<std::string>& added_entries) {
  if (before == after) return {};
  const Json old_entries = parse_own_json(before);
  const Json entries = parse_own_json(after);
  if (!entries.is_object()) return {};
  Json changed = Json::object();
  for (const auto& [name, value] : entries.members()) {
    const Json* const old_value = old_entries.find(name);
    const bool is_same = old_value != nullptr && *old_value == value;
    const bool is_added = std::find(added_entries.begin(), added_entries.end(), name) != added_entries.end();
    if (!is_same && !is_added) changed.set(name, value);
  }
  return changed.size() == 0 ? std::string() : changed.dump();
}

std::vector<std::string> callers_of(const vm::Machine& machine, const vm::Request& request, const std::string& title) {
  std::vector<std::string> names;
  if (request.depth == 0) return names;
  for (const std::uint32_t agent : machine.waiting_agents(request.id)) {
    const std::vector<bytecode::Agent>& agents = machine.program().program().agents;
    names.push_back(agent == vm::Machine::no_agent ? title : agents[agent].name);
  }
  return names;
}

}  // namespace tenon::runtime
