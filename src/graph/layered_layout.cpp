#include "graph/layered_layout.h"

#include <algorithm>
#include <cstdint>
#include <functional>

namespace tenon::graph {
namespace {

constexpr double box_gap = 28;
constexpr double layer_gap = 22;
constexpr double label_height = 16;
constexpr double bend_width = 10;
constexpr std::size_t sweeps = 12;

/// A box, a bend of a line that passes a layer, or a line's label.
struct Vertex {
  double width = 0;
  double height = 0;
  std::size_t layer = 0;
  std::size_t place = 0;  ///< in its layer
  double x = 0;           ///< of its middle
  double passage = 0;     ///< the height of its layer
  std::vector<std::size_t> above, below;
};

/// A line that leads down, and the vertices on it.
struct Chain {
  std::vector<std::size_t> vertices;
  bool is_reversed = false;  ///< the line leads up
  std::size_t label = SIZE_MAX;
};

class Layering {
 public:
  explicit Layering(LayeredLayout& layout) : layout_(layout) {
    for (const LayoutBox& box : layout.boxes) vertices_.push_back({box.width, box.height, 0, 0, 0, 0, {}, {}});
  }

  void run() {
    break_cycles();
    if (std::ranges::any_of(layout_.boxes, [](const LayoutBox& box) { return box.before.has_value(); })) {
      keep_layers();
      make_chains();
      keep_places();
    } else {
      assign_layers();
      make_chains();
      order();
      place();
    }
    begin_at_zero();
    write();
  }

 private:
  /// Marks the lines that lead back to a box that the traversal has not left yet.
  void break_cycles() {
    chains_.resize(layout_.lines.size());
    std::vector<std::vector<std::size_t>> outgoing(vertices_.size());
    for (std::size_t line = 0; line < layout_.lines.size(); ++line) outgoing[layout_.lines[line].from].push_back(line);
    enum class State : std::uint8_t { New, Open, Left };
    std::vector<State> states(vertices_.size(), State::New);
    struct Step {
      std::size_t box;
      std::size_t next;
    };
    for (std::size_t root = 0; root < vertices_.size(); ++root) {
      std::vector<Step> walk;
      if (states[root] == State::New) walk.push_back({root, 0});
      while (!walk.empty()) {
        Step& step = walk.back();
        states[step.box] = State::Open;
        if (step.next == outgoing[step.box].size()) {
          states[step.box] = State::Left;
          left_.push_back(step.box);
          walk.pop_back();
          continue;
        }
        const std::size_t line = outgoing[step.box][step.next++];
        const std::size_t to = layout_.lines[line].to;
        chains_[line].is_reversed = states[to] == State::Open;
        if (states[to] == State::New) walk.push_back({to, 0});
      }
    }
  }

  [[nodiscard]] std::size_t top(std::size_t line) const {
    return chains_[line].is_reversed ? layout_.lines[line].to : layout_.lines[line].from;
  }
  [[nodiscard]] std::size_t bottom(std::size_t line) const {
    return chains_[line].is_reversed ? layout_.lines[line].from : layout_.lines[line].to;
  }
  [[nodiscard]] bool is_loop(std::size_t line) const { return layout_.lines[line].from == layout_.lines[line].to; }

  /// The longest path from a box without incoming lines. In the reverse of the order in which the traversal left the
  /// boxes, the top of each line precedes its bottom, except for reversed lines.
  void assign_layers() {
    std::vector<std::vector<std::size_t>> down(vertices_.size());
    std::vector<std::size_t> waiting(vertices_.size());
    for (std::size_t line = 0; line < chains_.size(); ++line) {
      if (is_loop(line)) continue;
      down[top(line)].push_back(line);
      ++waiting[bottom(line)];
    }
    std::vector<std::size_t> ready;
    for (std::size_t at = left_.size(); at-- > 0;) {
      if (waiting[left_[at]] == 0) ready.push_back(left_[at]);
    }
    for (std::size_t at = 0; at < ready.size(); ++at) {
      for (const std::size_t line : down[ready[at]]) {
        const std::size_t length = layout_.lines[line].label_width > 0 ? 2 : 1;
        Vertex& below = vertices_[bottom(line)];
        below.layer = std::max(below.layer, vertices_[ready[at]].layer + length);
        if (--waiting[bottom(line)] == 0) ready.push_back(bottom(line));
      }
    }
  }

