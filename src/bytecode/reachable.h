#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bytecode/program.h"

namespace tenon::bytecode {

/// By function, whether code that begins with one of `roots` can come to it: by calls, by the tools of sets that are
/// made on the way, by the guards of answers, and, where a function of a library is called, by the agents that it may
/// prompt.
[[nodiscard]] std::vector<bool> find_reachable_functions(const Program& program, std::span<const std::uint32_t> roots);

}  // namespace tenon::bytecode
