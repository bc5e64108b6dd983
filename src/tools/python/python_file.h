#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bytecode/program.h"
#include "tools/extern_error.h"
#include "tools/extern_problem.h"
#include "tools/process/child_process.h"
#include "vm/values/refinements.h"
#include "vm/values/value.h"

/// Files of Python functions as externs, in processes that stay (tools/process/worker_pool.h). The processes' side is
/// python/tenon/_worker.py.
namespace tenon::tools {

/// Whether a library is a Python file, by its name.
[[nodiscard]] bool is_python_file(std::string_view library);

/// The command of a worker: `interpreter` is the path of Python, 3.10 or newer.
[[nodiscard]] WorkerCommand python_command(const std::string& interpreter, std::vector<std::string> environment);

/// The externs of a program that the functions of one file perform.
class PythonFile final {
 public:
  /// Loads the file in a process and compares its functions with the program's externs. Fails if it cannot be loaded.
  /// `name`: relative to `folder`, or to the current folder.
  [[nodiscard]] static Result<PythonFile, ExternProblem> open(const std::string& name, const std::string& folder,
                                                              const bytecode::Program& program,
                                                              const WorkerCommand& command);

  /// As it was given.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Whether it has a function for the extern.
  [[nodiscard]] bool defines(const std::string& name) const { return externs_.contains(name); }
  /// Why the function cannot perform the extern; nothing if it can.
  [[nodiscard]] const std::optional<std::string>& problem(const std::string& name) const { return externs_.at(name); }
  /// The functions that it has, for suggestions.
  [[nodiscard]] const std::vector<std::string>& functions() const { return functions_; }
  /// What a worker gets first. Files with equal greetings can share workers.
  [[nodiscard]] const std::string& greeting() const { return greeting_; }

 private:
  std::string name_;
  std::string path_;
  std::string greeting_;
  std::map<std::string, std::optional<std::string>> externs_;
  std::vector<std::string> functions_;
};

/// The message that has a worker make a call.
[[nodiscard]] Result<std::string, ExternError> python_request(
    const bytecode::Extern& declared, const types::TypeTable& types, std::span<const vm::Value> arguments,
    std::string_view key, const std::optional<std::string>& input, const std::string& blame);
/// The result of a call from the worker's reply. Called on the thread to which the value is to belong.
[[nodiscard]] ExternOutcome read_python_reply(const bytecode::Extern& declared, const vm::Refinements& refinements,
                                              std::string_view reply, const std::string& blame);

}  // namespace tenon::tools
