#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "effects/agent_prompt.h"
#include "effects/record.h"
#include "effects/value_form.h"
#include "vm/loaded_program.h"
#include "vm/request.h"

/// Conversions between the machine's requests and outcomes and their records in the journal.
namespace tenon::effects {

[[nodiscard]] EffectKind kind_of(const vm::Request& request, const bytecode::Program& program);

/// The agent whose function makes the request.
[[nodiscard]] AgentScopeView scope_of(const vm::Request& request, const bytecode::Program& program);

/// A machine's request as the journal describes it.
struct DescribedRequest {
  EffectKind kind = EffectKind::Extern;
  std::string subject;
  std::string arguments;  ///< as Requested::arguments
  Hash context;           ///< of what the model sees; zero if it is not a generation
  Hash identity;          ///< as Requested::request
};

/// Without the hashes.
[[nodiscard]] Result<DescribedRequest, ValueFormError> describe_content(const vm::Request& request,
                                                                        const vm::LoadedProgram& program);
/// `form`: the hash of everything else that the answer depends on: the prompt templates and the schema of a generation,
/// the schema of an ask; otherwise zero.
/// Two requests have the same identity if they ask the same: equal kind, subject, arguments, visible context and form.
/// The run and the position in the program do not matter.
[[nodiscard]] Result<DescribedRequest, ValueFormError> describe(const vm::Request& request,
                                                                const vm::LoadedProgram& program, const Hash& form);

/// The content of an outcome, without its cost. Values and inputs are JSON as in Finished::value.
struct OutcomeForm {
  std::string value;         ///< empty without one
  std::uint32_t clause = 0;  ///< as in Finished::clause
  std::optional<FailureText> failure;
  std::optional<AgentPrompt> prompt = std::nullopt;  ///< instead of a value
  std::string tool = {};                             ///< as in Finished::tool
};
/// The content of a recorded outcome. `value`: the text of Finished::value.
[[nodiscard]] OutcomeForm form_of(const Finished& finished, std::string value);
/// The inverse: sets what describes the outcome. `keep` gives the StoredText of a text.
template <class Keep>
void record_outcome(OutcomeForm form, Finished& finished, const Keep& keep) {
  if (form.prompt) {
    finished.value = keep(std::move(form.prompt->input));
    finished.prompted = Finished::Prompted{std::move(form.prompt->agent), form.prompt->kind};
  } else {
    finished.value = keep(std::move(form.value));
  }
  finished.clause = form.clause;
  finished.failure = std::move(form.failure);
  finished.tool = std::move(form.tool);
}
[[nodiscard]] Result<OutcomeForm, ValueFormError> write_outcome(const vm::Outcome& outcome, const vm::Request& request,
                                                                const bytecode::Program& program);
/// The inverse: decodes a recorded outcome of `request`. An error if it does not match the request's types, because the
/// program has changed or the record is damaged.
[[nodiscard]] Result<vm::Outcome, ValueFormError> read_outcome(const OutcomeForm& form, const vm::Request& request,
                                                               const bytecode::Program& program);

/// The branch that makes the request of this key: `3.1` for `3.1.0`; empty if it is not in a branch.
[[nodiscard]] std::string_view branch_of(std::string_view key);

[[nodiscard]] Cost cost_of(const vm::Usage& usage);
[[nodiscard]] vm::Usage usage_of(const Cost& cost);

}  // namespace tenon::effects
