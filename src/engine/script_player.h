#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bytecode/program.h"
#include "effects/secret_vault.h"
#include "inference/answers/value_reader.h"
#include "runtime/program_image.h"
#include "vm/loaded_program.h"
#include "vm/machine.h"
#include "vm/request.h"

namespace tenon::engine {

/// Answers the requests of one test from its script. The first entry that matches a request answers it. Several answers
/// for one function and the same limits are used once each, in their order; a single answer is used for every request.
class ScriptPlayer {
 public:
  /// `test` outlives it.
  ScriptPlayer(std::shared_ptr<const vm::LoadedProgram> program, const bytecode::TestCase& test);

  /// The outcome, or the reason why the script has none.
  Result<vm::Outcome, std::string> answer(const vm::Request& request);

  /// The answers that no request has used, with their places, a line each; nothing if all were used.
  [[nodiscard]] std::optional<std::string> describe_unused() const;

 private:
  /// The answers of one function with the same limits.
  struct Queue {
    std::vector<const bytecode::ScriptedAnswer*> answers;
    std::size_t given = 0;  ///< how many of them were used
  };

  /// `name`: of the function; empty for a `select`. `shown`: the same in a message. `hint`: what to write if there is
  /// no answer.
  Result<const bytecode::ScriptedAnswer*, std::string> next(const vm::Request& request, std::string_view name,
                                                            std::string_view shown, std::string_view hint);
  /// The first text that the request does not contain, or argument that it does not have, in words; nothing if it is
  /// one that the answer is for.
  std::optional<std::string> find_difference(const vm::Request& request, const bytecode::ScriptedAnswer& answer);
  std::optional<std::string> find_other_argument(const vm::Request& request, const bytecode::ScriptedAnswer& answer);
  /// What a model or a person is asked, as text.
  std::string asked_text(const vm::Request& request);
  Result<vm::Outcome, std::string> value_answer(const vm::Request& request, const std::string& name,
                                                types::TypeId type);
  Result<std::vector<vm::Value>, std::string> read_holes(const bytecode::CallShape& call, const std::string& text);
  Result<vm::Outcome, std::string> fill_answer(const vm::Request& request, const bytecode::Site& site);
  Result<vm::Outcome, std::string> select_answer(const vm::Request& request);

  std::shared_ptr<const vm::LoadedProgram> loaded_;
  const vm::LoadedProgram& program_;
  inference::answers::ValueReader reader_;
  effects::SecretVault secrets_;
  std::vector<Queue> queues_;                           ///< in the order of their first answers
  std::unique_ptr<const runtime::ProgramImage> image_;  ///< made when a prompt is compared
};

/// Describes a request that the script has no answer for, with its location and the call stack.
[[nodiscard]] std::string describe_unanswered(const vm::Machine& machine, vm::RequestId request, std::string problem);

}  // namespace tenon::engine
