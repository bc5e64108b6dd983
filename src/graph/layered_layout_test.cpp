#include "graph/layered_layout.h"

#include <gtest/gtest.h>

#include <random>

namespace tenon::graph {
namespace {

LayeredLayout laid_out(std::size_t boxes, std::vector<LayoutLine> lines) {
  LayeredLayout layout;
  layout.boxes.assign(boxes, {100, 40});
  layout.lines = std::move(lines);
  layered_layout(layout);
  return layout;
}

bool overlap(const LayoutBox& left, const LayoutBox& right) {
  return left.corner.x < right.corner.x + right.width && right.corner.x < left.corner.x + left.width &&
         left.corner.y < right.corner.y + right.height && right.corner.y < left.corner.y + left.height;
}

TEST(LayeredLayout, AChainLeadsDown) {
  const LayeredLayout layout = laid_out(3, {{0, 1}, {1, 2}});
  EXPECT_LT(layout.boxes[0].corner.y, layout.boxes[1].corner.y);
  EXPECT_LT(layout.boxes[1].corner.y, layout.boxes[2].corner.y);
  EXPECT_EQ(layout.boxes[0].corner.x, layout.boxes[2].corner.x);
  EXPECT_EQ(layout.lines[0].points.size(), 2U);
  EXPECT_EQ(layout.lines[0].points[0].y, layout.boxes[0].corner.y + 40);
  EXPECT_EQ(layout.lines[0].points[1].y, layout.boxes[1].corner.y);
}

TEST(LayeredLayout, ABackEdgePointsUp) {
  const LayeredLayout layout = laid_out(2, {{0, 1}, {1, 0}});
  EXPECT_GT(layout.lines[1].points.front().y, layout.lines[1].points.back().y);
  const LayeredLayout loop = laid_out(1, {{0, 0}});
  EXPECT_EQ(loop.lines[0].points.size(), 3U);
}

TEST(LayeredLayout, EmptyGraph) {
  const LayeredLayout layout = laid_out(0, {});
  EXPECT_EQ(layout.width, 0);
  EXPECT_EQ(layout.height, 0);
}

TEST(LayeredLayout, NothingOverlaps) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    LayeredLayout layout;
    const std::size_t count = 1 + random() % 20;
    for (std::size_t box = 0; box < count; ++box) {
      layout.boxes.push_back({static_cast<double>(40 + random() % 200), static_cast<double>(20 + random() % 100)});
    }
    for (std::size_t line = 0; line < 2 * count; ++line) {
      layout.lines.push_back({random() % count, random() % count, random() % 2 == 0 ? 0.0 : 80.0});
    }
    layered_layout(layout);
    std::vector<LayoutBox> all = layout.boxes;
    for (const LayoutLine& line : layout.lines) {
      ASSERT_GE(line.points.size(), 2U);
      if (line.label_width > 0 && line.from != line.to) {
        all.push_back({line.label_width, 16, {line.label.x - line.label_width / 2, line.label.y - 8}});
      }
    }
    for (std::size_t left = 0; left < all.size(); ++left) {
      ASSERT_GE(all[left].corner.x, -0.001);
      ASSERT_LE(all[left].corner.x + all[left].width, layout.width + 0.001);
      ASSERT_LE(all[left].corner.y + all[left].height, layout.height + 0.001);
      for (std::size_t right = left + 1; right < all.size(); ++right) {
        ASSERT_FALSE(overlap(all[left], all[right])) << "seed " << seed << ": " << left << " and " << right;
      }
    }
  }
}

}  // namespace
}  // namespace tenon::graph
