#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "source/source_file.h"

namespace tenon::syntax {

// Damage: the parts of a file in which the lexer or the parser has reported an error. Other problems there are most
// likely consequences of that error, and are not reported. Spans are sorted by offset and do not overlap.

/// The line of `offset`, without its end.
[[nodiscard]] source::Span line_at(const source::SourceFile& file, std::uint32_t offset);
[[nodiscard]] bool is_damaged(std::span<const source::Span> damage, std::uint32_t offset);
/// Adds a span and joins it with those that it touches.
void add_damage(std::vector<source::Span>& damage, source::Span span);
/// The same for many at once.
void add_damage(std::vector<source::Span>& damage, std::span<const source::Span> spans);
/// Reports the lexer's errors, and adds the lines that they make unreadable to the damage.
void report_lexical(const source::SourceFile& file, const diagnostics::Diagnostics& lexical,
                    diagnostics::Diagnostics& diagnostics, std::vector<source::Span>& damage);

}  // namespace tenon::syntax
