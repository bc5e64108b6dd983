#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "report/markdown.h"

namespace tenon::report {

/// Larger documents are rejected.
inline constexpr std::size_t pages_max = 2'000;

/// A PDF of A4 pages with page numbers, an outline of the headings, links and embedded fonts. The same document, title
/// and time result in the same bytes if the same fonts are installed.
/// `milliseconds`: the time of the report, since 1970 (UTC), which is the date of the file.
/// Throws RenderError.
[[nodiscard]] std::string render_pdf(std::string_view title, std::int64_t milliseconds, cmark_node* document);

}  // namespace tenon::report
