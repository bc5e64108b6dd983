#pragma once

#include <cairo.h>
#include <pango/pangocairo.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tenon::report {

/// In points, 72 per inch.
inline constexpr double page_width = 595.276;
inline constexpr double page_height = 841.89;
inline constexpr double page_margin = 62;
inline constexpr double text_width = page_width - 2 * page_margin;
inline constexpr double text_bottom = page_height - page_margin;

struct Colour {
  double red = 0, green = 0, blue = 0;
};
inline constexpr Colour ink{0.10, 0.10, 0.10};
inline constexpr Colour faint_ink{0.42, 0.45, 0.49};
inline constexpr Colour link_ink{0.04, 0.34, 0.64};
inline constexpr Colour rule{0.77, 0.79, 0.82};
inline constexpr Colour shade{0.95, 0.953, 0.96};

template <class Object>
struct Unreference {
  void operator()(Object* object) const { g_object_unref(object); }
};
using LayoutPointer = std::shared_ptr<PangoLayout>;

/// The text of a link, as bytes of a layout's text.
struct LinkRange {
  int begin = 0, end = 0;
  std::string url;
};

/// A text that is broken into lines, and its links.
struct Lines {
  LayoutPointer layout;
  std::vector<LinkRange> links;

  [[nodiscard]] int count() const { return pango_layout_get_line_count(layout.get()); }
  /// The height of one line, including its spacing.
  [[nodiscard]] double height(int line) const;
  [[nodiscard]] double height() const;
};

struct OutlineEntry {
  std::string title;
  int level = 1;
  std::size_t page = 0;  ///< counts from 0
  double y = 0;
};

/// The positions of all elements on the pages. They are drawn at the end, because each page shows the number of pages.
class Pages {
 public:
  Pages() { pages_.emplace_back(); }

  /// The position of the next element, from the top of the page.
  [[nodiscard]] double y() const { return y_; }
  [[nodiscard]] double room() const { return text_bottom - y_; }
  [[nodiscard]] bool is_at_top() const { return y_ <= page_margin; }
  [[nodiscard]] std::size_t page() const { return pages_.size() - 1; }
  /// Throws RenderError if there are more than pages_max pages.
  void next_page();
  /// A gap; nothing at the top of a page.
  void skip(double height);
  void advance(double height) { y_ += height; }

  void draw(std::function<void(cairo_t*)> what) { pages_.back().push_back(std::move(what)); }
  void fill(double x, double y, double width, double height, Colour colour);
  /// One line of a text with its left end at x and its top at y.
  void draw_line(const Lines& lines, int line, double x, double y);
  /// A line next to everything from `first_top` on `first_page` up to here.
  void mark_side(std::size_t first_page, double first_top, double x);
  void add_outline(std::string title, int level, double y) { outline_.push_back({std::move(title), level, page(), y}); }

  [[nodiscard]] const std::vector<std::vector<std::function<void(cairo_t*)>>>& all() const { return pages_; }
  [[nodiscard]] const std::vector<OutlineEntry>& outline() const { return outline_; }

 private:
  std::vector<std::vector<std::function<void(cairo_t*)>>> pages_;
  std::vector<OutlineEntry> outline_;
  double y_ = page_margin;
};

}  // namespace tenon::report
