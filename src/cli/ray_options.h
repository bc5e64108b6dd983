#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cli/command_line.h"

namespace CLI {
class App;
}

namespace tenon::cli {

/// Adds the commands of `ray`, so that their help and their errors need no Python. The Python package performs them
/// (python/tenon/ray/__main__.py), and has the same options.
void add_ray_options(CLI::App& ray);

/// The arguments of `ray serve` that `serve` with `--engine ray` stands for; nothing for every other command.
/// `arguments` begin with the command.
[[nodiscard]] std::optional<std::vector<const char*>> find_ray_serving(std::span<const char* const> arguments);

}  // namespace tenon::cli
