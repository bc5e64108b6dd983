#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenon::inference {
struct TextForm;
}

namespace tenon::inference::decoding {

/// The grammar of a text that has the form and neither begins nor ends with white space, in llguidance's dialect of
/// Lark.
[[nodiscard]] std::string make_text_grammar(const TextForm& form);

/// The grammar of one pattern, to check whether llguidance supports it.
[[nodiscard]] std::string make_pattern_grammar(std::string_view pattern);

/// Whether the brace at `at` begins a count, as in `{2}`, `{2,}` and `{2,3}`; any other one is a literal brace.
[[nodiscard]] bool begins_count(std::string_view pattern, std::size_t at);

}  // namespace tenon::inference::decoding