  void make_chains() {
    for (std::size_t line = 0; line < chains_.size(); ++line) {
      if (is_loop(line)) continue;
      Chain& chain = chains_[line];
      const double label_width = layout_.lines[line].label_width;
      const std::size_t first = vertices_[top(line)].layer;
      const std::size_t last = vertices_[bottom(line)].layer;
      const std::size_t label_layer = chain.is_reversed ? last - 1 : first + 1;  // next to the box where it starts
      chain.vertices.push_back(top(line));
      for (std::size_t layer = first + 1; layer < last; ++layer) {
        const bool is_label = label_width > 0 && layer == label_layer;
        if (is_label) chain.label = vertices_.size();
        chain.vertices.push_back(vertices_.size());
        vertices_.push_back({is_label ? label_width : bend_width, is_label ? label_height : 0, layer, 0, 0, 0, {}, {}});
      }
      chain.vertices.push_back(bottom(line));
      for (std::size_t at = 1; at < chain.vertices.size(); ++at) {
        vertices_[chain.vertices[at - 1]].below.push_back(chain.vertices[at]);
        vertices_[chain.vertices[at]].above.push_back(chain.vertices[at - 1]);
      }
    }
    for (std::size_t vertex = 0; vertex < vertices_.size(); ++vertex) {
      const std::size_t layer = vertices_[vertex].layer;
      if (layers_.size() <= layer) layers_.resize(layer + 1);
      layers_[layer].push_back(vertex);
    }
    number();
  }

  void number() {
    for (const auto& layer : layers_) {
      for (std::size_t place = 0; place < layer.size(); ++place) vertices_[layer[place]].place = place;
    }
  }

  template <class Value>
  [[nodiscard]] double mean(const std::vector<std::size_t>& neighbours, double otherwise, Value value) const {
    if (neighbours.empty()) return otherwise;
    double sum = 0;
    for (const std::size_t other : neighbours) sum += value(vertices_[other]);
    return sum / static_cast<double>(neighbours.size());
  }

  [[nodiscard]] std::size_t crossings() const {
    std::size_t count = 0;
    for (std::size_t at = 0; at + 1 < layers_.size(); ++at) {
      std::vector<std::size_t> sums(layers_[at + 1].size() +
                                    1);  // of the ends so far, by position: a binary indexed tree
      std::size_t ends = 0;
      for (const std::size_t vertex : layers_[at]) {
        for (const std::size_t below : vertices_[vertex].below) {
          count += ends;
          for (std::size_t place = vertices_[below].place + 1; place > 0; place &= place - 1) count -= sums[place];
        }
        for (const std::size_t below : vertices_[vertex].below) {
          ++ends;
          for (std::size_t place = vertices_[below].place + 1; place < sums.size(); place += place & (~place + 1)) {
            ++sums[place];
          }
        }
      }
    }
    return count;
  }

  void order() {
    auto best = layers_;
    std::size_t least = crossings();
    std::vector<double> keys(vertices_.size());
    for (std::size_t sweep = 0; sweep < sweeps && least > 0; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (std::size_t at = 0; at < layers_.size(); ++at) {
        auto& layer = layers_[down ? at : layers_.size() - 1 - at];
        for (const std::size_t vertex : layer) {
          const Vertex& one = vertices_[vertex];
          keys[vertex] = mean(down ? one.above : one.below, static_cast<double>(one.place),
                              [](const Vertex& other) { return static_cast<double>(other.place); });
        }
        std::stable_sort(layer.begin(), layer.end(), [&](auto left, auto right) { return keys[left] < keys[right]; });
        for (std::size_t place = 0; place < layer.size(); ++place) vertices_[layer[place]].place = place;
      }
      if (const std::size_t count = crossings(); count < least) {
        least = count;
        best = layers_;
      }
    }
    layers_ = std::move(best);
    number();
  }

