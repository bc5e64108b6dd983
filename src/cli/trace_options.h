#pragma once

#include "cli/command_line.h"

namespace CLI {
class App;
}

namespace tenon::cli {

/// Adds `trace` with its verbs; `command`, which outlives the parsing, gets what is given.
CLI::App* add_trace_options(CLI::App& app, TraceCommand& command);

}  // namespace tenon::cli
