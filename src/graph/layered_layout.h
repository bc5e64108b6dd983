#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tenon::graph {

struct Point {
  double x = 0;
  double y = 0;
};

/// A box to be placed. `layered_layout` sets its upper left corner.
struct LayoutBox {
  double width = 0;
  double height = 0;
  Point corner = {};
  std::optional<Point> before = {};  ///< its middle in an earlier layout
};

/// A line between two boxes. `layered_layout` sets its points, first to last, and the centre of its label.
struct LayoutLine {
  std::size_t from = 0;
  std::size_t to = 0;
  double label_width = 0;  ///< 0: no label
  std::vector<Point> points = {};
  Point label = {};
};

/// Places boxes in layers from top to bottom, so that lines lead down if possible: cycles are broken along a
/// depth-first walk from the first box, crossings reduced by barycentres. After Sugiyama, Tagawa and Toda, "Methods for
/// visual understanding of hierarchical system structures" (1981). A label is placed like a box, so it covers nothing.
/// In pixels. The same input gives the same layout. Takes O(n log n) time for n boxes and layers crossed by lines.
///
/// If boxes have places from an earlier layout, they keep their layers and their places in them, as long as they do not
/// overlap, and the other boxes and the lines are put where there is room: what a person has seen stays where it is.
struct LayeredLayout {
  std::vector<LayoutBox> boxes;
  std::vector<LayoutLine> lines;
  double width = 0;
  double height = 0;
};
void layered_layout(LayeredLayout& layout);

}  // namespace tenon::graph
