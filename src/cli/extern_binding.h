#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bytecode/program.h"
#include "cli/environment.h"
#include "project/manifest.h"
#include "tools/extern_problem.h"
#include "tools/native/extern_table.h"
#include "tools/native/native_caller.h"
#include "types/check.h"
#include "vm/loaded_program.h"

namespace tenon::cli {

/// Loads the libraries of the command line, whose paths are relative to the current folder, then the manifest's, and
/// finds each extern of the program in them. Fails with all that cannot be called. Loading a library runs its
/// initializers.
[[nodiscard]] Result<std::shared_ptr<const tools::ExternTable>, std::vector<tools::ExternProblem>> bind_externs(
    const std::vector<std::string>& libraries, const std::optional<project::Manifest>& manifest,
    std::shared_ptr<const bytecode::Program> program);

/// The same; what keeps externs from being called is printed, and the result then is null.
[[nodiscard]] std::shared_ptr<const tools::ExternTable> bind_or_tell(const std::vector<std::string>& libraries,
                                                                     const std::optional<project::Manifest>& manifest,
                                                                     const vm::LoadedProgram& program,
                                                                     const Environment& environment);

/// For `tenon check`: adds to the diagnostics of a program without errors, `program` being what it was compiled to,
/// what its externs lack in the libraries, and a note on each that gets no idempotency key.
void check_externs(types::Checked& checked, std::shared_ptr<const bytecode::Program> program,
                   const std::vector<std::string>& libraries);

/// How externs are called: `notify` as NativeCallerOptions has it; those in a process in one of this program, which is
/// told where reports go.
[[nodiscard]] tools::NativeCallerOptions calling_options(const Environment& environment, const std::string& reports,
                                                         std::function<void()> notify);

/// Where std::report writes: `chosen`, the variable TENON_REPORTS, `reports` beside the store or, without one, in the
/// current folder; the first of these that is not empty. An absolute path.
[[nodiscard]] std::string reports_folder(const std::string& chosen, const std::string& store,
                                         const Environment& environment);

/// The libraries of the command line and of the manifest, as absolute paths.
[[nodiscard]] std::vector<std::string> library_paths(const std::vector<std::string>& given,
                                                     const std::optional<project::Manifest>& manifest);

}  // namespace tenon::cli
