#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "effects/record.h"
#include "effects/value_form.h"
#include "vm/loaded_program.h"
#include "vm/request.h"

/// Between the machine's requests and outcomes and what the journal keeps of them.
namespace tenon::effects {

[[nodiscard]] EffectKind kind_of(const vm::Request& request, const bytecode::Program& program);

/// A machine's request in the journal's words.
struct DescribedRequest {
  EffectKind kind = EffectKind::Extern;
  std::string subject;
  std::string arguments;  ///< as Requested::arguments
  Hash context;           ///< zero for what is no generation
  Hash identity;          ///< as Requested::request
};

/// `form`: the hash of what else the answer depends on: of a generation the wordings and the schema, of an ask the
/// schema; zero for none. Two
/// requests have the same identity when the same would be asked of the same one: kind, subject, arguments, what is seen
/// and the form; neither the run nor the place in the program.
[[nodiscard]] Result<DescribedRequest, ValueFormError> describe(const vm::Request& request,
                                                                const vm::LoadedProgram& program, const Hash& form);

/// What an outcome says, without its cost. `value` is JSON as Finished::value.
struct OutcomeForm {
  std::string value;
  std::uint32_t clause = 0;  ///< as Finished::clause
  std::optional<FailureText> failure;
  std::optional<PromptedAgent> prompted = std::nullopt;  ///< then `value` is the prompt's input
  std::string tool = {};                                 ///< as Finished::tool
};
/// What a record says of its outcome. `value`: the text of Finished::value.
[[nodiscard]] OutcomeForm form_of(const Finished& finished, std::string value);
[[nodiscard]] Result<OutcomeForm, ValueFormError> write_outcome(const vm::Outcome& outcome, const vm::Request& request,
                                                                const bytecode::Program& program);
/// The inverse: what was recorded as an answer to `request`. An error when the answer does not fit the request's types,
/// because the program has changed since or because the record is damaged.
[[nodiscard]] Result<vm::Outcome, ValueFormError> read_outcome(const OutcomeForm& form, const vm::Request& request,
                                                               const bytecode::Program& program);

[[nodiscard]] Cost cost_of(const vm::Usage& usage);
[[nodiscard]] vm::Usage usage_of(const Cost& cost);

}  // namespace tenon::effects
