#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::graph {

/// The fonts of a picture's texts.
enum class Face : std::uint8_t {
  Name,   ///< 12 pixels, bold
  Label,  ///< 11 pixels
};

/// An upper bound of the width of one line in a sans-serif font, in pixels. The viewer's font is unknown: the widths
/// are those of DejaVu Sans, one of the widest.
[[nodiscard]] double text_width(std::string_view text, Face face);

/// The text, truncated to `width_max` pixels including an ellipsis if it is longer.
[[nodiscard]] std::string fit_text(std::string_view text, Face face, double width_max);

/// The text with single blanks instead of line ends and rows of blanks, truncated after `characters_max` characters.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t characters_max);

}  // namespace tenon::graph
