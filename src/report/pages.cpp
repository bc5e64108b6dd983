#include "report/pages.h"

#include <algorithm>

#include "report/pdf.h"

namespace tenon::report {
namespace {

double to_points(int units) {
  return static_cast<double>(units) / PANGO_SCALE;
}

/// A quoted attribute of a cairo tag.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char byte : text) {
    if (byte == '\'' || byte == '\\') out += '\\';
    out += byte;
  }
  return out + "'";
}

std::string number(double value) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_formatd(text, sizeof text, "%.3f", value);
}

void mark_links(cairo_t* cairo, const Lines& lines, PangoLayoutLine* line, double x, double y, double height) {
  const int begin = pango_layout_line_get_start_index(line);
  const int end = begin + pango_layout_line_get_length(line);
  for (const LinkRange& link : lines.links) {
    if (link.end <= begin || link.begin >= end) continue;
    int* ranges = nullptr;
    int count = 0;
    pango_layout_line_get_x_ranges(line, std::max(begin, link.begin), std::min(end, link.end), &ranges, &count);
    for (int at = 0; at < count; ++at) {
      // In an aligned line, ranges start at the left edge of the layout.
      const double left = x + to_points(ranges[2 * at]);
      const double width = to_points(ranges[2 * at + 1] - ranges[2 * at]);
      const std::string attributes = "rect=[" + number(left) + " " + number(y) + " " + number(width) + " " +
                                     number(height) + "] uri=" + quoted(link.url);
      cairo_tag_begin(cairo, CAIRO_TAG_LINK, attributes.c_str());
      cairo_tag_end(cairo, CAIRO_TAG_LINK);
    }
    g_free(ranges);
  }
}

}  // namespace

double Lines::height(int line) const {
  PangoRectangle extents;
  pango_layout_line_get_extents(pango_layout_get_line_readonly(layout.get(), line), nullptr, &extents);
  return to_points(extents.height) * 1.18;
}

double Lines::height() const {
  double sum = 0;
  for (int line = 0; line < count(); ++line) sum += height(line);
  return sum;
}

void Pages::next_page() {
  if (pages_.size() >= pages_max)
    throw RenderError("the report would have more than " + std::to_string(pages_max) + " pages");
  pages_.emplace_back();
  y_ = page_margin;
}

void Pages::skip(double height) {
  if (!is_at_top()) y_ += height;
}

void Pages::fill(double x, double y, double width, double height, Colour colour) {
  draw([=](cairo_t* cairo) {
    cairo_set_source_rgb(cairo, colour.red, colour.green, colour.blue);
    cairo_rectangle(cairo, x, y, width, height);
    cairo_fill(cairo);
  });
}

void Pages::mark_side(std::size_t first_page, double first_top, double x) {
  for (std::size_t at = first_page; at <= page(); ++at) {
    const double top = at == first_page ? first_top : page_margin;
    const double bottom = at == page() ? y_ : text_bottom;
    if (bottom <= top) continue;
    pages_[at].emplace_back([=](cairo_t* cairo) {
      cairo_set_source_rgb(cairo, rule.red, rule.green, rule.blue);
      cairo_rectangle(cairo, x, top, 2, bottom - top);
      cairo_fill(cairo);
    });
  }
}

void Pages::draw_line(const Lines& lines, int line, double x, double y) {
  const double height = lines.height(line);
  draw([lines, line, x, y, height](cairo_t* cairo) {
    PangoLayoutLine* const drawn = pango_layout_get_line_readonly(lines.layout.get(), line);
    PangoRectangle extents;
    pango_layout_line_get_extents(drawn, nullptr, &extents);
    // A line does not include the alignment of its layout.
    double left = x;
    const double free = to_points(pango_layout_get_width(lines.layout.get()) - extents.width);
    const PangoAlignment alignment = pango_layout_get_alignment(lines.layout.get());
    if (pango_layout_get_width(lines.layout.get()) > 0 && free > 0) {
      if (alignment == PANGO_ALIGN_CENTER) left += free / 2;
      if (alignment == PANGO_ALIGN_RIGHT) left += free;
    }
    cairo_set_source_rgb(cairo, ink.red, ink.green, ink.blue);
    const double baseline = y + to_points(-extents.y) + (height - to_points(extents.height)) / 2;
    cairo_move_to(cairo, left, baseline);
    pango_cairo_show_layout_line(cairo, drawn);
    mark_links(cairo, lines, drawn, x, y, height);
  });
}

}  // namespace tenon::report
