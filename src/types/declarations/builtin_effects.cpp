#include "types/declarations/builtin_effects.h"

namespace tenon::types {

std::vector<ExternDeclaration> make_builtin_effects(TypeTable& types) {
  const TypeId answer = types.parameter("T");
  const auto make = [](BuiltinEffect call, std::string name, std::string documentation,
                       std::vector<Parameter> parameters, TypeId result) {
    ExternDeclaration function;
    function.builtin_effect = call;
    function.name = std::move(name);
    function.documentation = std::move(documentation);
    function.parameters = std::move(parameters);
    function.result = result;
    return function;
  };
  const Parameter question{"question", TypeTable::string, {}};
  const Parameter milliseconds{"milliseconds", TypeTable::i64, {}};
  std::vector<ExternDeclaration> functions;
  functions.push_back(make(BuiltinEffect::Ask, "ask", "Asks a person and waits for the answer.", {question}, answer));
  functions.push_back(make(BuiltinEffect::AskWithin, "ask_within",
                           "Asks a person; fails when no answer arrives in time.", {question, milliseconds}, answer));
  functions.push_back(make(BuiltinEffect::Approve, "approve", "Shows a person a value and waits for a yes.",
                           {{"value", answer, {}}, question}, answer));
  for (ExternDeclaration& asking : functions) {
    asking.type_parameters = {"T"};
    asking.type_parameter_types = {answer};
  }
  functions.push_back(make(BuiltinEffect::Now, "now", "Milliseconds since 1970, UTC.", {}, TypeTable::i64));
  functions.push_back(make(BuiltinEffect::Random, "random", "A number from 0 to 1, 1 excluded.", {}, TypeTable::f64));
  functions.push_back(make(BuiltinEffect::Sleep, "sleep", "Waits.", {milliseconds}, TypeTable::unit));
  // Called by what the compiler makes of an agent; no program can name them.
  const Parameter agent{"agent", TypeTable::string, {}};
  functions.push_back(
      make(BuiltinEffect::AgentCalled, "agent call", "", {agent, {"input", TypeTable::string, {}}}, TypeTable::unit));
  functions.push_back(make(BuiltinEffect::AgentReturned, "agent return", "", {agent, {"value", TypeTable::string, {}}},
                           TypeTable::unit));
  functions.push_back(
      make(BuiltinEffect::HandedOff, "agent handoff", "", {agent, {"input", TypeTable::string, {}}}, TypeTable::unit));
  functions.push_back(make(BuiltinEffect::AnswerRefused, "answer refused", "",
                           {{"function", TypeTable::string, {}},
                            {"reasons", TypeTable::string, {}},
                            {"answer", TypeTable::string, {}}},  // the key of the request that it answers
                           TypeTable::unit));
  const Parameter path{"path", TypeTable::string, {}};
  functions.push_back(
      make(BuiltinEffect::BlockEntered, "block_entered", "Reports that a block starts.", {path}, TypeTable::unit));
  functions.push_back(
      make(BuiltinEffect::BlockLeft, "block_left", "Reports that a block has ended.", {path}, TypeTable::unit));
  functions.push_back(make(BuiltinEffect::Emitted, "emit", "Sends text to the user before the turn ends.",
                           {{"text", TypeTable::string, {}}}, TypeTable::unit));
  return functions;
}

}  // namespace tenon::types
