#include "flows/labels.h"

#include <algorithm>
#include <iterator>

namespace tenon::flows {

Label Labels::of(Source source, Step read) {
  if (!traced_) return {intern(std::vector<Source>{source}) << 1U | 1U};
  return *traced_ == source ? Label{intern(read, 0) << 1U | 1U} : Label{};
}

Label Labels::step(Label label, Step step) {
  if (!traced_ || label.is_none()) return label;
  return {intern(step, label.index >> 1U) << 1U | (label.index & 1U)};
}

std::vector<Step> Labels::way_of(Label label) const {
  std::vector<Step> way;
  for (std::uint32_t at = label.index >> 1U; at > 1; at = trails_[at].before) way.push_back(trails_[at].step);
  std::ranges::reverse(way);
  return way;
}

std::uint32_t Labels::unite(std::uint32_t a, std::uint32_t b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  if (traced_) return trails_[b].length < trails_[a].length ? b : a;
  const auto [low, high] = std::minmax(a, b);
  const std::uint64_t key = (static_cast<std::uint64_t>(low) << 32U) | high;
  if (const auto known = unions_.find(key); known != unions_.end()) return known->second;
  std::vector<Source> both;
  std::ranges::set_union(sets_[low], sets_[high], std::back_inserter(both));
  const std::uint32_t united = intern(std::move(both));
  unions_.emplace(key, united);
  return united;
}

std::uint32_t Labels::intern(std::vector<Source> set) {
  const auto [found, is_new] = numbers_.emplace(std::move(set), static_cast<std::uint32_t>(sets_.size()));
  if (is_new) sets_.push_back(found->first);
  return found->second;
}

std::uint32_t Labels::intern(const Step& step, std::uint32_t before) {
  // The first way to a place is kept: ways never go round in circles.
  const auto [found, is_new] = trail_numbers_.emplace(step, static_cast<std::uint32_t>(trails_.size()));
  if (is_new) trails_.push_back({step, before, trails_[before].length + 1});
  return found->second;
}

}  // namespace tenon::flows
