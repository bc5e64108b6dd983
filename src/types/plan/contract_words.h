#pragma once

#include <optional>
#include <string>
#include <vector>

#include "types/checked_program.h"
#include "types/plan/conditions.h"

namespace tenon::types {

/// The variable of a function's parameter; absent if it does not have a name.
[[nodiscard]] LocalId parameter_local(const CheckedProgram& program, const FunctionDeclaration& function,
                                      std::size_t parameter);

/// Parameters on which the meaning of a contract's text depends without showing their values: those that it names, as
/// `"is in the language"` does, but not `"is in {{ language }}"`. If the text is computed, all that a judge sees.
/// `state` is not among them.
[[nodiscard]] std::vector<std::size_t> implied_parameters(const CheckedProgram& program,
                                                          const FunctionDeclaration& function, syntax::NodeId text,
                                                          std::optional<std::size_t> state);

/// Two judged texts have the same meaning if their keys are equal: the text as rendered in a run, followed by this for
/// each of these parameters, with its value as a template shows it.
[[nodiscard]] std::string key_of_parameter(const std::string& name);

/// A text of a contract in a call.
struct ContractWords {
  std::string words;               ///< filled in with constants, or as written if that is not possible
  bool is_plain = true;            ///< the text in a run is the same
  std::optional<std::string> key;  ///< see key_of_parameter; nothing if it is only known in a run
};
[[nodiscard]] ContractWords words_in_call(const CheckedProgram& program, const FunctionDeclaration& function,
                                          syntax::NodeId text, std::optional<std::size_t> state,
                                          const CallArguments& given);
/// An expression of a contract in a call: as written, with the values of the literal arguments that it mentions.
[[nodiscard]] std::string words_of_expression(const CheckedProgram& program, const FunctionDeclaration& function,
                                              syntax::NodeId expression, const CallArguments& given);
/// For a text that is not part of a contract.
[[nodiscard]] ContractWords words_of_text(const CheckedProgram& program, ModuleId module, syntax::NodeId text);

}  // namespace tenon::types
