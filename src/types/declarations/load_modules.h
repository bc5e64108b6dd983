#pragma once

#include <string>

#include "base/file_system.h"
#include "diagnostics/diagnostic.h"
#include "types/checked_program.h"

namespace tenon::types {

/// The maximum number of files; beyond it a `use` is rejected.
inline constexpr std::size_t modules_max = 10'000;

/// Reads and parses the entry file and everything that it imports, directly or indirectly, into `program.modules`.
/// `use a::b::c` refers to the module a/b/c.tn relative to the importing file, or the name `c` of a/b.tn. Missing
/// modules are reported at the `use`.
void load_modules(const std::string& path, FileSystem& files, CheckedProgram& program,
                  diagnostics::Diagnostics& diagnostics);

}  // namespace tenon::types
