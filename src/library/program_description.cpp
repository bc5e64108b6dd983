#include "library/program_description.h"

#include <utility>
#include <vector>

#include "tools/type_descriptions.h"

namespace tenon::library {

Json describe_program(const bytecode::Program& program) {
  tools::TypeDescriptions types(program.types);
  std::vector<bool> is_hidden(program.functions.size(), false);
  for (const bytecode::TestCase& test : program.tests) is_hidden[test.function] = true;
  Json functions = Json::array();
  for (std::size_t at = 0; at < program.functions.size(); ++at) {
    const bytecode::Function& function = program.functions[at];
    const bool is_named = function.name.find_first_of("<.|( ") == std::string::npos;
    if (is_hidden[at] || !is_named || function.place.file != 0 || function.agent != UINT32_MAX) continue;
    functions.push_back(tools::describe_callable(program.types, types, function.name, function.documentation,
                                                 function.parameter_names, function.parameters, function.result));
  }
  Json agents = Json::array();
  for (const bytecode::Agent& agent : program.agents) {
    const bytecode::Function& turn = program.functions[agent.turn];
    agents.push_back(Json::object({{"name", agent.name},
                                   {"documentation", agent.documentation},
                                   {"input", types.index_of(turn.parameters.back())},
                                   {"result", types.index_of(turn.result)}}));
  }
  Json externs = Json::array();
  for (const bytecode::Extern& declared : program.externs) {
    if (declared.builtin_effect != types::BuiltinEffect::Native || declared.place.file != 0) continue;
    externs.push_back(tools::describe_callable(program.types, types, declared.name, declared.documentation,
                                               declared.parameter_names, declared.parameters, declared.result));
  }
  return Json::object({{"functions", std::move(functions)},
                       {"agents", std::move(agents)},
                       {"externs", std::move(externs)},
                       {"types", types.take()}});
}

}  // namespace tenon::library
