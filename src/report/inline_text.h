#pragma once

#include <cmark-gfm.h>

#include "report/pages.h"

namespace tenon::report {

/// How a text looks as a whole.
struct TextStyle {
  double size = 10.5;  ///< points
  bool is_bold = false;
  bool is_code = false;
  Colour colour = ink;
  PangoAlignment alignment = PANGO_ALIGN_LEFT;
};

/// Breaks texts into lines. The fonts are those of one Pango context, which outlives this.
class TextSetter {
 public:
  explicit TextSetter(PangoContext* context) : context_(context) {}

  /// The content of a paragraph, heading or cell: emphasis, code, links, struck-out text, the words of images.
  /// `width` below 0: one line, however long.
  [[nodiscard]] Lines set(cmark_node* parent, const TextStyle& style, double width) const;
  /// A text as it is.
  [[nodiscard]] Lines set_plain(const std::string& text, const TextStyle& style, double width) const;

 private:
  [[nodiscard]] LayoutPointer make_layout(const std::string& text, const TextStyle& style, double width,
                                          PangoAttrList* attributes) const;

  PangoContext* context_;
};

/// The words alone, as an outline shows them.
[[nodiscard]] std::string plain_text(cmark_node* parent);

}  // namespace tenon::report
