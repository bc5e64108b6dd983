#include "report/inline_text.h"

#include <cmark-gfm-core-extensions.h>

#include <string_view>

#include "report/markdown.h"

namespace tenon::report {
namespace {

/// Fonts by name; a character is drawn by the first font that contains it. WenQuanYi Micro Hei contains Chinese,
/// Japanese and Korean.
constexpr const char* text_family = "DejaVu Sans, Noto Sans, WenQuanYi Micro Hei, Sans";
constexpr const char* code_family = "DejaVu Sans Mono, Noto Sans Mono, WenQuanYi Micro Hei, Monospace";
/// Pango's line end within a paragraph.
constexpr std::string_view line_separator = "\u2028";

guint16 channel(double value) {
  return static_cast<guint16>(value * 65535);
}

/// Collects a text and the attributes of its parts.
class Collector {
 public:
  Collector() : attributes_(pango_attr_list_new()) {}
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  ~Collector() { pango_attr_list_unref(attributes_); }

  std::string text;
  std::vector<LinkRange> links;

  [[nodiscard]] PangoAttrList* attributes() { return attributes_; }

  void add_children(cmark_node* parent) {
    for (cmark_node* child = cmark_node_first_child(parent); child != nullptr; child = cmark_node_next(child))
      add(child);
  }

 private:
  void add(cmark_node* node) {
    const auto begin = static_cast<guint>(text.size());
    const cmark_node_type type = cmark_node_get_type(node);
    if (type == CMARK_NODE_TEXT) {
      text += cmark_node_get_literal(node);
    } else if (type == CMARK_NODE_SOFTBREAK) {
      text += ' ';
    } else if (type == CMARK_NODE_LINEBREAK) {
      text += line_separator;
    } else if (type == CMARK_NODE_CODE) {
      text += cmark_node_get_literal(node);
      apply(begin, pango_attr_family_new(code_family));
      apply(begin, pango_attr_scale_new(0.92));
      apply(begin, pango_attr_background_new(channel(shade.red), channel(shade.green), channel(shade.blue)));
    } else if (type == CMARK_NODE_EMPH) {
      add_children(node);
      apply(begin, pango_attr_style_new(PANGO_STYLE_ITALIC));
    } else if (type == CMARK_NODE_STRONG) {
      add_children(node);
      apply(begin, pango_attr_weight_new(PANGO_WEIGHT_BOLD));
    } else if (is_kind(node, "strikethrough")) {
      add_children(node);
      apply(begin, pango_attr_strikethrough_new(TRUE));
    } else if (type == CMARK_NODE_LINK) {
      add_children(node);
      const char* const url = cmark_node_get_url(node);
      if (url == nullptr || !is_safe_link(url) || text.size() == begin) return;
      apply(begin, pango_attr_foreground_new(channel(link_ink.red), channel(link_ink.green), channel(link_ink.blue)));
      apply(begin, pango_attr_underline_new(PANGO_UNDERLINE_SINGLE));
      links.push_back({static_cast<int>(begin), static_cast<int>(text.size()), url});
    } else if (type == CMARK_NODE_FOOTNOTE_REFERENCE) {
      text += cmark_node_get_literal(node);
      apply(begin, pango_attr_rise_new(3 * PANGO_SCALE));
      apply(begin, pango_attr_scale_new(0.7));
    } else if (type != CMARK_NODE_HTML_INLINE) {
      add_children(node);  // the description of an image
    }
  }

  void apply(guint begin, PangoAttribute* attribute) {
    attribute->start_index = begin;
    attribute->end_index = static_cast<guint>(text.size());
    pango_attr_list_insert(attributes_, attribute);
  }

  PangoAttrList* attributes_;
};

}  // namespace

Lines TextSetter::set(cmark_node* parent, const TextStyle& style, double width) const {
  Collector collector;
  collector.add_children(parent);
  Lines lines;
  lines.layout = make_layout(collector.text, style, width, collector.attributes());
  lines.links = std::move(collector.links);
  return lines;
}

Lines TextSetter::set_plain(const std::string& text, const TextStyle& style, double width) const {
  return {make_layout(text, style, width, nullptr), {}};
}

LayoutPointer TextSetter::make_layout(const std::string& text, const TextStyle& style, double width,
                                      PangoAttrList* attributes) const {
  LayoutPointer layout(pango_layout_new(context_), Unreference<PangoLayout>());
  PangoFontDescription* const font = pango_font_description_new();
  pango_font_description_set_family(font, style.is_code ? code_family : text_family);
  pango_font_description_set_absolute_size(font, style.size * PANGO_SCALE);
  if (style.is_bold) pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
  pango_layout_set_font_description(layout.get(), font);
  pango_font_description_free(font);
  if (width >= 0) pango_layout_set_width(layout.get(), static_cast<int>(width * PANGO_SCALE));
  pango_layout_set_wrap(layout.get(), PANGO_WRAP_WORD_CHAR);
  pango_layout_set_alignment(layout.get(), style.alignment);
  pango_layout_set_auto_dir(layout.get(), TRUE);
  PangoAttrList* const all = attributes != nullptr ? pango_attr_list_ref(attributes) : pango_attr_list_new();
  PangoAttribute* const colour =
      pango_attr_foreground_new(channel(style.colour.red), channel(style.colour.green), channel(style.colour.blue));
  pango_attr_list_insert_before(all, colour);
  pango_attr_list_insert(all, pango_attr_insert_hyphens_new(FALSE));
  pango_layout_set_attributes(layout.get(), all);
  pango_attr_list_unref(all);
  pango_layout_set_text(layout.get(), text.data(), static_cast<int>(text.size()));
  return layout;
}

std::string plain_text(cmark_node* parent) {
  Collector collector;
  collector.add_children(parent);
  std::string text = std::move(collector.text);
  for (std::size_t at = text.find(line_separator); at != std::string::npos; at = text.find(line_separator, at)) {
    text.replace(at, line_separator.size(), " ");
  }
  return text;
}

}  // namespace tenon::report
