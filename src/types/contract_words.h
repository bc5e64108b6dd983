#pragma once

#include <optional>
#include <string>
#include <vector>

#include "types/checked_program.h"
#include "types/conditions.h"

namespace tenon::types {

/// The variable of a function's parameter; absent for one without a name.
[[nodiscard]] LocalId parameter_local(const CheckedProgram& program, const FunctionDeclaration& function,
                                      std::size_t parameter);

/// Parameters by which the same text of a contract says something else in another call: those that a judge sees, apart
/// from `state`, and that the text does not spell out itself, as `"is in {{ language }}"` does.
[[nodiscard]] std::vector<std::size_t> unsaid_parameters(const CheckedProgram& program,
                                                         const FunctionDeclaration& function, syntax::NodeId text,
                                                         std::optional<std::size_t> state);

/// Two texts that are judged say the same when their keys are equal: the words as a run has them, and behind them for
/// each unsaid parameter this, and its value as a template shows it.
[[nodiscard]] std::string key_of_parameter(const std::string& name);

/// A text of a contract in one call.
struct ContractWords {
  std::string words;               ///< filled in with constants; where that does not do, as it is written
  bool is_plain = true;            ///< a run has the same words
  std::optional<std::string> key;  ///< see key_of_parameter; nothing where only a run knows it
};
[[nodiscard]] ContractWords words_in_call(const CheckedProgram& program, const FunctionDeclaration& function,
                                          syntax::NodeId text, std::optional<std::size_t> state,
                                          const CallArguments& given);
/// An expression of a contract in one call: as it is written, with what the literal arguments are that it names.
[[nodiscard]] std::string words_of_expression(const CheckedProgram& program, const FunctionDeclaration& function,
                                              syntax::NodeId expression, const CallArguments& given);
/// Of a text that stands in no contract.
[[nodiscard]] ContractWords words_of_text(const CheckedProgram& program, ModuleId module, syntax::NodeId text);

}  // namespace tenon::types
