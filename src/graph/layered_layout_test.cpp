#include "graph/layered_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

void expect_no_overlap(const LayeredLayout& layout, std::uint32_t seed) {
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
    expect_no_overlap(layout, seed);
  }
}

/// Boxes with lines as those of a program: most lead a few boxes down, some up.
LayeredLayout random_program(std::mt19937& random, std::size_t count) {
  LayeredLayout layout;
  for (std::size_t box = 0; box < count; ++box) layout.boxes.push_back({static_cast<double>(110 + random() % 150), 60});
  for (std::size_t box = 0; box + 1 < count; ++box) layout.lines.push_back({box, box + 1});
  for (std::size_t line = 0; line < count / 2; ++line) {
    const std::size_t from = random() % count;
    const std::size_t to = random() % 10 == 0 ? random() % count : std::min(count - 1, from + 2 + random() % 8);
    layout.lines.push_back({from, to, random() % 2 == 0 ? 0.0 : 80.0});
  }
  return layout;
}

void remember(LayeredLayout& layout) {
  for (LayoutBox& box : layout.boxes) box.before = {box.corner.x + box.width / 2, box.corner.y + box.height / 2};
}

/// How many of the first boxes have moved sideways, compared with most of the others.
std::size_t count_moved(const LayeredLayout& before, const LayeredLayout& after) {
  std::vector<double> shifts;
  for (std::size_t box = 0; box < before.boxes.size(); ++box) {
    shifts.push_back(after.boxes[box].corner.x + after.boxes[box].width / 2 - before.boxes[box].corner.x -
                     before.boxes[box].width / 2);
  }
  std::vector<double> sorted = shifts;
  std::ranges::sort(sorted);
  const double common = sorted[sorted.size() / 2];
  return static_cast<std::size_t>(
      std::ranges::count_if(shifts, [&](double shift) { return std::abs(shift - common) > 20; }));
}

TEST(LayeredLayout, ABoxThatIsAddedMovesFewOthers) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    LayeredLayout layout = random_program(random, 200);
    layered_layout(layout);
    for (int step = 0; step < 5; ++step) {
      const LayeredLayout before = layout;
      remember(layout);
      // Into a line, or as a branch.
      LayoutLine& line = layout.lines[random() % layout.lines.size()];
      const std::size_t added = layout.boxes.size();
      const std::size_t to = line.to;
      if (random() % 2 == 0) line.to = added;
      const std::size_t from = line.from;
      layout.boxes.push_back({140, 60});
      layout.lines.push_back({added, to});
      layout.lines.push_back({from, added});
      layered_layout(layout);
      EXPECT_LT(count_moved(before, layout), before.boxes.size() / 10) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(LayeredLayout, WhatIsKeptDoesNotOverlap) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    LayeredLayout layout = random_program(random, 30);
    for (LayoutBox& box : layout.boxes) {
      if (random() % 4 != 0)
        box.before = Point{static_cast<double>(random() % 600), static_cast<double>(random() % 8 * 90)};
    }
    layered_layout(layout);
    expect_no_overlap(layout, seed);
  }
}

TEST(LayeredLayout, TheSameBoxesStayWhereTheyAre) {
  std::mt19937 random(1);
  LayeredLayout layout = random_program(random, 60);
  layered_layout(layout);
  const LayeredLayout before = layout;
  remember(layout);
  layered_layout(layout);
  EXPECT_EQ(count_moved(before, layout), 0U);
}

}  // namespace
}  // namespace tenon::graph
