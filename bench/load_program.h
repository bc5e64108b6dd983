#pragma once

#include <memory>
#include <string>

#include "vm/loaded_program.h"

/// Loads the programs that the benchmarks run.
namespace tenon::bench {

/// Prints the problem on stderr and exits.
[[noreturn]] void stop(const std::string& what);

/// Returns a program without errors; otherwise prints them and exits.
[[nodiscard]] std::shared_ptr<const vm::LoadedProgram> load_program(const std::string& path);

}  // namespace tenon::bench
