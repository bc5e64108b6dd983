#pragma once

#include <cmark-gfm.h>

#include "report/pages.h"

namespace tenon::report {

/// The style of a whole text.
struct TextStyle {
  double size = 10.5;  ///< points
  bool is_bold = false;
  bool is_code = false;
  Colour colour = ink;
  PangoAlignment alignment = PANGO_ALIGN_LEFT;
};

/// Breaks texts into lines. The fonts are those of one Pango context, which must outlive this object.
class TextSetter {
 public:
  explicit TextSetter(PangoContext* context) : context_(context) {}

  /// The content of a paragraph, heading or cell: emphasis, code, links, strikethrough, the descriptions of images.
  /// A negative `width`: a single line of any length.
  [[nodiscard]] Lines set(cmark_node* parent, const TextStyle& style, double width) const;
  /// A text without markup.
  [[nodiscard]] Lines set_plain(const std::string& text, const TextStyle& style, double width) const;

 private:
  [[nodiscard]] LayoutPointer make_layout(const std::string& text, const TextStyle& style, double width,
                                          PangoAttrList* attributes) const;

  PangoContext* context_;
};

/// The text without markup, for an outline.
[[nodiscard]] std::string plain_text(cmark_node* parent);

}  // namespace tenon::report
