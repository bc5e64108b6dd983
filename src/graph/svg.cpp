#include <fmt/format.h>

#include <algorithm>

#include "graph/edge_text.h"
#include "graph/pictures.h"
#include "graph/placement.h"
#include "graph/text_size.h"

namespace tenon::graph {
namespace {

constexpr double page_margin = 16;

// Colours are in the rules themselves: few programs other than browsers support variables.
constexpr std::string_view style =
    "<style>\n"
    "svg { font: 12px system-ui, sans-serif; }\n"
    ".area { fill: #f6f8fa; stroke: #8c959f; }\n"
    ".box { fill: #ffffff; stroke: #57606a; }\n"
    ".outer, .gap { fill: #f6f8fa; }\n"
    ".line { fill: none; stroke: #8c959f; stroke-width: 1.3; }\n"
    ".arrow, .dot { fill: #8c959f; }\n"
    "text { fill: #1f2328; }\n"
    ".name { font-weight: 600; }\n"
    ".kind, .label { fill: #57606a; font-size: 11px; }\n"
    ".label { text-anchor: middle; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    ".area { fill: #0d1117; stroke: #6e7681; }\n"
    ".box { fill: #161b22; stroke: #9198a1; }\n"
    ".outer, .gap { fill: #0d1117; }\n"
    ".line { stroke: #6e7681; }\n"
    ".arrow, .dot { fill: #6e7681; }\n"
    "text { fill: #e6edf3; }\n"
    ".kind, .label { fill: #9198a1; }\n"
    "}\n"
    "</style>\n";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    switch (byte) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(byte) < 0x20 && byte != '\n' && byte != '\t' ? ' ' : byte;
    }
  }
  return out;
}

/// A text at a point, truncated if it does not fit, with the whole text as a tooltip.
std::string drawn_text(std::string_view style, Point at, std::string_view text, std::string_view whole) {
  const std::string tooltip = text == whole ? "" : fmt::format("<title>{}</title>", escaped(whole));
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}{}</text>", style, at.x, at.y, tooltip,
                     escaped(text));
}

std::string moved(std::string_view svg, Point corner) {
  return fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n{}</g>\n", corner.x, corner.y, svg);
}

/// A curve through the points whose ends are vertical.
std::string curve(const std::vector<Point>& points) {
  std::string path = fmt::format("M{:.1f} {:.1f}", points.front().x, points.front().y);
  if (points.size() == 3 && points.front().x == points.back().x && points.front().x < points[1].x) {  // a loop
    return path + fmt::format(" C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", points[1].x + 8, points[0].y,
                              points[1].x + 8, points[2].y, points[2].x, points[2].y);
  }
  for (std::size_t at = 1; at < points.size(); ++at) {
    const double middle = (points[at - 1].y + points[at].y) / 2;
    path += fmt::format(" C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", points[at - 1].x, middle, points[at].x, middle,
                        points[at].x, points[at].y);
  }
  return path;
}

std::string draw(const PlacedSequence& sequence);

/// A frame with a title. `whole`: the title in full.
std::string framed(std::string_view title, std::string_view whole, Size size, std::string_view contents) {
  return fmt::format(
      "<rect class=\"area\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"8\"/>\n"
      "{}\n{}",
      size.width, size.height, drawn_text("name", {10, 16}, title, whole), contents);
}

std::string draw(const PlacedBlock& placed) {
  const Block& block = *placed.block;
  std::string contents;
  for (const PlacedSequence& nested : placed.nested) contents += moved(draw(nested), nested.corner);
  const std::string tooltip =
      block.documentation.empty() ? "" : fmt::format("<title>{}</title>", escaped(block.documentation));
  return fmt::format(
      "<g class=\"block\" data-block=\"{}\" data-kind=\"{}\">{}\n"
      "<rect class=\"{}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"6\"/>\n"
      "{}{}\n{}</g>\n",
      escaped(block.path), escaped(block.kind), tooltip, placed.nested.empty() ? "box" : "box outer", placed.size.width,
      placed.size.height, drawn_text("name", {12, 19}, placed.name, block.name),
      drawn_text("kind", {12, 35}, placed.kind, block.kind), contents);
}

/// What is in the frame, or all of a sequence without one.
std::string draw_contents(const PlacedSequence& sequence) {
  std::string svg;
  for (const PlacedEdge& edge : sequence.edges) {
    svg += fmt::format("<path class=\"line\" d=\"{}\" marker-end=\"url(#arrow)\"/>\n", curve(edge.points));
  }
  if (sequence.dot) {
    svg += fmt::format("<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>\n", sequence.dot->x,
                       sequence.dot->y, dot_size / 2);
  }
  for (const PlacedBlock& block : sequence.blocks) svg += moved(draw(block), block.corner);
  for (const PlacedEdge& edge : sequence.edges) {
    if (edge.text.empty()) continue;
    const Point middle = edge.text_middle;
    const double width = text_width(edge.text, Face::Label);
    svg += fmt::format("<rect class=\"gap\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"14\"/>\n",
                       middle.x - width / 2, middle.y - 7, width);
    svg += drawn_text("label", {middle.x, middle.y + 4}, edge.text, whole_edge_text(*edge.edge)) + "\n";
  }
  return svg;
}

std::string draw(const PlacedSequence& sequence) {
  const std::string contents = draw_contents(sequence);
  if (sequence.title.empty()) return contents;
  return framed(sequence.title, sequence.sequence->name, sequence.size, moved(contents, sequence.contents));
}

}  // namespace

std::string to_svg(const Graph& graph) {
  Size page;
  std::string content;
  for (const Agent& agent : graph.agents) {
    const PlacedAgent placed = place(agent, BoxText::None);
    std::string sequences;
    for (const PlacedSequence& sequence : placed.sequences) sequences += moved(draw(sequence), sequence.corner);
    content += moved(fmt::format("<g class=\"agent\" data-agent=\"{}\">\n{}</g>\n", escaped(agent.name),
                                 framed(placed.title, agent.name, placed.size, sequences)),
                     {page_margin, page.height + page_margin});
    page.width = std::max(page.width, placed.size.width + 2 * page_margin);
    page.height += placed.size.height + page_margin;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\">\n"
      "{2}<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
      "orient=\"auto\"><path class=\"arrow\" d=\"M0 0 L8 4 L0 8 z\"/></marker></defs>\n{3}</svg>\n",
      page.width, page.height + page_margin, style, content);
}

}  // namespace tenon::graph
