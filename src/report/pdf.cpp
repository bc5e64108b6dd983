#include "report/pdf.h"

#include <cairo-pdf.h>
#include <cmark-gfm-core-extensions.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>

#include "report/inline_text.h"
#include "report/table.h"

namespace tenon::report {
namespace {

constexpr double indentation = 20;
/// Deeper lists and quotes are not indented further, so that there is room for text.
constexpr double indentation_max = text_width / 2;
constexpr double paragraph_gap = 7;
constexpr double item_gap = 2.5;
constexpr double code_padding = 7;
constexpr std::array<double, 6> heading_sizes = {21, 16, 13, 11.5, 10.5, 10.5};

/// Places the blocks of a document on pages, from top to bottom.
class Flow {
 public:
  Flow(Pages& pages, PangoContext* context) : pages_(pages), setter_(context) {}

  void place_children(cmark_node* parent, double x, double gap) {
    bool is_first = true;
    for (cmark_node* child = cmark_node_first_child(parent); child != nullptr; child = cmark_node_next(child)) {
      if (!is_first) pages_.skip(gap);
      is_first = false;
      place(child, std::min(x, page_margin + indentation_max));
    }
  }

 private:
  [[nodiscard]] static double width_at(double x) { return page_width - page_margin - x; }

  void place(cmark_node* node, double x) {
    const cmark_node_type type = cmark_node_get_type(node);
    if (type == CMARK_NODE_PARAGRAPH) {
      place_lines(setter_.set(node, style_, width_at(x)), x);
    } else if (type == CMARK_NODE_HEADING) {
      place_heading(node, x);
    } else if (type == CMARK_NODE_LIST) {
      place_list(node, x);
    } else if (type == CMARK_NODE_CODE_BLOCK) {
      place_code(node, x);
    } else if (type == CMARK_NODE_BLOCK_QUOTE) {
      place_quote(node, x);
    } else if (is_kind(node, "table")) {
      place_table(node, setter_, pages_, x, width_at(x));
      pages_.skip(3);
    } else if (type == CMARK_NODE_THEMATIC_BREAK) {
      need(14);
      pages_.fill(x, pages_.y() + 6, width_at(x), 0.7, rule);
      pages_.advance(14);
    } else if (type == CMARK_NODE_FOOTNOTE_DEFINITION) {
      place_footnote(node, x);
    } else if (is_page_break(node)) {
      if (!pages_.is_at_top()) pages_.next_page();
    } else if (type != CMARK_NODE_HTML_BLOCK) {
      place_children(node, x, paragraph_gap);
    }
  }

  /// Starts a new page if there is less room.
  void need(double height) {
    if (pages_.room() < height && !pages_.is_at_top()) pages_.next_page();
  }

  void place_lines(const Lines& lines, double x) {
    const int count = lines.count();
    for (int line = 0; line < count; ++line) {
      // Neither the first line alone at the bottom of a page nor the last one alone at the top.
      const bool begins = line == 0 && count > 1;
      const bool nearly_ends = count > 2 && line == count - 2;
      need(lines.height(line) + (begins || nearly_ends ? lines.height(line + 1) : 0));
      pages_.draw_line(lines, line, x, pages_.y());
      pages_.advance(lines.height(line));
    }
  }

  void place_heading(cmark_node* node, double x) {
    const int level = cmark_node_get_heading_level(node);
    TextStyle style;
    style.size = heading_sizes[static_cast<std::size_t>(level - 1)];
    style.is_bold = true;
    const Lines lines = setter_.set(node, style, width_at(x));
    pages_.skip(style.size * 0.7);
    // The text after a heading starts on the same page.
    need(lines.height() + 3.5 * style_.size);
    pages_.add_outline(plain_text(node), level, pages_.y());
    place_lines(lines, x);
    pages_.advance(2);
  }

