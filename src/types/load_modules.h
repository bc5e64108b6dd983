#pragma once

#include <string>

#include "base/file_system.h"
#include "diagnostics/diagnostic.h"
#include "types/checked_program.h"

namespace tenon::types {

/// More files than any program has; past it a `use` is refused.
inline constexpr std::size_t modules_max = 10'000;

/// Reads and parses the entry file and everything that it uses, directly or not, into `program.modules`. `use a::b::c`
/// means the module a/b/c.tn beside the using file, or the name `c` of a/b.tn. What is missing is reported at the
/// `use`.
void load_modules(const std::string& path, FileSystem& files, CheckedProgram& program,
                  diagnostics::Diagnostics& diagnostics);

}  // namespace tenon::types