  /// Moves each vertex to the middle of those that it is connected to, as far as its neighbours allow.
  void place() {
    for (auto& layer : layers_) settle(layer, std::vector<double>(layer.size(), 0));
    for (std::size_t sweep = 0; sweep < 2 * sweeps; ++sweep) {
      for (std::size_t at = 0; at < layers_.size(); ++at) {
        const auto& layer = layers_[sweep % 2 == 0 ? at : layers_.size() - 1 - at];
        std::vector<double> wanted;
        for (const std::size_t vertex : layer) {
          const Vertex& one = vertices_[vertex];
          const auto x = [](const Vertex& other) { return other.x; };
          const double above = mean(one.above, mean(one.below, one.x, x), x);
          const double below = mean(one.below, above, x);
          wanted.push_back(sweep + 2 >= 2 * sweeps ? (above + below) / 2 : sweep % 2 == 0 ? above : below);
        }
        settle(layer, wanted);
      }
    }
  }

  void begin_at_zero() {
    if (vertices_.empty()) return;
    double left = vertices_.front().x;
    double right = left;
    for (const Vertex& vertex : vertices_) {
      left = std::min(left, vertex.x - vertex.width / 2);
      right = std::max(right, vertex.x + vertex.width / 2);
    }
    for (Vertex& vertex : vertices_) vertex.x -= left;
    layout_.width = right - left;
  }

  /// The layers of an earlier layout, in the same order. A new box gets a layer between those that it is connected to.
  void keep_layers() {
    std::vector<double> ranks = earlier_ranks();
    // A box that was left later comes before, so rows of new boxes lead down.
    for (std::size_t at = left_.size(); at-- > 0;) {
      if (!layout_.boxes[left_[at]].before) ranks[left_[at]] = rank_of_new(left_[at], ranks);
    }
    for (const LayoutLine& line : layout_.lines) {
      if (line.from == line.to || ranks[line.from] != ranks[line.to]) continue;
      double next = ranks[line.to] + 2;
      for (const double rank : ranks) {
        if (rank > ranks[line.to]) next = std::min(next, rank);
      }
      ranks[line.to] = (ranks[line.to] + next) / 2;
    }
    std::vector<double> distinct = ranks;
    std::ranges::sort(distinct);
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (std::size_t box = 0; box < ranks.size(); ++box) {
      vertices_[box].layer =
          static_cast<std::size_t>(std::ranges::lower_bound(distinct, ranks[box]) - distinct.begin());
    }
    std::vector<std::size_t> extra(distinct.size() + 1);  // layers for labels, by the number of layers above
    for (std::size_t line = 0; line < chains_.size(); ++line) {
      const auto [from, to, width] = ends_of(line);
      chains_[line].is_reversed = from > to;
      if (width > 0 && (from > to ? from - to : to - from) == 1) extra[std::max(from, to)] = 1;
    }
    for (std::size_t at = 1; at < extra.size(); ++at) extra[at] += extra[at - 1];
    for (std::size_t box = 0; box < ranks.size(); ++box) vertices_[box].layer += extra[vertices_[box].layer];
  }

  struct Ends {
    std::size_t from, to;  ///< layers
    double label_width;
  };
  [[nodiscard]] Ends ends_of(std::size_t line) const {
    const LayoutLine& one = layout_.lines[line];
    return {vertices_[one.from].layer, vertices_[one.to].layer, one.label_width};
  }

  /// The numbers of the earlier layers of the boxes that have one.
  [[nodiscard]] std::vector<double> earlier_ranks() const {
    constexpr double tolerance = 1;  // of the middles of boxes in one layer, which may have been rounded
    std::vector<std::size_t> boxes;
    for (std::size_t box = 0; box < layout_.boxes.size(); ++box) {
      if (layout_.boxes[box].before) boxes.push_back(box);
    }
    const auto y = [&](std::size_t box) { return layout_.boxes[box].before->y; };
    std::ranges::stable_sort(boxes, {}, y);
    std::vector<double> ranks(layout_.boxes.size(), -1);
    double rank = 1;
    for (std::size_t at = 0; at < boxes.size(); ++at) {
      if (at > 0 && y(boxes[at]) > y(boxes[at - 1]) + tolerance) ++rank;
      ranks[boxes[at]] = rank;
    }
    return ranks;
  }

