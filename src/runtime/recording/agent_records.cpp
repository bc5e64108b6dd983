#include "runtime/recording/agent_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "bytecode/agents.h"
#include "inference/answers/mismatch.h"
#include "json/reader.h"

namespace tenon::runtime {
namespace {

struct Member {
  std::string_view name;
  std::string_view value;  ///< JSON
};

/// Where the quotation mark is that ends the string whose text begins at `at`.
std::size_t end_of_string(std::string_view json, std::size_t at) {
  const std::size_t begin = at;
  for (;; ++at) {
    at = std::min(json.find('"', at), json.size());
    std::size_t backslashes = 0;
    while (at - backslashes > begin && json[at - backslashes - 1] == '\\') ++backslashes;
    if (at == json.size() || backslashes % 2 == 0) return at;
  }
}

/// The members of an object in JSON that Tenon has written, as they stand there: a large one that has not changed need
/// not be parsed. Names have no escapes, because they are those of fields.
std::vector<Member> members_of(std::string_view object) {
  std::vector<Member> members;
  std::string_view name;
  std::size_t begin = 0;  // of the string, or of the member's value
  int depth = 0;
  for (std::size_t at = 0; at < object.size(); ++at) {
    const char c = object[at];
    if (c == '"') {
      const std::size_t text = at + 1;
      at = end_of_string(object, text);
      if (depth == 1 && name.data() == nullptr) name = object.substr(text, at - text);
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == ':' && depth == 1) {
      begin = at + 1;
    } else if (depth == 1 && (c == ',' || c == '}')) {
      if (name.data() != nullptr)
        members.push_back({std::exchange(name, {}), trimmed(object.substr(begin, at - begin))});
      depth -= c == '}' ? 1 : 0;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return members;
}

}  // namespace

Result<vm::Value, std::string> read_prompt(const ProgramImage& image, const bytecode::Agent& agent,
                                           std::string_view input, std::string_view whole) {
  auto value = image.reader().read_argument(bytecode::prompt_type(image.program(), agent), input);
  if (value) return std::move(*value);
  std::string message;
  for (const auto& mismatch : value.error()) {
    if (!message.empty()) message += "; ";
    message += inference::answers::describe(mismatch, whole);
  }
  return failure(std::move(message));
}

vm::Outcome prompt_outcome(const ProgramImage& image, const effects::AgentPrompt& prompt, const std::string& name) {
  const auto declined = [&](const std::string& why) {
    return vm::Outcome{vm::EffectFailure{types::FailureKind::ToolFailed, fmt::format("`{}` {}", name, why), name}, {}};
  };
  const bytecode::Program& program = image.program();
  const auto agent = bytecode::find_agent(program, prompt.agent);
  if (!agent) return declined(fmt::format("prompts `{}`, and the program has no such agent", prompt.agent));
  auto input = read_prompt(image, program.agents[*agent], prompt.input, "");
  if (!input) return declined(fmt::format("prompts `{}` with an invalid input: {}", prompt.agent, input.error()));
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
  const std::vector<Member> old_entries = members_of(before);
  Json changed = Json::object();
  for (const Member& entry : members_of(after)) {
    if (std::ranges::find(added_entries, entry.name) != added_entries.end()) continue;
    const auto old_entry = std::ranges::find(old_entries, entry.name, &Member::name);
    if (old_entry != old_entries.end() && old_entry->value == entry.value) continue;
    Json value = parse_own_json(entry.value);
    const bool is_same = old_entry != old_entries.end() && parse_own_json(old_entry->value) == value;
    if (!is_same) changed.set(std::string(entry.name), std::move(value));
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
