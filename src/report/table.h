#pragma once

#include "report/inline_text.h"

namespace tenon::report {

/// Puts a table at `x` with the room of `width`. Columns are as wide as their content needs, or share the room.
/// The header is written again on each page.
void place_table(cmark_node* table, const TextSetter& setter, Pages& pages, double x, double width);

}  // namespace tenon::report
