#pragma once

#include <string_view>

#include "diagnostics/diagnostic.h"

namespace tenon::syntax {

/// Whether the word starts a declaration or a statement in other languages, such as `import` or `class`.
[[nodiscard]] bool is_foreign_word(std::string_view word);
/// Adds the equivalent in this language as a hint; does nothing for other words.
void hint_foreign_word(diagnostics::Diagnostic& report, std::string_view word, source::Span span);

}  // namespace tenon::syntax
