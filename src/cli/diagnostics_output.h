#pragma once

#include <span>

#include "cli/environment.h"
#include "types/check.h"

namespace tenon::cli {

enum class ShownDiagnostics : std::uint8_t { All, WithoutNotes };

/// Prints the diagnostics to stderr, and the number of those beyond the limit.
void print_diagnostics(const diagnostics::Diagnostics& diagnostics, std::span<const source::SourceFile* const> files,
                       ShownDiagnostics shown, const Environment& environment);
void print_diagnostics(const types::Checked& checked, ShownDiagnostics shown, const Environment& environment);

}  // namespace tenon::cli
