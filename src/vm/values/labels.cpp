#include "vm/values/labels.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include "base/ensure.h"

namespace tenon::vm {
namespace {

constexpr std::array<std::string_view, source_kind_count> source_kind_names = {
    "argument", "person", "model", "extern", "unknown", "endorsed as", "approved", "narrow answer of"};

}  // namespace

std::string_view source_kind_name(SourceKind kind) {
  return source_kind_names[static_cast<std::size_t>(kind)];
}

std::string describe(const Source& source) {
  std::string text(source_kind_name(source.kind));
  if (!source.name.empty()) text += ' ' + source.name;
  return text;
}

LabelTable::LabelTable() {
  labels_.emplace_back();
  label_index_.emplace(std::vector<std::uint32_t>{}, 0);
}

LabelId LabelTable::intern(const Source& source) {
  const auto next = static_cast<std::uint32_t>(sources_.size());
  const auto [found, is_new] = source_index_.emplace(source, next);
  if (is_new) sources_.push_back(source);
  return intern_set({found->second});
}

LabelId LabelTable::intern_set(std::vector<std::uint32_t> set) {
  const auto [found, is_new] = label_index_.emplace(std::move(set), size());
  if (is_new) labels_.push_back(found->first);
  return {found->second};
}

LabelId LabelTable::join_different(LabelId a, LabelId b) {
  ENSURE(contains(a) && contains(b));
  const auto [low, high] = std::minmax(a.index, b.index);
  const std::uint64_t key = (static_cast<std::uint64_t>(low) << 32U) | high;
  if (const auto known = joins_.find(key); known != joins_.end()) {
    recent_[slot_of(a, b)] = {a, b, {known->second}};
    return {known->second};
  }
  std::vector<std::uint32_t> both;
  std::ranges::set_union(labels_[low], labels_[high], std::back_inserter(both));
  if (size() >= labels_max && !label_index_.contains(both)) {
    both.resize(sources_.size());
    std::iota(both.begin(), both.end(), 0U);
  }
  const LabelId joined = intern_set(std::move(both));
  joins_.emplace(key, joined.index);
  return joined;
}

std::string LabelTable::describe(LabelId label) const {
  if (label == program_text) return "program";
  std::string text;
  for (const std::uint32_t index : sources_of(label)) {
    if (!text.empty()) text += ", ";
    text += vm::describe(sources_[index]);
  }
  return text;
}

bool LabelTable::restore(std::vector<Source> sources, std::vector<std::vector<std::uint32_t>> labels) {
  LabelTable table;
  for (Source& source : sources) {
    const auto next = static_cast<std::uint32_t>(table.sources_.size());
    if (!table.source_index_.emplace(source, next).second) return false;
    table.sources_.push_back(std::move(source));
  }
  if (labels.empty() || !labels.front().empty()) return false;
  for (std::size_t i = 1; i < labels.size(); ++i) {
    const bool ascends = std::ranges::adjacent_find(labels[i], std::greater_equal<>{}) == labels[i].end();
    if (labels[i].empty() || !ascends || labels[i].back() >= table.sources_.size()) return false;
    if (table.intern_set(std::move(labels[i])).index != i) return false;
  }
  *this = std::move(table);
  return true;
}

}  // namespace tenon::vm
