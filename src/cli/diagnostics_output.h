#pragma once

#include <span>

#include "cli/environment.h"
#include "types/check.h"

namespace tenon::cli {

enum class ShownDiagnostics : std::uint8_t { All, WithoutNotes };

/// Prints the diagnostics to stderr, and the number of those beyond the limit.
void print_diagnostics(const diagnostics::Diagnostics& diagnostics, std::span<const source::SourceFile* const> files,
                       ShownDiagnostics shown, const Environment& environment);
/// The same for what was found in a single file, in the order of its text, which `diagnostics` has afterwards.
void print_diagnostics(diagnostics::Diagnostics& diagnostics, const source::SourceFile& file,
                       const Environment& environment);
void print_diagnostics(const types::Checked& checked, ShownDiagnostics shown, const Environment& environment);

/// Prints why the file of a program cannot be read. Returns the exit code.
int fail_unreadable(const std::string& path, const FileError& error, const Environment& environment);

}  // namespace tenon::cli
