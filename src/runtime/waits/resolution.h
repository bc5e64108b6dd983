#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "bytecode/program.h"
#include "inference/answers/value_reader.h"
#include "runtime/run_core.h"
#include "vm/values/value.h"

/// A call of a `once` extern that was begun and has no recorded outcome may have happened or not. It is not made again
/// automatically: a person decides what became of it.
namespace tenon::runtime {

struct CallAgain {};
struct CallFailed {
  std::string message;
};
/// A person's decision: the call's value, another call, or a failure.
using CallResolution = std::variant<vm::Value, CallAgain, CallFailed>;

/// The question for the person. Names the extern and, shortened, its arguments, in the form in which values are given
/// (vm::to_json).
[[nodiscard]] std::string resolution_question(const OpenRequest& open, const bytecode::Program& program);
/// The answer's form for people: `{"value": i64} | {"retry": true} | {"fail": String}`.
[[nodiscard]] std::string resolution_type(const bytecode::Program& program, std::uint32_t subject);
/// The answer's JSON Schema.
[[nodiscard]] std::string resolution_schema(const bytecode::Program& program, std::uint32_t subject);

/// Reads an answer; the error is the reason why it is invalid, for people. `subject`: the extern, an index into
/// Program::externs.
[[nodiscard]] Result<CallResolution, std::string> read_resolution(const inference::answers::ValueReader& reader,
                                                                  const bytecode::Program& program,
                                                                  std::uint32_t subject, std::string_view input);

}  // namespace tenon::runtime
