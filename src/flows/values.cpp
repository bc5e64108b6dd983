#include "flows/values.h"

#include <algorithm>
#include <iterator>

namespace tenon::flows {
namespace {

std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) {
  return (static_cast<std::uint64_t>(a) << 32U) | b;
}

}  // namespace

std::size_t Values::KeyHash::operator()(const std::vector<std::uint32_t>& key) const noexcept {
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  for (const std::uint32_t word : key) hash = (hash ^ word) * 1'099'511'628'211U;
  return static_cast<std::size_t>(hash ^ (hash >> 29U));
}

Values::Values(Labels& labels) : labels_(labels) {
  nodes_.emplace_back();
  plain_.push_back(clean);
}

ValueId Values::plain(Label label) {
  if (label.index < plain_.size() && plain_[label.index].exists()) return plain_[label.index];
  if (label.index >= plain_.size()) plain_.resize(label.index + 1U);
  return plain_[label.index] = intern(Shape::Plain, label, ToolSetId{0}, {});
}

ValueId Values::make(Shape shape, Label own, std::vector<ValueId> parts) {
  for (ValueId& part : parts) {
    if (nodes_[part.index].depth >= depth_max) part = flatten(part);
  }
  ToolSetId tools{0};
  if (shape != Shape::Plain) {
    for (const ValueId part : parts) tools = unite(tools, nodes_[part.index].tools);
  }
  return intern(shape, own, tools, std::move(parts));
}

ValueId Values::tool(std::uint32_t index, std::vector<ValueId> parts) {
  const ValueId record = make(Shape::Record, {}, std::move(parts));
  const Node node = nodes_[record.index];
  return intern(Shape::Record, {}, intern_tools({index}), node.parts);
}

ValueId Values::intern(Shape shape, Label own, ToolSetId tools, std::vector<ValueId> parts) {
  if (shape == Shape::Plain && own.index == 0 && tools.index == 0) return clean;
  std::vector<std::uint32_t> key = {own.index, static_cast<std::uint32_t>(shape), tools.index};
  for (const ValueId part : parts) key.push_back(part.index);
  const auto [found, is_new] = ids_.emplace(std::move(key), ValueId{static_cast<std::uint32_t>(nodes_.size())});
  if (!is_new) return found->second;
  Node node{own, own, shape, 0, tools, std::move(parts)};
  for (const ValueId part : node.parts) {
    // An item, or a payload, may not be there.
    const bool is_there = shape == Shape::Record || shape == Shape::Context;
    const Label inner = nodes_[part.index].whole;
    node.whole = labels_.join(node.whole, is_there ? inner : inner.possible());
    node.depth = std::max<std::uint16_t>(node.depth, static_cast<std::uint16_t>(nodes_[part.index].depth + 1));
  }
  nodes_.push_back(std::move(node));
  return found->second;
}

ValueId Values::part(ValueId value, std::size_t index) const {
  const Node& node = nodes_[value.index];
  return index < node.parts.size() ? node.parts[index] : clean;
}

ValueId Values::with_part(ValueId value, Shape shape, std::size_t index, ValueId part) {
  std::vector<ValueId> parts = nodes_[value.index].parts;
  if (index >= parts.size()) parts.resize(index + 1, clean);
  parts[index] = part;
  const Shape known = nodes_[value.index].shape;
  return make(known == Shape::Plain ? shape : known, own(value), std::move(parts));
}

ValueId Values::raise(ValueId value, Label label) {
  const Label raised = labels_.join(own(value), label);
  if (raised == own(value)) return value;
  const std::uint64_t key = pair_key(value.index, raised.index);
  if (const auto known = raised_.find(key); known != raised_.end()) return known->second;
  const Node node = nodes_[value.index];
  const ValueId made = intern(node.shape, raised, node.tools, node.parts);
  raised_.emplace(key, made);
  return made;
}

ValueId Values::flatten(ValueId value) {
  const Node& node = nodes_[value.index];
  if (node.shape == Shape::Plain) return value;
  return intern(Shape::Plain, node.whole.possible(), node.tools, {});
}

ValueId Values::merge(ValueId a, ValueId b) {
  if (a == b) return a;
  const std::uint64_t key = pair_key(a.index, b.index);
  if (const auto known = merged_.find(key); known != merged_.end()) return known->second;
  const Node left = nodes_[a.index];
  const Node right = nodes_[b.index];
  const Label own = labels_.merge(left.own, right.own);
  const ToolSetId tools = unite(left.tools, right.tools);
  Shape shape = left.shape;
  std::vector<ValueId> parts;
  if (left.shape == Shape::Plain) shape = right.shape;
  const bool are_alike = left.shape == right.shape || left.shape == Shape::Plain || right.shape == Shape::Plain;
  ValueId made;
  if (are_alike) {
    for (std::size_t at = 0; at < std::max(left.parts.size(), right.parts.size()); ++at) {
      parts.push_back(merge(part(a, at), part(b, at)));
    }
    made = intern(shape, own, tools, std::move(parts));
  } else {
    made = intern(Shape::Plain, labels_.merge(left.whole, right.whole).possible(), tools, {});
  }
  merged_.emplace(key, made);
  return made;
}

ValueId Values::map_labels(ValueId value, const std::function<Label(Label)>& change) {
  const Node node = nodes_[value.index];
  std::vector<ValueId> parts;
  parts.reserve(node.parts.size());
  for (const ValueId part : node.parts) parts.push_back(map_labels(part, change));
  return intern(node.shape, change(node.own), node.tools, std::move(parts));
}

ValueId Values::without_labels(ValueId value) {
  return map_labels(value, [](Label) { return Label{}; });
}

ValueId Values::step(ValueId value, Step step) {
  if (!labels_.is_traced() || whole(value).is_none()) return value;
  return map_labels(value, [&](Label label) { return labels_.step(label, step); });
}

ValueId Values::canonical(ValueId value) {
  if (!labels_.is_traced() || whole(value).is_none()) return value;
  return map_labels(value, [&](Label label) { return labels_.canonical(label); });
}

ToolSetId Values::unite(ToolSetId a, ToolSetId b) {
  if (a == b || b.index == 0) return a;
  if (a.index == 0) return b;
  std::vector<std::uint32_t> both;
  std::ranges::set_union(tool_sets_[a.index], tool_sets_[b.index], std::back_inserter(both));
  return intern_tools(std::move(both));
}

ToolSetId Values::intern_tools(std::vector<std::uint32_t> set) {
  const auto [found, is_new] =
      tool_set_ids_.emplace(std::move(set), ToolSetId{static_cast<std::uint32_t>(tool_sets_.size())});
  if (is_new) tool_sets_.push_back(found->first);
  return found->second;
}

}  // namespace tenon::flows
