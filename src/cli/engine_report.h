#pragma once

#include "cli/environment.h"
#include "engine/engine_error.h"

/// How the commands show at the terminal what an engine returns.
namespace tenon::cli {

/// Prints warnings and errors on stderr.
void report(const engine::Problems& problems, const Environment& environment);

/// Prints the error on stderr. Returns the exit code.
int report(const engine::EngineError& error, const Environment& environment);

}  // namespace tenon::cli
