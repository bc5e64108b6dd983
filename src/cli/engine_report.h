#pragma once

#include "cli/environment.h"
#include "engine/engine_error.h"
#include "engine/system.h"

/// How the commands show at the terminal what an engine returns.
namespace tenon::cli {

/// The process for an engine, whose notices are printed. `environment` outlives it.
[[nodiscard]] engine::System make_system(const Environment& environment);

/// Prints warnings and errors on stderr.
void report(const engine::Problems& problems, const Environment& environment);

/// Prints the error on stderr. Returns the exit code.
int report(const engine::EngineError& error, const Environment& environment);

}  // namespace tenon::cli
