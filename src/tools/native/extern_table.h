#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "bytecode/program.h"
#include "tools/extern_error.h"
#include "tools/extern_problem.h"
#include "tools/native/header_call.h"
#include "tools/native/native_library.h"
#include "tools/native/plain_call.h"
#include "tools/python/python_file.h"
#include "types/table/type_table.h"
#include "vm/values/refinements.h"
#include "vm/values/value.h"

namespace tenon::tools {

struct ProcessEnd;

/// How an extern is called.
enum class BindingKind : std::uint8_t {
  PlainSymbol,  ///< a C function by its C types; it does not see the effect's key
  Header,       ///< a function that was written with tenon/extern.h
  Provided,     ///< by the program that embeds Tenon: see tools/provided_functions.h
  Python,       ///< a function of a Python file, in a worker process: see tools/python
};

/// The externs of one program, each bound to a function of a library or of the embedding program. Immutable and
/// thread-safe.
class ExternTable final {
 public:
  /// Finds each extern of the program. Reports all that cannot be called: a function that no library exports, or more
  /// than one, a type that plain C cannot carry, a signature that is not the declared one, a library that needs a newer
  /// Tenon. `provided`: the names of externs that the embedding program performs; no library is searched for them.
  /// `python`: files that were opened for this program.
  [[nodiscard]] static Result<std::shared_ptr<const ExternTable>, std::vector<ExternProblem>> bind(
      std::shared_ptr<const bytecode::Program> program, const NativeLibraries& libraries,
      std::span<const std::string> provided = {}, std::vector<PythonFile> python = {});

  ExternTable(const ExternTable&) = delete;
  ExternTable& operator=(const ExternTable&) = delete;

  /// Calls the extern, which is neither `Provided` nor `Python`, on this thread and returns its result, which satisfies
  /// its declared type. `subject` is an index into Program::externs, and the arguments have the declared types. The
  /// values belong to this thread during the call. If the function crashes, so does the process.
  [[nodiscard]] ExternOutcome call(std::uint32_t subject, std::span<const vm::Value> arguments,
                                   const CallCircumstances& circumstances) const;

  /// The message that has a worker process make the call, for a function in Python or an extern declared `process`
  /// (tools/process/worker_message.h). Fails when an argument cannot be passed to it.
  [[nodiscard]] Result<std::string, ExternError> worker_request(std::uint32_t subject,
                                                                std::span<const vm::Value> arguments,
                                                                std::string_view key,
                                                                const std::optional<std::string>& input) const;
  /// The result of the worker process. Called on the thread to which the value is to belong.
  [[nodiscard]] ExternOutcome read_end(std::uint32_t subject, const ProcessEnd& end) const;

  [[nodiscard]] const bytecode::Program& program() const { return *program_; }
  /// Of the program's types.
  [[nodiscard]] const vm::Refinements& refinements() const { return refinements_; }
  [[nodiscard]] BindingKind kind(std::uint32_t subject) const;
  [[nodiscard]] bool is_process(std::uint32_t subject) const {
    return program_->externs[subject].call_options.is_process;
  }
  /// The file that has the function of a `Python` extern.
  [[nodiscard]] const PythonFile& python_file(std::uint32_t subject) const { return *bindings_[subject].python; }
  /// ``extern `add` of libops.so``
  [[nodiscard]] const std::string& blame(std::uint32_t subject) const { return bindings_[subject].blame; }
  /// The library's name as it was given: `libops.so`
  [[nodiscard]] const std::string& library(std::uint32_t subject) const { return bindings_[subject].library; }

 private:
  using HeaderFunction = void (*)(tenon_call*);
  struct Binding {
    std::variant<std::unique_ptr<PlainFunction>, HeaderFunction> function;  ///< null if it is provided
    std::string blame;
    std::string library;
    std::string library_path;    ///< NativeLibrary::full_name
    std::string worker_program;  ///< of an extern in a process: bytecode of its types and itself
    bool is_provided = false;
    std::shared_ptr<const PythonFile> python;
  };
  class Binder;

  explicit ExternTable(std::shared_ptr<const bytecode::Program> program);

  std::shared_ptr<const bytecode::Program> program_;
  vm::Refinements refinements_;
  std::vector<Binding> bindings_;  ///< as Program::externs
};

}  // namespace tenon::tools
