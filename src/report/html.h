#pragma once

#include <string>
#include <string_view>

#include "report/markdown.h"

namespace tenon::report {

/// A self-contained HTML page. Raw HTML in the Markdown is omitted, and so are links other than http, https and mailto.
[[nodiscard]] std::string render_html(std::string_view title, cmark_node* document);

}  // namespace tenon::report
