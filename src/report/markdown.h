#pragma once

#include <cmark-gfm.h>

#include <memory>
#include <string>
#include <string_view>

#include "report/render_error.h"

namespace tenon::report {

/// Longer Markdown is rejected.
inline constexpr std::size_t markdown_bytes_max = 8U * 1024U * 1024U;
/// The maximum nesting of lists, quotes and emphasis, which limits the recursion over the tree.
inline constexpr std::size_t markdown_depth_max = 64;

struct FreeDocument {
  void operator()(cmark_node* root) const { cmark_node_free(root); }
};
using Document = std::unique_ptr<cmark_node, FreeDocument>;

/// Reads GitHub's Markdown: CommonMark with tables, strikethrough, task lists, bare links and footnotes. A paragraph
/// `<!-- page break -->` becomes a custom block; all other HTML becomes HTML nodes, which no renderer outputs.
/// Throws RenderError.
[[nodiscard]] Document parse_markdown(std::string_view markdown);

/// Whether the custom block is a page break; there are no others.
[[nodiscard]] bool is_page_break(cmark_node* node);

/// Whether the node belongs to the extension with this name in cmark: table, strikethrough, tasklist.
[[nodiscard]] bool is_kind(cmark_node* node, std::string_view name);

/// Whether HTML and PDF may contain a link to the URL; other links are shown as text.
[[nodiscard]] bool is_safe_link(std::string_view url);

}  // namespace tenon::report
