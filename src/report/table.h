#pragma once

#include "report/inline_text.h"

namespace tenon::report {

/// Places a table at `x` within `width`. Columns are as wide as their content, or share the space. The header is
/// repeated on each page.
void place_table(cmark_node* table, const TextSetter& setter, Pages& pages, double x, double width);

}  // namespace tenon::report
