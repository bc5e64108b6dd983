#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "effects/record.h"
#include "effects/value_form.h"
#include "vm/loaded_program.h"
#include "vm/request.h"

/// Conversions between the machine's requests and outcomes and their records in the journal.
namespace tenon::effects {

[[nodiscard]] EffectKind kind_of(const vm::Request& request, const bytecode::Program& program);

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

/// The content of an outcome, without its cost. `value` is JSON as in Finished::value.
struct OutcomeForm {
  std::string value;
  std::uint32_t clause = 0;  ///< as in Finished::clause
  std::optional<FailureText> failure;
  std::optional<PromptedAgent> prompted = std::nullopt;  ///< if set, `value` is the prompt's input
  std::string tool = {};                                 ///< as in Finished::tool
};
/// The content of an outcome for its record. `value`: the text of Finished::value.
[[nodiscard]] OutcomeForm form_of(const Finished& finished, std::string value);
[[nodiscard]] Result<OutcomeForm, ValueFormError> write_outcome(const vm::Outcome& outcome, const vm::Request& request,
                                                                const bytecode::Program& program);
/// The inverse: decodes a recorded outcome of `request`. An error if it does not match the request's types, because the
/// program has changed or the record is damaged.
[[nodiscard]] Result<vm::Outcome, ValueFormError> read_outcome(const OutcomeForm& form, const vm::Request& request,
                                                               const bytecode::Program& program);

[[nodiscard]] Cost cost_of(const vm::Usage& usage);
[[nodiscard]] vm::Usage usage_of(const Cost& cost);

}  // namespace tenon::effects
