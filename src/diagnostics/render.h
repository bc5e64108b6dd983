#pragma once

#include <span>
#include <string>

#include "diagnostics/diagnostic.h"
#include "json/json.h"

namespace tenon::diagnostics {

enum class Colour : bool { Off, On };

/// `FILE:LINE:COL: error[E2104]: …` with the source line, carets, labels and hints.
[[nodiscard]] std::string render(const Diagnostic& diagnostic, std::span<const source::SourceFile* const> files,
                                 Colour colour);

/// An object: code, severity, message, file, line, column, end_line, end_column, offset, length (in bytes), labels,
/// hints, fix.
[[nodiscard]] Json to_json(const Diagnostic& diagnostic, std::span<const source::SourceFile* const> files);
/// The same as text.
[[nodiscard]] std::string render_json(const Diagnostic& diagnostic, std::span<const source::SourceFile* const> files);

}  // namespace tenon::diagnostics
