#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/id.h"
#include "flows/labels.h"

namespace tenon::flows {

/// What is known of a value: its label, and of its parts.
using ValueId = Id<struct FlowValueTag>;
/// A set of indices into Program::tools.
using ToolSetId = Id<struct FlowToolSetTag>;

enum class Shape : std::uint8_t {
  Plain,    ///< of its parts no more is known than that they have its label, or none
  Record,   ///< a part for each field
  Variant,  ///< a part for each item of a payload, which it may not have
  Items,    ///< a list: a part for all items; a map: one for all keys, one for all values
  Context,  ///< a part for all entries together, one for any of them, and one for how many there are; none in
            ///< an empty one
};

/// The values of an analysis, each once: equal values have equal ids. A part has its own label and, when it is taken
/// out, that of the value, as in the machine.
class Values {
 public:
  /// Parts of parts of parts … deeper than this are not distinguished.
  static constexpr std::uint16_t depth_max = 5;

  explicit Values(Labels& labels);

  /// Without a label.
  static constexpr ValueId clean{0};
  [[nodiscard]] ValueId plain(Label label);
  [[nodiscard]] ValueId make(Shape shape, Label own, std::vector<ValueId> parts);
  /// A record for a tool of a set.
  [[nodiscard]] ValueId tool(std::uint32_t index, std::vector<ValueId> parts);
  [[nodiscard]] ValueId list(Label own, ValueId items) { return make(Shape::Items, own, {items}); }
  [[nodiscard]] ValueId empty_context() { return make(Shape::Context, {}, {}); }
  /// `all`: of all entries together, as a model sees them; `any`: of each, which may be any one of them; `count`: of
  /// what decided, before the run, which there are.
  [[nodiscard]] ValueId context(Label own, Label all, Label any, Label count = {}) {
    return make(Shape::Context, own, {plain(all), plain(any), plain(count.possible())});
  }

  [[nodiscard]] Label own(ValueId value) const { return nodes_[value.index].own; }
  [[nodiscard]] Shape shape(ValueId value) const { return nodes_[value.index].shape; }
  /// Of the value and all its parts.
  [[nodiscard]] Label whole(ValueId value) const { return nodes_[value.index].whole; }
  [[nodiscard]] std::size_t part_count(ValueId value) const { return nodes_[value.index].parts.size(); }
  /// The part as it is in the value.
  [[nodiscard]] ValueId part(ValueId value, std::size_t index) const;
  /// The part as it is taken out of the value.
  [[nodiscard]] ValueId take(ValueId value, std::size_t index) { return raise(part(value, index), own(value)); }
  /// The value with another part; it becomes a `shape` if it was plain.
  [[nodiscard]] ValueId with_part(ValueId value, Shape shape, std::size_t index, ValueId part);
  [[nodiscard]] ValueId raise(ValueId value, Label label);
  /// What is one or the other.
  [[nodiscard]] ValueId merge(ValueId a, ValueId b);
  /// No more than which sources are in it.
  [[nodiscard]] ValueId flatten(ValueId value);
  /// The value without its labels.
  [[nodiscard]] ValueId without_labels(ValueId value);
  /// The value with all its labels carried on by the step.
  [[nodiscard]] ValueId step(ValueId value, Step step);
  /// As Labels::canonical.
  [[nodiscard]] ValueId canonical(ValueId value);
  /// The tools that the value may stand for: a record of a set, or a list of them. Ascending.
  [[nodiscard]] std::span<const std::uint32_t> tools(ValueId value) const {
    return tool_sets_[nodes_[value.index].tools.index];
  }

 private:
  struct Node {
    Label own;
    Label whole;
    Shape shape = Shape::Plain;
    std::uint16_t depth = 0;
    ToolSetId tools{0};
    std::vector<ValueId> parts;
  };

  [[nodiscard]] ValueId intern(Shape shape, Label own, ToolSetId tools, std::vector<ValueId> parts);
  [[nodiscard]] ToolSetId unite(ToolSetId a, ToolSetId b);
  [[nodiscard]] ToolSetId intern_tools(std::vector<std::uint32_t> set);
  /// The value with each label replaced.
  [[nodiscard]] ValueId map_labels(ValueId value, const std::function<Label(Label)>& change);

  struct KeyHash {
    std::size_t operator()(const std::vector<std::uint32_t>& key) const noexcept;
  };

  Labels& labels_;
  std::vector<Node> nodes_;
  std::vector<ValueId> plain_;  ///< by the label's index
  std::unordered_map<std::vector<std::uint32_t>, ValueId, KeyHash> ids_;
  std::unordered_map<std::uint64_t, ValueId> merged_, raised_;
  std::vector<std::vector<std::uint32_t>> tool_sets_ = {{}};
  std::map<std::vector<std::uint32_t>, ToolSetId> tool_set_ids_;
};

}  // namespace tenon::flows
