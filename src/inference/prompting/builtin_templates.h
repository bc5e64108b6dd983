#pragma once

#include <optional>
#include <string_view>

namespace tenon::inference::prompting {

/// The text of prompts/STYLE/NAME.txt when the library was built. Defined in a generated source, see
/// cmake/prompts.cmake.
[[nodiscard]] std::optional<std::string_view> find_builtin_template(std::string_view style, std::string_view name);

}  // namespace tenon::inference::prompting