  void place_list(cmark_node* list, double x) {
    const bool is_ordered = cmark_node_get_list_type(list) == CMARK_ORDERED_LIST;
    const double gap = cmark_node_get_list_tight(list) != 0 ? item_gap : paragraph_gap;
    int number = cmark_node_get_list_start(list);
    double inner = indentation;
    if (is_ordered) {
      int last = number;
      for (cmark_node* item = cmark_node_first_child(list); item != nullptr; item = cmark_node_next(item)) ++last;
      inner = std::max(inner, width_of(std::to_string(last) + ".") + 6);
    }
    bool is_first = true;
    for (cmark_node* item = cmark_node_first_child(list); item != nullptr; item = cmark_node_next(item), ++number) {
      if (!is_first) pages_.skip(gap);
      is_first = false;
      std::string marker = is_ordered ? std::to_string(number) + "." : "\u2022";
      if (is_kind(item, "tasklist")) {
        marker = cmark_gfm_extensions_get_tasklist_item_checked(item) ? "\u2611" : "\u2610";
      }
      TextStyle style = style_;
      style.alignment = PANGO_ALIGN_RIGHT;
      const Lines mark = setter_.set_plain(marker, style, inner - 6);
      need(mark.height() + (has_two_lines(item, x + inner) ? mark.height() : 0));
      pages_.draw_line(mark, 0, x, pages_.y());
      const double top = pages_.y();
      const std::size_t page = pages_.page();
      place_children(item, x + inner, gap);
      if (pages_.page() == page && pages_.y() < top + mark.height()) pages_.advance(top + mark.height() - pages_.y());
    }
  }

  [[nodiscard]] double width_of(const std::string& text) const {
    int width = 0;
    pango_layout_get_size(setter_.set_plain(text, style_, -1).layout.get(), &width, nullptr);
    return static_cast<double>(width) / PANGO_SCALE;
  }

  /// Whether an item's first paragraph takes more than one line, so that its bullet is kept with it.
  [[nodiscard]] bool has_two_lines(cmark_node* item, double x) const {
    cmark_node* const first = cmark_node_first_child(item);
    if (first == nullptr || cmark_node_get_type(first) != CMARK_NODE_PARAGRAPH) return false;
    return setter_.set(first, style_, width_at(std::min(x, page_margin + indentation_max))).count() > 1;
  }

  void place_code(cmark_node* node, double x) {
    std::string text = cmark_node_get_literal(node);
    while (text.ends_with('\n')) text.pop_back();
    TextStyle style = style_;
    style.size = 8.8;
    style.is_code = true;
    const Lines lines = setter_.set_plain(text, style, width_at(x) - 2 * code_padding);
    const double width = width_at(x);
    if (lines.height() < (text_bottom - page_margin) / 3) need(lines.height() + 2 * code_padding);
    const auto pad = [&] {
      pages_.fill(x, pages_.y(), width, code_padding, shade);
      pages_.advance(code_padding);
    };
    pad();
    for (int line = 0; line < lines.count(); ++line) {
      need(lines.height(line) + code_padding);
      // Slightly larger than the line, so that there is no visible gap.
      pages_.fill(x, pages_.y() - 0.2, width, lines.height(line) + 0.4, shade);
      pages_.draw_line(lines, line, x + code_padding, pages_.y());
      pages_.advance(lines.height(line));
    }
    pad();
  }

  void place_quote(cmark_node* node, double x) {
    const TextStyle around = style_;
    style_.colour = faint_ink;
    const std::size_t first_page = pages_.page();
    const double first_top = pages_.y();
    place_children(node, x + indentation * 0.7, paragraph_gap);
    style_ = around;
    pages_.mark_side(first_page, first_top, x);
  }

  void place_footnote(cmark_node* node, double x) {
    TextStyle style = style_;
    style.size = 8.5;
    if (footnotes_++ == 0) {
      pages_.skip(8);
      pages_.fill(x, pages_.y(), width_at(x) / 3, 0.7, rule);
      pages_.advance(6);
    }
    const TextStyle around = style_;
    style_ = style;
    const Lines mark = setter_.set_plain(std::to_string(footnotes_) + ".", style, indentation);
    need(mark.height());
    pages_.draw_line(mark, 0, x, pages_.y());
    place_children(node, x + indentation, item_gap);
    style_ = around;
  }