  /// `ranks`: negative for boxes that have none yet.
  [[nodiscard]] double rank_of_new(std::size_t box, const std::vector<double>& ranks) const {
    double above = -1;
    double last = 0;
    for (const double rank : ranks) last = std::max(last, rank);
    double below = last + 1;
    bool has_below = false;
    for (const LayoutLine& line : layout_.lines) {
      if (line.to == box && line.from != box) above = std::max(above, ranks[line.from]);
    }
    for (const LayoutLine& line : layout_.lines) {
      if (line.from != box || ranks[line.to] <= above) continue;
      below = std::min(below, ranks[line.to]);
      has_below = true;
    }
    if (above < 0) return !has_below ? last + 1 : below > 1 ? below - 1 : below / 2;
    return below > above + 1 ? above + 1 : (above + below) / 2;
  }

  /// Boxes that have an earlier place keep it, unless two of a layer overlap. The others take the free place that is
  /// the nearest to the one they want.
  void keep_places() {
    const std::vector<double> wanted = wanted_places();
    const std::size_t boxes = layout_.boxes.size();
    const auto is_kept = [&](std::size_t vertex) { return vertex < boxes && layout_.boxes[vertex].before.has_value(); };
    for (auto& layer : layers_) {
      std::ranges::stable_sort(layer, {}, [&](std::size_t vertex) { return wanted[vertex]; });
      std::vector<std::size_t> kept;
      std::vector<double> kept_places;
      for (const std::size_t vertex : layer) {
        if (!is_kept(vertex)) continue;
        kept.push_back(vertex);
        kept_places.push_back(wanted[vertex]);
      }
      settle(kept, kept_places);
      for (const std::size_t vertex : layer) {
        if (is_kept(vertex)) continue;
        vertices_[vertex].x = nearest_free(vertex, wanted[vertex], kept);
        kept.push_back(vertex);
      }
      std::ranges::stable_sort(layer, {}, [&](std::size_t vertex) { return vertices_[vertex].x; });
    }
    number();
  }

  [[nodiscard]] std::vector<double> wanted_places() const {
    const std::vector<LayoutBox>& boxes = layout_.boxes;
    std::vector<double> wanted(vertices_.size());
    for (std::size_t box = 0; box < boxes.size(); ++box) {
      if (boxes[box].before) wanted[box] = boxes[box].before->x;
    }
    for (std::size_t box = 0; box < boxes.size(); ++box) {
      if (boxes[box].before) continue;
      double sum = 0;
      double count = 0;
      for (const LayoutLine& line : layout_.lines) {
        if (line.from != box && line.to != box) continue;
        const std::size_t other = line.from == box ? line.to : line.from;
        if (!boxes[other].before) continue;
        sum += boxes[other].before->x;
        ++count;
      }
      wanted[box] = count > 0 ? sum / count : 0;
    }
    for (const Chain& chain : chains_) {
      if (chain.vertices.empty()) continue;
      const double top = wanted[chain.vertices.front()];
      const double bottom = wanted[chain.vertices.back()];
      const auto length = static_cast<double>(chain.vertices.size() - 1);
      for (std::size_t at = 1; at + 1 < chain.vertices.size(); ++at) {
        wanted[chain.vertices[at]] = top + (bottom - top) * static_cast<double>(at) / length;
      }
    }
    return wanted;
  }

  /// The middle nearest to `wanted` where the vertex keeps its distance from `others`, which have places.
  [[nodiscard]] double nearest_free(std::size_t vertex, double wanted, const std::vector<std::size_t>& others) const {
    struct Range {
      double begin, end;
    };
    std::vector<Range> taken;
    for (const std::size_t other : others) {
      const double distance = (vertices_[vertex].width + vertices_[other].width) / 2 + box_gap;
      taken.push_back({vertices_[other].x - distance, vertices_[other].x + distance});
    }
    double right = wanted;
    std::ranges::sort(taken, {}, &Range::begin);
    for (const Range& range : taken) {
      if (range.begin < right && right < range.end) right = range.end;
    }
    double left = wanted;
    std::ranges::sort(taken, std::ranges::greater(), &Range::end);
    for (const Range& range : taken) {
      if (range.begin < left && left < range.end) left = range.begin;
    }
    return right - wanted <= wanted - left ? right : left;
  }

