#pragma once

#include "cli/command_line.h"

namespace CLI {
class App;
}

namespace tenon::cli {

/// Adds the commands of `trace`. `command` receives the options and outlives the parsing.
void add_trace_options(CLI::App& trace, TraceCommand& command);

}  // namespace tenon::cli
