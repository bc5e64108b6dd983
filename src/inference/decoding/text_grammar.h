#pragma once

#include <string>
#include <string_view>

namespace tenon::inference {
struct TextForm;
}

namespace tenon::inference::decoding {

/// The grammar of a text that has the form and neither begins nor ends with white space, in llguidance's dialect of
/// Lark.
[[nodiscard]] std::string make_text_grammar(const TextForm& form);

/// The same of one pattern alone, to find out whether llguidance has a like for it.
[[nodiscard]] std::string make_pattern_grammar(std::string_view pattern);

}  // namespace tenon::inference::decoding
