#include "graph/placement.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "graph/edge_text.h"
#include "graph/text_size.h"

namespace tenon::graph {
namespace {

constexpr double margin = 16;
constexpr double title_height = 22;
constexpr double block_height = 44;
constexpr double excerpt_height = 16;
constexpr double block_width_min = 110;
/// Longer names end with an ellipsis.
constexpr double name_width_max = 260;
constexpr double title_width_max = 400;
constexpr double label_width_max = 260;
/// On both sides of a box's texts together.
constexpr double box_padding = 24;

/// Where boxes of an agent were before.
struct Earlier {
  const std::string& agent;
  const Places& places;

  [[nodiscard]] std::optional<Point> find(const std::string& path) const {
    if (places.empty()) return std::nullopt;
    const auto found = places.find(agent + " " + path);
    return found == places.end() ? std::nullopt : std::optional(found->second);
  }
};

PlacedSequence place(const Sequence& sequence, std::string_view first, BoxText shown, const Earlier& earlier);

std::string_view first_of(const Sequence& sequence) {
  return sequence.blocks.empty() ? std::string_view() : std::string_view(sequence.blocks.front().name);
}

/// Puts the parts of a frame one below the other, in its middle. Returns the size of the frame.
Size stack(std::string_view title, std::span<PlacedSequence> parts) {
  Size size{text_width(title, Face::Name) + 2 * margin, title_height};
  for (const PlacedSequence& part : parts) size.width = std::max(size.width, part.size.width + 2 * margin);
  for (PlacedSequence& part : parts) {
    part.corner = {(size.width - part.size.width) / 2, size.height + margin / 2};
    size.height += part.size.height + margin;
  }
  return size;
}

/// Puts the sequence into a frame with its name.
void frame(PlacedSequence& placed) {
  placed.title = fit_text(placed.sequence->name, Face::Name, title_width_max);
  PlacedSequence contents;
  contents.size = placed.size;
  placed.size = stack(placed.title, std::span(&contents, 1));
  placed.contents = contents.corner;
}

PlacedBlock place(const Block& block, BoxText shown, const Earlier& earlier) {
  PlacedBlock placed;
  placed.block = &block;
  placed.name = fit_text(block.name, Face::Name, name_width_max);
  placed.kind = fit_text(block.kind, Face::Label, name_width_max);
  double head = block_height;
  if (shown == BoxText::Excerpt) placed.excerpt = fit_text(excerpt_of(block), Face::Label, name_width_max);
  if (!placed.excerpt.empty()) head += excerpt_height;
  const double text = std::max({text_width(placed.name, Face::Name), text_width(placed.kind, Face::Label),
                                text_width(placed.excerpt, Face::Label)});
  placed.size = {std::max(block_width_min, text + box_padding), head};
  // Branches are next to each other.
  double x = margin;
  for (const Sequence& nested : block.nested) {
    PlacedSequence one = place(nested, first_of(nested), shown, earlier);
    if (!nested.name.empty()) frame(one);
    one.corner = {x, head};
    x += one.size.width + margin;
    placed.size.height = std::max(placed.size.height, head + one.size.height + margin);
    placed.nested.push_back(std::move(one));
  }
  if (!placed.nested.empty()) placed.size.width = std::max(placed.size.width, x);
  return placed;
}

PlacedSequence place(const Sequence& sequence, std::string_view first, BoxText shown, const Earlier& earlier) {
  PlacedSequence placed;
  placed.sequence = &sequence;
  LayeredLayout layout;
  const auto find = [&](std::string_view name) {
    const Block* const found = sequence.find(name);
    return found == nullptr ? SIZE_MAX : static_cast<std::size_t>(found - sequence.blocks.data());
  };
  for (const Block& block : sequence.blocks) {
    placed.blocks.push_back(place(block, shown, earlier));
    const Size size = placed.blocks.back().size;
    layout.boxes.push_back({size.width, size.height, {}, earlier.find(block.path)});
  }
  if (const std::size_t start = find(first); start != SIZE_MAX) {
    layout.boxes.insert(layout.boxes.begin(), {dot_size, dot_size, {}, earlier.find(sequence.path + "/")});
    layout.lines.push_back({0, start + 1});
    placed.edges.emplace_back();
  }
  const std::size_t shift = layout.boxes.size() - placed.blocks.size();
  for (std::size_t from = 0; from < sequence.blocks.size(); ++from) {
    for (const Edge& edge : sequence.blocks[from].edges) {
      const std::size_t to = find(edge.target);
      if (to == SIZE_MAX) continue;
      placed.edges.push_back({&edge, {}, fit_text(edge_text(edge), Face::Label, label_width_max), {}});
      layout.lines.push_back({from + shift, to + shift, text_width(placed.edges.back().text, Face::Label)});
    }
  }
  layered_layout(layout);
  placed.size = {layout.width, layout.height};
  for (std::size_t at = 0; at < placed.blocks.size(); ++at) placed.blocks[at].corner = layout.boxes[at + shift].corner;
  for (std::size_t at = 0; at < placed.edges.size(); ++at) {
    placed.edges[at].points = std::move(layout.lines[at].points);
    placed.edges[at].text_middle = layout.lines[at].label;
  }
  if (shift > 0) {
    const Point corner = layout.boxes.front().corner;
    placed.dot = {corner.x + dot_size / 2, corner.y + dot_size / 2};
  }
  return placed;
}

}  // namespace

PlacedAgent place(const Agent& agent, BoxText shown, const Places& before) {
  const Earlier earlier{agent.name, before};
  PlacedAgent placed;
  placed.agent = &agent;
  placed.title = fit_text(agent.name, Face::Name, title_width_max);
  // `pre_turn` above the main sequence, `post_turn` below it.
  for (const std::string_view name : {"pre_turn", "", "post_turn"}) {
    for (const Sequence& sequence : agent.sequences) {
      if (sequence.name != name || sequence.blocks.empty()) continue;
      const std::string_view first = name.empty() ? agent.first_block() : first_of(sequence);
      placed.sequences.push_back(place(sequence, first, shown, earlier));
      if (!name.empty()) frame(placed.sequences.back());
    }
  }
  placed.size = stack(placed.title, placed.sequences);
  return placed;
}

namespace {

void add_places(const std::string& agent, const PlacedSequence& sequence, Places& places) {
  if (sequence.dot) places[agent + " " + sequence.sequence->path + "/"] = *sequence.dot;
  for (const PlacedBlock& block : sequence.blocks) {
    places[agent + " " + block.block->path] = {block.corner.x + block.size.width / 2,
                                               block.corner.y + block.size.height / 2};
    for (const PlacedSequence& nested : block.nested) add_places(agent, nested, places);
  }
}

}  // namespace

void add_places(const PlacedAgent& agent, Places& places) {
  for (const PlacedSequence& sequence : agent.sequences) add_places(agent.agent->name, sequence, places);
}

std::string excerpt_of(const Block& block) {
  const auto value = [&](std::string_view option) -> std::string_view {
    const auto found = std::ranges::find(block.options, option, &Setting::name);
    return found == block.options.end() ? std::string_view() : std::string_view(found->value);
  };
  for (const std::string_view option : {"prompt", "text", "call", "agent", "template"}) {
    if (!value(option).empty()) return one_line(value(option), excerpt_length_max);
  }
  if (block.item) return one_line(block.item->name + " in " + block.item->list, excerpt_length_max);
  return one_line(block.statements, excerpt_length_max);
}

}  // namespace tenon::graph
