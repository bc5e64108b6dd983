#include "report/html.h"

#include <cmark-gfm-core-extensions.h>
#include <glib.h>

#include <cstdlib>

namespace tenon::report {
namespace {

constexpr std::string_view style = R"(
body { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1a1a1a }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
h1, h2, h3, h4 { line-height: 1.25; margin: 1.6em 0 .6em }
h1 { font-size: 1.9rem }
h2 { font-size: 1.45rem }
h3 { font-size: 1.15rem }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .9em }
code, pre { background: #f2f3f5; border-radius: 4px }
code { padding: .1em .3em }
pre { padding: .8em 1em; overflow-x: auto }
pre code { padding: 0 }
blockquote { margin: 1em 0; padding: 0 1em; border-left: 3px solid #c5cad1; color: #4a4f57 }
table { border-collapse: collapse; margin: 1em 0 }
th, td { border: 1px solid #c5cad1; padding: .35em .7em; vertical-align: top }
th { background: #f2f3f5; text-align: left }
a { color: #0b57a4 }
hr { border: 0; border-top: 1px solid #c5cad1; margin: 2em 0 }
@page { size: A4; margin: 2cm }
.page-break { break-after: page }
@media print {
body { margin: 0; max-width: none }
h1, h2, h3, h4 { break-after: avoid }
tr, pre { break-inside: avoid }
}
)";

std::string escaped(std::string_view text) {
  char* const markup = g_markup_escape_text(text.data(), static_cast<gssize>(text.size()));
  std::string out(markup);
  g_free(markup);
  return out;
}

/// cmark's safe mode still allows ftp links and links within a site, and fetches images from anywhere.
void drop_unsafe_links(cmark_node* document) {
  std::unique_ptr<cmark_iter, decltype(&cmark_iter_free)> walk(cmark_iter_new(document), cmark_iter_free);
  for (cmark_event_type event = cmark_iter_next(walk.get()); event != CMARK_EVENT_DONE;
       event = cmark_iter_next(walk.get())) {
    cmark_node* const node = cmark_iter_get_node(walk.get());
    const cmark_node_type type = cmark_node_get_type(node);
    if (event != CMARK_EVENT_ENTER || (type != CMARK_NODE_LINK && type != CMARK_NODE_IMAGE)) continue;
    const char* const url = cmark_node_get_url(node);
    if (type == CMARK_NODE_IMAGE || (url != nullptr && !is_safe_link(url))) cmark_node_set_url(node, "");
  }
}

}  // namespace

std::string render_html(std::string_view title, cmark_node* document) {
  drop_unsafe_links(document);
  cmark_llist* extensions = nullptr;
  cmark_mem* const memory = cmark_get_default_mem_allocator();
  for (const char* const name : {"table", "strikethrough", "autolink", "tasklist"}) {
    extensions = cmark_llist_append(memory, extensions, cmark_find_syntax_extension(name));
  }
  // Without CMARK_OPT_UNSAFE, raw HTML and links to scripts are omitted.
  const std::unique_ptr<char, decltype(&std::free)> body(
      cmark_render_html(document, CMARK_OPT_FOOTNOTES | CMARK_OPT_GITHUB_PRE_LANG, extensions), std::free);
  cmark_llist_free(memory, extensions);
  if (!body) throw RenderError("the HTML cannot be written");
  std::string page = "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n";
  page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  page += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n";
  page += "<title>" + escaped(title) + "</title>\n<style>";
  page += style;
  page += "</style>\n</head>\n<body>\n";
  page += body.get();
  page += "</body>\n</html>\n";
  return page;
}

}  // namespace tenon::report
