#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "graph/edge_text.h"
#include "graph/layered_layout.h"
#include "graph/pictures.h"
#include "graph/text_size.h"

namespace tenon::graph {
namespace {

constexpr double margin = 16;
constexpr double title_height = 22;
constexpr double block_height = 44;
constexpr double block_width_min = 110;
/// Longer names end with an ellipsis, and are shown in full as a tooltip.
constexpr double name_width_max = 260;
constexpr double title_width_max = 400;
constexpr double label_width_max = 260;
constexpr double dot_size = 12;

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

/// A drawing whose upper left corner is at 0, 0.
struct Picture {
  double width = 0;
  double height = 0;
  std::string svg;
};

std::string moved(const Picture& picture, Point corner) {
  return fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n{}</g>\n", corner.x, corner.y, picture.svg);
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

Picture draw(const Sequence& sequence, std::string_view first);

/// Pictures one below the other in a frame with a title.
Picture framed(std::string_view title, const std::vector<Picture>& inside) {
  const std::string shown = fit_text(title, Face::Name, title_width_max);
  Picture frame{text_width(shown, Face::Name) + 2 * margin, title_height, ""};
  std::string content;
  for (const Picture& picture : inside) frame.width = std::max(frame.width, picture.width + 2 * margin);
  for (const Picture& picture : inside) {
    content += moved(picture, {(frame.width - picture.width) / 2, frame.height + margin / 2});
    frame.height += picture.height + margin;
  }
  frame.svg = fmt::format(
      "<rect class=\"area\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"8\"/>\n"
      "{}\n{}",
      frame.width, frame.height, drawn_text("name", {10, 16}, shown, title), content);
  return frame;
}

Picture draw(const Block& block) {
  const std::string name = fit_text(block.name, Face::Name, name_width_max);
  const std::string kind = fit_text(block.kind, Face::Label, name_width_max);
  Picture picture{std::max({block_width_min, text_width(name, Face::Name) + 24, text_width(kind, Face::Label) + 24}),
                  block_height, ""};
  std::string content;
  double below = block_height;
  std::vector<Picture> inside;
  for (const Sequence& nested : block.nested) {
    inside.push_back(
        nested.name.empty()
            ? draw(nested, nested.blocks.empty() ? "" : nested.blocks.front().name)
            : framed(nested.name, {draw(nested, nested.blocks.empty() ? "" : nested.blocks.front().name)}));
  }
  // Branches are next to each other.
  double x = margin;
  for (const Picture& nested : inside) {
    content += moved(nested, {x, block_height});
    x += nested.width + margin;
    below = std::max(below, block_height + nested.height + margin);
  }
  if (!inside.empty()) picture.width = std::max(picture.width, x);
  picture.height = below;
  const std::string tooltip =
      block.documentation.empty() ? "" : fmt::format("<title>{}</title>", escaped(block.documentation));
  picture.svg = fmt::format(
      "<g class=\"block\" data-block=\"{}\" data-kind=\"{}\">{}\n"
      "<rect class=\"{}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"6\"/>\n"
      "{}{}\n{}</g>\n",
      escaped(block.path), escaped(block.kind), tooltip, inside.empty() ? "box" : "box outer", picture.width,
      picture.height, drawn_text("name", {12, 19}, name, block.name), drawn_text("kind", {12, 35}, kind, block.kind),
      content);
  return picture;
}

Picture draw(const Sequence& sequence, std::string_view first) {
  LayeredLayout layout;
  std::vector<Picture> blocks;
  std::vector<std::string> labels, whole_labels;
  const auto find = [&](std::string_view name) {
    const Block* const found = sequence.find(name);
    return found == nullptr ? SIZE_MAX : static_cast<std::size_t>(found - sequence.blocks.data());
  };
  for (const Block& block : sequence.blocks) {
    blocks.push_back(draw(block));
    layout.boxes.push_back({blocks.back().width, blocks.back().height});
  }
  if (const std::size_t start = find(first); start != SIZE_MAX) {
    layout.boxes.insert(layout.boxes.begin(), {dot_size, dot_size});
    layout.lines.push_back({0, start + 1});
    labels.emplace_back();
    whole_labels.emplace_back();
  }
  const std::size_t shift = layout.boxes.size() - blocks.size();
  for (std::size_t from = 0; from < sequence.blocks.size(); ++from) {
    for (const Edge& edge : sequence.blocks[from].edges) {
      const std::size_t to = find(edge.target);
      if (to == SIZE_MAX) continue;
      labels.push_back(fit_text(edge_text(edge), Face::Label, label_width_max));
      whole_labels.push_back(whole_edge_text(edge));
      layout.lines.push_back({from + shift, to + shift, text_width(labels.back(), Face::Label)});
    }
  }
  layered_layout(layout);
  Picture picture{layout.width, layout.height, ""};
  for (const LayoutLine& line : layout.lines) {
    picture.svg += fmt::format("<path class=\"line\" d=\"{}\" marker-end=\"url(#arrow)\"/>\n", curve(line.points));
  }
  if (shift > 0) {
    picture.svg +=
        fmt::format("<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>\n",
                    layout.boxes[0].corner.x + dot_size / 2, layout.boxes[0].corner.y + dot_size / 2, dot_size / 2);
  }
  for (std::size_t at = 0; at < blocks.size(); ++at) picture.svg += moved(blocks[at], layout.boxes[at + shift].corner);
  for (std::size_t at = 0; at < layout.lines.size(); ++at) {
    if (labels[at].empty()) continue;
    const Point middle = layout.lines[at].label;
    const double width = text_width(labels[at], Face::Label);
    picture.svg += fmt::format("<rect class=\"gap\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"14\"/>\n",
                               middle.x - width / 2, middle.y - 7, width);
    picture.svg += drawn_text("label", {middle.x, middle.y + 4}, labels[at], whole_labels[at]) + "\n";
  }
  return picture;
}

}  // namespace

std::string to_svg(const Graph& graph) {
  Picture page;
  std::string content;
  for (const Agent& agent : graph.agents) {
    std::vector<Picture> sequences;
    // `pre_turn` above the main sequence, `post_turn` below it.
    const auto add = [&](std::string_view name) {
      for (const Sequence& sequence : agent.sequences) {
        if (sequence.name != name || sequence.blocks.empty()) continue;
        if (name.empty()) {
          sequences.push_back(draw(sequence, agent.first_block()));
        } else {
          sequences.push_back(framed(name, {draw(sequence, sequence.blocks.front().name)}));
        }
      }
    };
    add("pre_turn");
    add("");
    add("post_turn");
    Picture frame = framed(agent.name, sequences);
    frame.svg = fmt::format("<g class=\"agent\" data-agent=\"{}\">\n{}</g>\n", escaped(agent.name), frame.svg);
    content += moved(frame, {margin, page.height + margin});
    page.width = std::max(page.width, frame.width + 2 * margin);
    page.height += frame.height + margin;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\">\n"
      "{2}<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
      "orient=\"auto\"><path class=\"arrow\" d=\"M0 0 L8 4 L0 8 z\"/></marker></defs>\n{3}</svg>\n",
      page.width, page.height + margin, style, content);
}

}  // namespace tenon::graph