  /// The mean of the layouts that are compacted to the right and to the left.
  void settle(const std::vector<std::size_t>& layer, const std::vector<double>& wanted) {
    const auto distance = [&](std::size_t at) {
      return (vertices_[layer[at - 1]].width + vertices_[layer[at]].width) / 2 + box_gap;
    };
    std::vector<double> rightwards = wanted;
    std::vector<double> leftwards = wanted;
    for (std::size_t at = 1; at < layer.size(); ++at) {
      rightwards[at] = std::max(rightwards[at], rightwards[at - 1] + distance(at));
    }
    for (std::size_t at = layer.size(); at-- > 1;) {
      leftwards[at - 1] = std::min(leftwards[at - 1], leftwards[at] - distance(at));
    }
    for (std::size_t at = 0; at < layer.size(); ++at) vertices_[layer[at]].x = (rightwards[at] + leftwards[at]) / 2;
  }

  void write() {
    std::vector<double> middles;
    double y = 0;
    for (const auto& layer : layers_) {
      double height = 0;
      for (const std::size_t vertex : layer) height = std::max(height, vertices_[vertex].height);
      // A line crosses a layer vertically, from top to bottom, so that it does not touch tall boxes.
      for (const std::size_t vertex : layer) vertices_[vertex].passage = height;
      middles.push_back(y + height / 2);
      y += height + layer_gap;
    }
    layout_.height = layers_.empty() ? 0 : y - layer_gap;
    for (std::size_t at = 0; at < layout_.boxes.size(); ++at) {
      const Vertex& vertex = vertices_[at];
      layout_.boxes[at].corner = {vertex.x - vertex.width / 2, middles[vertex.layer] - vertex.height / 2};
    }
    for (std::size_t line = 0; line < chains_.size(); ++line) write_line(layout_.lines[line], chains_[line], middles);
  }

  /// Where lines meet the edge of a box: those on one side are next to each other, in the order of their other ends.
  [[nodiscard]] double port(std::size_t vertex, const std::vector<std::size_t>& joined, std::size_t other) const {
    const Vertex& one = vertices_[vertex];
    const auto before = std::count_if(joined.begin(), joined.end(),
                                      [&](std::size_t at) { return vertices_[at].x < vertices_[other].x; });
    const double step = std::min(24.0, one.width * 0.7 / static_cast<double>(joined.size()));
    return one.x + (static_cast<double>(before) - static_cast<double>(joined.size() - 1) / 2) * step;
  }

  void write_line(LayoutLine& line, const Chain& chain, const std::vector<double>& middles) {
    if (chain.vertices.empty()) {  // from a box to itself, on its right
      const LayoutBox& box = layout_.boxes[line.from];
      const double right = box.corner.x + box.width;
      const double y = box.corner.y + box.height / 2;
      line.points = {{right, y - 8}, {right + box_gap / 2, y}, {right, y + 8}};
      line.label = {right + box_gap / 2 + line.label_width / 2, y};
      layout_.width = std::max(layout_.width, right + box_gap / 2 + line.label_width);
      return;
    }
    const std::size_t top = chain.vertices.front();
    const std::size_t bottom = chain.vertices.back();
    const auto y = [&](std::size_t vertex) { return middles[vertices_[vertex].layer]; };
    line.points.push_back({port(top, vertices_[top].below, chain.vertices[1]), y(top) + vertices_[top].height / 2});
    for (std::size_t at = 1; at + 1 < chain.vertices.size(); ++at) {
      const Vertex& bend = vertices_[chain.vertices[at]];
      line.points.push_back({bend.x, y(chain.vertices[at]) - bend.passage / 2});
      line.points.push_back({bend.x, y(chain.vertices[at]) + bend.passage / 2});
    }
    line.points.push_back({port(bottom, vertices_[bottom].above, chain.vertices[chain.vertices.size() - 2]),
                           y(bottom) - vertices_[bottom].height / 2});
    if (chain.is_reversed) std::reverse(line.points.begin(), line.points.end());
    if (chain.label != SIZE_MAX) line.label = {vertices_[chain.label].x, y(chain.label)};
  }

  LayeredLayout& layout_;
  std::vector<Vertex> vertices_;
  std::vector<Chain> chains_;
  std::vector<std::size_t> left_;  ///< boxes in the order in which the traversal left them
  std::vector<std::vector<std::size_t>> layers_;
};

}  // namespace

void layered_layout(LayeredLayout& layout) {
  Layering(layout).run();
}

}  // namespace tenon::graph