  Pages& pages_;
  TextSetter setter_;
  TextStyle style_;
  int footnotes_ = 0;
};

cairo_status_t append(void* closure, const unsigned char* data, unsigned int length) {
  static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

std::string date_of(std::int64_t milliseconds) {
  const std::time_t seconds = static_cast<std::time_t>(milliseconds / 1000);
  std::tm parts{};
  if (milliseconds < 0 || gmtime_r(&seconds, &parts) == nullptr || parts.tm_year > 8099) {
    return "1970-01-01T00:00:00Z";
  }
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

void draw_footer(cairo_t* cairo, const TextSetter& setter, std::size_t page, std::size_t pages) {
  TextStyle style;
  style.size = 8;
  style.colour = faint_ink;
  style.alignment = PANGO_ALIGN_CENTER;
  const Lines lines = setter.set_plain(std::to_string(page + 1) + " / " + std::to_string(pages), style, text_width);
  cairo_move_to(cairo, page_margin, page_height - page_margin * 0.62);
  pango_cairo_show_layout(cairo, lines.layout.get());
}

void add_outline(cairo_surface_t* surface, const std::vector<OutlineEntry>& entries) {
  std::map<int, int> parents;  // by level: the newest entry of that level
  for (const OutlineEntry& entry : entries) {
    const auto lower = parents.lower_bound(entry.level);
    const int parent = lower == parents.begin() ? CAIRO_PDF_OUTLINE_ROOT : std::prev(lower)->second;
    char y[G_ASCII_DTOSTR_BUF_SIZE];
    const std::string place =
        "page=" + std::to_string(entry.page + 1) + " pos=[0 " + g_ascii_formatd(y, sizeof y, "%.2f", entry.y) + "]";
    const int id =
        cairo_pdf_surface_add_outline(surface, parent, entry.title.c_str(), place.c_str(), CAIRO_PDF_OUTLINE_FLAG_OPEN);
    parents.erase(parents.lower_bound(entry.level), parents.end());
    parents[entry.level] = id;
  }
}

void expect_good(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS) {
    throw RenderError(std::string("the PDF cannot be written: ") + cairo_status_to_string(status));
  }
}

}  // namespace

std::string render_pdf(std::string_view title, std::int64_t milliseconds, cmark_node* document) {
  std::string bytes;
  const std::shared_ptr<cairo_surface_t> surface(
      cairo_pdf_surface_create_for_stream(append, &bytes, page_width, page_height), cairo_surface_destroy);
  const std::shared_ptr<cairo_t> cairo(cairo_create(surface.get()), cairo_destroy);
  cairo_pdf_surface_restrict_to_version(surface.get(), CAIRO_PDF_VERSION_1_5);
  const std::shared_ptr<PangoContext> context(pango_cairo_create_context(cairo.get()), Unreference<PangoContext>());
  // Positions of glyphs do not depend on a screen.
  cairo_font_options_t* const options = cairo_font_options_create();
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  pango_cairo_context_set_font_options(context.get(), options);
  cairo_font_options_destroy(options);
  pango_cairo_context_set_resolution(context.get(), 72);
  pango_context_set_round_glyph_positions(context.get(), FALSE);

  const std::string date = date_of(milliseconds);
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, std::string(title).c_str());
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATOR, "Tenon");
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, date.c_str());
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_MOD_DATE, date.c_str());

  Pages pages;
  Flow(pages, context.get()).place_children(document, page_margin, paragraph_gap);
  const TextSetter setter(context.get());
  for (std::size_t page = 0; page < pages.all().size(); ++page) {
    for (const auto& draw : pages.all()[page]) draw(cairo.get());
    draw_footer(cairo.get(), setter, page, pages.all().size());
    cairo_show_page(cairo.get());
  }
  add_outline(surface.get(), pages.outline());
  expect_good(cairo_status(cairo.get()));
  cairo_surface_finish(surface.get());
  expect_good(cairo_surface_status(surface.get()));
  return bytes;
}

}  // namespace tenon::report
