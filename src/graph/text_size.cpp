#include "graph/text_size.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace tenon::graph {
namespace {

constexpr std::string_view ellipsis = "…";

/// The widths of the printable ASCII characters, in thousandths of the font's size.
constexpr std::array<std::uint16_t, 95> regular_widths = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};
constexpr std::array<std::uint16_t, 95> bold_widths = {
    348, 456,  521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415,  380, 365, 696, 696,  696,
    696, 696,  696, 696, 696, 696,  696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830,  683,
    683, 821,  837, 372, 372, 775,  637, 995, 837, 850, 733, 850, 770, 720,  682, 812, 774, 1103, 771,
    724, 725,  457, 365, 457, 838,  500, 500, 675, 716, 593, 716, 678, 435,  716, 712, 343, 343,  665,
    343, 1042, 712, 687, 716, 716,  493, 595, 478, 712, 652, 924, 645, 652,  582, 712, 365, 712,  838};

/// The code point at `at` of well-formed text.
std::uint32_t code_point(std::string_view text, std::size_t at, std::size_t length) {
  auto value = static_cast<std::uint32_t>(static_cast<unsigned char>(text[at]));
  if (length == 1) return value;
  value &= 0xFFU >> (length + 1);
  for (std::size_t byte = 1; byte < length; ++byte) {
    value = (value << 6U) | (static_cast<unsigned char>(text[at + byte]) & 0x3FU);
  }
  return value;
}

/// In thousandths of the font's size. Other characters count as the widest of their Unicode block.
std::uint32_t width_of(std::uint32_t character, Face face) {
  const auto& widths = face == Face::Name ? bold_widths : regular_widths;
  if (character >= 0x20 && character < 0x7F) return widths[character - 0x20];
  if (character < 0x20) return widths[0];
  const bool is_combining = (character >= 0x300 && character < 0x370) || (character >= 0xFE00 && character < 0xFE10);
  if (is_combining || character == 0x200D) return 0;
  const bool is_letter = character < 0x590;  // Latin, Greek, Cyrillic, Armenian
  if (is_letter) return face == Face::Name ? 1130 : 1000;
  return 1200;
}

constexpr double size_of(Face face) {
  return face == Face::Name ? 12 : 11;
}

/// Calls `take(end, width)` after each character, with the width up to there, as long as it returns true.
template <class Take>
void measure(std::string_view text, Face face, Take take) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(utf8_sequence_length(text, at), 1);
    sum += width_of(code_point(text, at, length), face);
    at += length;
    if (!take(at, static_cast<double>(sum) * size_of(face) / 1000)) return;
  }
}

}  // namespace

double text_width(std::string_view text, Face face) {
  double width = 0;
  measure(text, face, [&](std::size_t /*end*/, double now) {
    width = now;
    return true;
  });
  return width;
}

std::string fit_text(std::string_view text, Face face, double width_max) {
  if (text_width(text, face) <= width_max) return std::string(text);
  const double room = width_max - text_width(ellipsis, face);
  std::size_t fits = 0;
  measure(text, face, [&](std::size_t end, double width) {
    if (width > room) return false;
    fits = end;
    return true;
  });
  return std::string(text.substr(0, fits)) + std::string(ellipsis);
}

std::string one_line(std::string_view text, std::size_t characters_max) {
  std::string out;
  std::size_t characters = 0;
  bool blank = false;
  for (const char byte : text) {
    if (byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t') {
      blank = true;
      continue;
    }
    if (blank && !out.empty()) {
      out += ' ';
      ++characters;
    }
    blank = false;
    if (!is_utf8_continuation(byte) && ++characters > characters_max) return out + std::string(ellipsis);
    out += byte;
  }
  return out;
}

}  // namespace tenon::graph
