#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "project/manifest.h"
#include "tools/extern_problem.h"
#include "types/check.h"
#include "vm/loaded_program.h"

namespace tenon::engine {

/// One error, warning or note about a program, its externs or its manifest.
struct Problem {
  diagnostics::Severity severity = diagnostics::Severity::Error;
  std::string code;  ///< as `tenon explain` takes it; empty for a manifest's
  std::string message;
  std::string path;                    ///< of the file; empty if it concerns none
  std::uint32_t line = 0, column = 0;  ///< from 1; 0: the whole file
  std::string text;    ///< as `tenon check` prints it: one or more whole lines, with source lines and hints
  std::string styled;  ///< the same with a terminal's escape sequences; empty if it has none
};

struct Problems {
  std::vector<Problem> list;
  std::size_t left_out = 0;  ///< further ones, which are only counted
};

/// Why an engine did not do what it was asked to. Nothing has changed then, unless a function says otherwise.
struct EngineError {
  enum class Kind : std::uint8_t {
    Usage,       ///< a setting is invalid, or the program has no such function or agent
    Program,     ///< the program, its externs or its manifest have errors: `problems`
    NotFound,    ///< no such run, question or store
    Conflict,    ///< the run's state does not allow it: it has ended, or a turn is in progress
    WrongInput,  ///< an argument, an answer or a prompt does not have the expected type
    InUse,       ///< another process owns the store, or the run
    Failed,      ///< the world: a file, a model, the store, a key
  };
  Kind kind = Kind::Failed;
  std::string message;       ///< a sentence without a full stop; empty if `problems` say everything
  std::string setting = {};  ///< the invalid setting, of which `message` says what it must be; empty: none
  Problems problems = {};
};

/// The whole error as text, on one or more lines without a newline at the end.
[[nodiscard]] std::string describe(const EngineError& error);

/// The errors and warnings of a program, without notes.
[[nodiscard]] Problems problems_of(const types::Checked& checked);
[[nodiscard]] Problems problems_of(const project::ManifestError& manifest);
[[nodiscard]] Problems problems_of(std::span<const tools::ExternProblem> externs, const vm::LoadedProgram& program);

}  // namespace tenon::engine
