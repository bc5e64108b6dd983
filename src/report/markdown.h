#pragma once

#include <cmark-gfm.h>

#include <memory>
#include <string>
#include <string_view>

#include "report/render_error.h"

namespace tenon::report {

/// A longer Markdown text is refused.
inline constexpr std::size_t markdown_bytes_max = 8U * 1024U * 1024U;
/// Lists, quotes and emphasis within each other. What works on the tree recurses, and this bounds it.
inline constexpr std::size_t markdown_depth_max = 64;

struct FreeDocument {
  void operator()(cmark_node* root) const { cmark_node_free(root); }
};
using Document = std::unique_ptr<cmark_node, FreeDocument>;

/// Reads GitHub's Markdown: CommonMark with tables, struck-out text, task lists, bare links and footnotes. A paragraph
/// `<!-- page break -->` becomes a custom block; all other HTML stays HTML nodes, which no renderer lets through.
/// Throws RenderError.
[[nodiscard]] Document parse_markdown(std::string_view markdown);

/// Whether the custom block is a page break; there are no others.
[[nodiscard]] bool is_page_break(cmark_node* node);

/// Whether the node is one of an extension, by cmark's name for it: table, strikethrough, tasklist.
[[nodiscard]] bool is_kind(cmark_node* node, std::string_view name);

/// What HTML and PDF may link to; others are shown as text.
[[nodiscard]] bool is_safe_link(std::string_view url);

}  // namespace tenon::report
