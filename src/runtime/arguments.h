#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bytecode/program.h"
#include "json/json.h"
#include "runtime/program_image.h"
#include "tools/native/result_slots.h"
#include "vm/loaded_program.h"
#include "vm/machine.h"

/// The arguments of a function that is started. A parameter of type Context gets an empty context. The values belong to
/// the thread that reads them.
namespace tenon::runtime {

/// What is wrong with one argument.
struct ArgumentProblem {
  enum class Kind : std::uint8_t {
    Missing,  ///< `detail` is the type
    Invalid,  ///< `detail` says why
    Unknown,  ///< `detail` is a sentence
    Context,  ///< the parameter has the type Context
  };
  Kind kind = Kind::Missing;
  std::string name;
  std::string detail = {};
};

/// Reads arguments that a person gives, each as an answer (inference/answers/person_answer.h). The error has everything
/// that is wrong, at least one entry.
[[nodiscard]] Result<std::vector<vm::Argument>, std::vector<ArgumentProblem>> read_arguments(
    const vm::LoadedProgram& program, const bytecode::Function& function,
    std::span<const std::pair<std::string, std::string>> arguments);

/// Reads an object with a member for each parameter; one of an Option type may be left out. `shown_name`: the
/// function's or the agent's name for messages. The error names everything that is wrong.
[[nodiscard]] Result<std::vector<vm::Argument>, std::string> read_json_arguments(const ProgramImage& image,
                                                                                 const bytecode::Function& function,
                                                                                 std::string_view shown_name,
                                                                                 const Json& arguments);

/// Takes the arguments that were stored in a slot for each parameter. The error names what is missing or wrong.
[[nodiscard]] Result<std::vector<vm::Argument>, std::string> take_arguments(const ProgramImage& image,
                                                                            const bytecode::Function& function,
                                                                            tools::ResultSlots& slots);

/// Why the program has no function of that name to start: `cannot find …; did you mean …?`
[[nodiscard]] std::string describe_unknown_function(const bytecode::Program& program, std::string_view name);
[[nodiscard]] std::string describe_unknown_agent(const bytecode::Program& program, std::string_view name);

}  // namespace tenon::runtime
