#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bytecode/program.h"
#include "engine/system.h"
#include "project/manifest.h"
#include "tools/extern_problem.h"
#include "tools/native/extern_table.h"
#include "tools/native/native_caller.h"
#include "types/check.h"

namespace tenon::engine {

/// Where externs come from.
struct ExternSources {
  std::vector<std::string> libraries;      ///< paths relative to the current folder
  std::vector<std::string> provided = {};  ///< names of externs that the embedding program performs
};

/// Loads the given libraries, then the manifest's, and looks up each extern of the program in them, unless it is
/// provided. Fails with all externs that cannot be called. Loading a library runs its initializers.
[[nodiscard]] Result<std::shared_ptr<const tools::ExternTable>, std::vector<tools::ExternProblem>> bind_externs(
    const ExternSources& sources, const std::optional<project::Manifest>& manifest,
    std::shared_ptr<const bytecode::Program> program, const System& system);

/// For `tenon check`: compares the externs of a program without errors with the libraries. Adds a diagnostic for each
/// that is missing or does not fit, and a note for each that receives no idempotency key. `program`: the compiled
/// program.
void check_externs(types::Checked& checked, std::shared_ptr<const bytecode::Program> program,
                   const std::vector<std::string>& libraries, const System& system);

/// The path of Python: the variable TENON_PYTHON, or `python3` of the PATH; empty if there is none.
[[nodiscard]] std::string find_python(const System& system);

/// The options for calling externs. `threads`: nothing is the default. `notify`, `may_begin`: as in
/// NativeCallerOptions. Externs in a process run in a child process of System::executable, which gets the folder
/// `reports` in its environment.
[[nodiscard]] tools::NativeCallerOptions calling_options(const System& system, const std::string& reports,
                                                         std::optional<std::uint32_t> threads,
                                                         std::function<void()> notify, std::function<bool()> may_begin);

/// The folder that std::report writes to, as an absolute path: the first that is not empty of `chosen`, the variable
/// TENON_REPORTS, and `reports` next to the store, or in the current folder without a store in a file.
[[nodiscard]] std::string reports_folder(const std::string& chosen, const std::string& store, const System& system);

}  // namespace tenon::engine
