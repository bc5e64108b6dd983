#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "effects/agent_prompt.h"
#include "effects/record.h"
#include "runtime/program_image.h"
#include "vm/machine.h"
#include "vm/request.h"

/// Conversions of what agents do between the machine's form and the journal's.
namespace tenon::runtime {

/// Reads a person's prompt to an agent as an answer to a question of that type
/// (inference/answers/person_answer.h). The error says why
/// the agent does not accept it; `whole` is what it calls the input.
[[nodiscard]] Result<vm::Value, std::string> read_prompt(const ProgramImage& image, const bytecode::Agent& agent,
                                                         std::string_view input, std::string_view whole);

/// The outcome of an extern that prompts an agent: a failure when the program has no such agent, or one that takes
/// another input. `name`: the extern's.
[[nodiscard]] vm::Outcome prompt_outcome(const ProgramImage& image, const effects::AgentPrompt& prompt,
                                         const std::string& name);

/// The text of an outcome that is a model's answer in plain text; nothing for any other.
[[nodiscard]] std::optional<std::string> plain_answer(const vm::Request& request, const vm::Outcome& outcome,
                                                      const bytecode::Program& program);

/// The entries of a state that have another value than before, as a JSON object; empty when none has. Both are JSON
/// (effects/value_form.h), `before` may be empty: then all are new. Without the entries that the program's text does
/// not have.
[[nodiscard]] std::string changed_entries(std::string_view before, std::string_view after,
                                          const std::vector<std::string>& added_entries);

/// Names of Machine::waiting_agents. `title`: the name of a caller that is not an agent.
[[nodiscard]] std::vector<std::string> callers_of(const vm::Machine& machine, const vm::Request& request,
                                                  const std::string& title);

}  // namespace tenon::runtime
