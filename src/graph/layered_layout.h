#pragma once

#include <cstddef>
#include <vector>

namespace tenon::graph {

struct Point {
  double x = 0;
  double y = 0;
};

/// A box to be placed. `layered_layout` fills in where its upper left corner is.
struct LayoutBox {
  double width = 0;
  double height = 0;
  Point corner = {};
};

/// A line between two boxes. `layered_layout` fills in the points that it goes through, first to last, and where the
/// middle of its label is.
struct LayoutLine {
  std::size_t from = 0;
  std::size_t to = 0;
  double label_width = 0;  ///< 0: it has none
  std::vector<Point> points = {};
  Point label = {};
};

/// Boxes in layers from top to bottom, so that lines go down where they can: cycles are broken along a depth-first walk
/// from the first box, crossings reduced by barycentres. After Sugiyama, Tagawa and Toda, "Methods for visual
/// understanding of hierarchical system structures" (1981). A label takes part as a box of its own, so it covers
/// nothing. In pixels; the same input gives the same layout. With n boxes and layers that lines cross it takes time in
/// proportion to n log n.
struct LayeredLayout {
  std::vector<LayoutBox> boxes;
  std::vector<LayoutLine> lines;
  double width = 0;
  double height = 0;
};
void layered_layout(LayeredLayout& layout);

}  // namespace tenon::graph
