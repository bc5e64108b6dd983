#pragma once

#include <string>
#include <string_view>

#include "report/markdown.h"

namespace tenon::report {

/// A whole page of HTML, which needs nothing from elsewhere. Nothing of the Markdown becomes markup: raw HTML is left
/// out, and so are links that are no http, https or mailto.
[[nodiscard]] std::string render_html(std::string_view title, cmark_node* document);

}  // namespace tenon::report
