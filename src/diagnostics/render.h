#pragma once

#include <span>
#include <string>

#include "diagnostics/diagnostic.h"

namespace tenon::diagnostics {

enum class Colour : bool { Off, On };

/// `FILE:LINE:COL: error[E2104]: …` with the source line, carets, labels and hints.
[[nodiscard]] std::string render(const Diagnostic& diagnostic, std::span<const source::SourceFile* const> files,
                                 Colour colour);

/// One JSON object: code, severity, message, file, line, column, end_line, end_column, labels, hints, fix.
[[nodiscard]] std::string render_json(const Diagnostic& diagnostic, std::span<const source::SourceFile* const> files);

}  // namespace tenon::diagnostics
