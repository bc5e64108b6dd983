#pragma once

#include <string>

#include "base/file_system.h"
#include "diagnostics/diagnostic.h"
#include "types/checked_program.h"

namespace tenon::types {

/// `Strict`: a type that is declared nowhere is an error instead of a text type.
enum class Strictness : bool { Relaxed, Strict };

/// The entry file and what it uses, read, named and typed. Any input gives a result; `diagnostics` tells what is wrong.
struct Checked {
  CheckedProgram program;
  diagnostics::Diagnostics diagnostics;

  /// The files in the order of their FileIds, for rendering diagnostics.
  [[nodiscard]] std::vector<const source::SourceFile*> files() const;
};

[[nodiscard]] Checked check(const std::string& path, FileSystem& files, Strictness strictness);

}  // namespace tenon::types
