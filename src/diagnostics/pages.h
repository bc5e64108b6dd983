#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tenon::diagnostics {

/// The page of a code such as `E2101`, in Markdown: cause, example, fix. The files of docs/diagnostics are embedded in
/// the program when it is built.
[[nodiscard]] std::optional<std::string_view> find_page(std::string_view code);

/// All codes with a page, in ascending order.
[[nodiscard]] std::vector<std::string_view> page_codes();

}  // namespace tenon::diagnostics
