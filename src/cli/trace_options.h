#pragma once

#include "cli/command_line.h"

namespace CLI {
class App;
}

namespace tenon::cli {

/// Adds the verbs of `trace`; `command`, which outlives the parsing, gets what is given.
void add_trace_options(CLI::App& trace, TraceCommand& command);

}  // namespace tenon::cli
