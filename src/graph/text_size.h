#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::graph {

/// How the texts of a picture are drawn.
enum class Face : std::uint8_t {
  Name,   ///< 12 pixels, bold
  Label,  ///< 11 pixels
};

/// At most how many pixels wide a sans-serif font draws one line. A picture does not know the viewer's font: the widths
/// are those of DejaVu Sans, one of the widest.
[[nodiscard]] double text_width(std::string_view text, Face face);

/// The text, or as much of its beginning as fits into `width_max` pixels with an ellipsis after it.
[[nodiscard]] std::string fit_text(std::string_view text, Face face, double width_max);

}  // namespace tenon::graph
