#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/layered_layout.h"

namespace tenon::graph {

// Where the parts of a drawn graph are: in pixels, y downwards. Corners are upper left ones, relative to the corner of
// what contains the part. All of it points into the graph.

struct Size {
  double width = 0;
  double height = 0;
};

/// What a block's box shows below its name and its kind.
enum class BoxText : std::uint8_t {
  None,
  Excerpt,  ///< one line of its prompt, its statements or what else it is about
};

struct PlacedEdge {
  const Edge* edge = nullptr;  ///< null: from the dot to the first block
  std::vector<Point> points;   ///< first to last; a curve through them has vertical ends
  std::string text;            ///< the label in one line, truncated; may be empty
  Point text_middle;
};

struct PlacedSequence;

struct PlacedBlock {
  const Block* block = nullptr;
  std::string name, kind, excerpt;  ///< as they fit into the box
  Point corner;
  Size size;
  std::vector<PlacedSequence> nested;
};

/// A sequence with a name has a frame and a title: the others' contents are all of it.
struct PlacedSequence {
  const Sequence* sequence = nullptr;
  std::string title;
  Point corner;
  Size size;
  Point contents;            ///< the corner of the contents, to which blocks, edges and dot are relative
  std::optional<Point> dot;  ///< the middle of the dot where it starts
  std::vector<PlacedBlock> blocks;
  std::vector<PlacedEdge> edges;  ///< without those that lead to no block
};

struct PlacedAgent {
  const Agent* agent = nullptr;
  std::string title;
  Size size;
  std::vector<PlacedSequence> sequences;  ///< from top to bottom, without empty ones
};

inline constexpr double dot_size = 12;

/// Middles of boxes, relative to the contents of their sequences, by the agent and the path of their block; of a dot,
/// by the path of its sequence with `/` at its end. From one drawing to the next, so that what is not changed stays
/// where it is.
using Places = std::map<std::string, Point>;

[[nodiscard]] PlacedAgent place(const Agent& agent, BoxText shown, const Places& before = {});
/// Those of a placed agent.
void add_places(const PlacedAgent& agent, Places& places);

/// The first line of what a block is about, at most `excerpt_length_max` characters: of its prompt or another option
/// that is text, of its statements, or its tool. Empty if it has nothing of that kind.
[[nodiscard]] std::string excerpt_of(const Block& block);
inline constexpr std::size_t excerpt_length_max = 80;

}  // namespace tenon::graph
