#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "report/markdown.h"

namespace tenon::report {

/// More pages are refused.
inline constexpr std::size_t pages_max = 2'000;

/// A PDF of A4 pages with page numbers, an outline of the headings, links and embedded fonts. The same document, title
/// and time give the same bytes wherever the same fonts are installed.
/// `milliseconds`: when the report was made, since 1970 (UTC); it is the file's date.
/// Throws RenderError.
[[nodiscard]] std::string render_pdf(std::string_view title, std::int64_t milliseconds, cmark_node* document);

}  // namespace tenon::report
