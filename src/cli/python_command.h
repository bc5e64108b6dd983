#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/environment.h"

namespace tenon::cli {

/// Replaces this process by the command of a module of the Python package: its function `main` gets the arguments.
/// `what` is the command for people. Returns the exit code after a message if that is not possible.
int become_python_command(std::string_view module, std::vector<std::string> arguments, std::string_view what,
                          const Environment& environment);

}  // namespace tenon::cli
