#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bytecode/program.h"
#include "effects/secret_vault.h"
#include "inference/answers/value_reader.h"
#include "vm/loaded_program.h"
#include "vm/machine.h"
#include "vm/request.h"

namespace tenon::engine {

/// Answers the requests of one test from its script. Several answers for one function are used once each, in their
/// order; a single answer is used for every request.
class ScriptPlayer {
 public:
  /// Both outlive it.
  ScriptPlayer(const vm::LoadedProgram& program, const bytecode::TestCase& test);

  /// The outcome, or the reason why the script has none.
  Result<vm::Outcome, std::string> answer(const vm::Request& request);

  /// The answers that no request has used, with their places, a line each; nothing if all were used.
  [[nodiscard]] std::optional<std::string> describe_unused() const;

 private:
  struct Queue {
    std::vector<const bytecode::ScriptedAnswer*> answers;
    std::size_t given = 0;  ///< how many of them were used
  };
  using Key = std::pair<bytecode::RequestKind, std::string>;

  Result<const bytecode::ScriptedAnswer*, std::string> next(bytecode::RequestKind kind, const std::string& name,
                                                            std::string_view shown);
  Result<vm::Outcome, std::string> value_answer(bytecode::RequestKind kind, const std::string& name,
                                                types::TypeId type);
  Result<std::vector<vm::Value>, std::string> read_holes(const bytecode::CallShape& call, const std::string& text);
  Result<vm::Outcome, std::string> fill_answer(const bytecode::Site& site);
  Result<vm::Outcome, std::string> select_answer(const vm::Request& request);

  const vm::LoadedProgram& program_;
  inference::answers::ValueReader reader_;
  effects::SecretVault secrets_;
  std::map<Key, Queue> queues_;
};

/// Describes a request that the script has no answer for, with its location and the call stack.
[[nodiscard]] std::string describe_unanswered(const vm::Machine& machine, vm::RequestId request, std::string problem);

}  // namespace tenon::engine
