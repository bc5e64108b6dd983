#pragma once

#include <string>

#include "base/file_system.h"
#include "diagnostics/diagnostic.h"
#include "types/checked_program.h"

namespace tenon::types {

/// `Strict`: an undeclared type is an error instead of a text type.
enum class Strictness : bool { Relaxed, Strict };

/// The entry file and everything that it imports: parsed, named and typed. Accepts any input; errors are `diagnostics`.
struct Checked {
  CheckedProgram program;
  diagnostics::Diagnostics diagnostics;

  /// The files in the order of their FileIds, for rendering diagnostics.
  [[nodiscard]] std::vector<const source::SourceFile*> files() const;
};

[[nodiscard]] Checked check(const std::string& path, FileSystem& files, Strictness strictness);

}  // namespace tenon::types
