#pragma once

#include <memory>
#include <string>

#include "vm/loaded_program.h"

/// What the benches of whole programs begin with.
namespace tenon::bench {

/// Says what is wrong on stderr and ends the program.
[[noreturn]] void stop(const std::string& what);

/// A program without a mistake; with one the bench ends.
[[nodiscard]] std::shared_ptr<const vm::LoadedProgram> load_program(const std::string& path);

}  // namespace tenon::bench
