#include "report/markdown.h"

#include <cmark-gfm-core-extensions.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace tenon::report {
namespace {

constexpr std::string_view page_break_comment = "<!-- page break -->";
constexpr const char* page_break_html = "<div class=\"page-break\"></div>";

void replace_page_breaks(cmark_node* root) {
  std::unique_ptr<cmark_iter, decltype(&cmark_iter_free)> walk(cmark_iter_new(root), cmark_iter_free);
  for (cmark_event_type event = cmark_iter_next(walk.get()); event != CMARK_EVENT_DONE;
       event = cmark_iter_next(walk.get())) {
    cmark_node* const node = cmark_iter_get_node(walk.get());
    if (event != CMARK_EVENT_ENTER || cmark_node_get_type(node) != CMARK_NODE_HTML_BLOCK) continue;
    const char* const literal = cmark_node_get_literal(node);
    if (literal == nullptr || trimmed(literal) != page_break_comment) continue;
    cmark_node* const page_break = cmark_node_new(CMARK_NODE_CUSTOM_BLOCK);
    cmark_node_set_on_enter(page_break, page_break_html);
    cmark_node_insert_before(node, page_break);
    cmark_node_unlink(node);
    cmark_node_free(node);
  }
}

void check_depth(cmark_node* root) {
  std::unique_ptr<cmark_iter, decltype(&cmark_iter_free)> walk(cmark_iter_new(root), cmark_iter_free);
  std::size_t depth = 0;
  for (cmark_event_type event = cmark_iter_next(walk.get()); event != CMARK_EVENT_DONE;
       event = cmark_iter_next(walk.get())) {
    cmark_node* const node = cmark_iter_get_node(walk.get());
    if (cmark_node_first_child(node) == nullptr) continue;  // there is no event for leaving it
    if (event == CMARK_EVENT_EXIT) {
      --depth;
    } else if (++depth > markdown_depth_max) {
      throw RenderError("the Markdown is nested more than " + std::to_string(markdown_depth_max) + " deep");
    }
  }
}

}  // namespace

Document parse_markdown(std::string_view markdown) {
  if (markdown.size() > markdown_bytes_max) {
    throw RenderError("the Markdown has " + std::to_string(markdown.size()) + " bytes; the maximum is " +
                      std::to_string(markdown_bytes_max));
  }
  cmark_gfm_core_extensions_ensure_registered();
  const std::unique_ptr<cmark_parser, decltype(&cmark_parser_free)> parser(
      cmark_parser_new(CMARK_OPT_VALIDATE_UTF8 | CMARK_OPT_FOOTNOTES), cmark_parser_free);
  for (const char* const name : {"table", "strikethrough", "autolink", "tasklist"}) {
    cmark_syntax_extension* const extension = cmark_find_syntax_extension(name);
    if (extension == nullptr) throw RenderError(std::string("cmark-gfm lacks its extension ") + name);
    cmark_parser_attach_syntax_extension(parser.get(), extension);
  }
  cmark_parser_feed(parser.get(), markdown.data(), markdown.size());
  Document document(cmark_parser_finish(parser.get()));
  if (!document) throw RenderError("the Markdown cannot be read");
  check_depth(document.get());
  replace_page_breaks(document.get());
  return document;
}

bool is_page_break(cmark_node* node) {
  return cmark_node_get_type(node) == CMARK_NODE_CUSTOM_BLOCK;
}

bool is_kind(cmark_node* node, std::string_view name) {
  return name == cmark_node_get_type_string(node);
}

bool is_safe_link(std::string_view url) {
  constexpr std::array<std::string_view, 3> schemes = {"https://", "http://", "mailto:"};
  return std::any_of(schemes.begin(), schemes.end(), [&](std::string_view scheme) { return url.starts_with(scheme); });
}

}  // namespace tenon::report
