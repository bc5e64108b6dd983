#include "graph/edge_text.h"

#include "base/utf8.h"

namespace tenon::graph {
namespace {

constexpr std::size_t shown_characters_max = 36;

/// Without line ends, and truncated between characters.
std::string shortened(std::string_view text) {
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
    if (!is_utf8_continuation(byte) && ++characters > shown_characters_max) return out + "…";
    out += byte;
  }
  return out;
}

}  // namespace

std::string whole_edge_text(const Edge& edge) {
  switch (edge.kind) {
    case EdgeKind::Next:
      return "";
    case EdgeKind::Else:
      return "else";
    case EdgeKind::Called:
      return "called " + edge.label;
    case EdgeKind::When:
    case EdgeKind::To:
      return edge.label;
    case EdgeKind::Case:
      return edge.on + ": " + edge.label;
  }
  return "";
}

std::string edge_text(const Edge& edge) {
  return shortened(whole_edge_text(edge));
}

}  // namespace tenon::graph
