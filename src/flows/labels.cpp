#include "flows/labels.h"

#include <algorithm>
#include <iterator>

namespace tenon::flows {

Label Labels::way_up(std::uint32_t function, std::uint32_t pc) {
  if (followed_ != Followed::WaysUp) return {};
  return {intern({{Source{function, pc}}, {}}) << 1U};
}

Label Labels::of(Source source, const Step& read) {
  if (followed_ == Followed::WaysUp) return {};
  if (!is_traced()) return {intern({{source}, {}}) << 1U | 1U};
  if (std::ranges::find(traced_, source) == traced_.end()) return {};
  return {intern({{source}, {intern_trail(source, read, 0)}}) << 1U | 1U};
}

Label Labels::step(Label label, const Step& step) {
  if (!is_traced() || label.is_none()) return label;
  const std::uint32_t number = label.index >> 1U;
  const auto [known, is_new] = stepped_.try_emplace({number, step}, 0);
  if (is_new) {
    Set set = sets_[number];
    for (std::size_t at = 0; at < set.trails.size(); ++at) {
      set.trails[at] = intern_trail(set.sources[at], step, set.trails[at]);
    }
    known->second = intern(std::move(set));
  }
  return {known->second << 1U | (label.index & 1U)};
}

Label Labels::canonical(Label label) {
  if (!is_traced() || label.is_none()) return label;
  return {intern({sets_[label.index >> 1U].sources, {}}) << 1U | (label.index & 1U)};
}

std::vector<Step> Labels::way_of(Label label, Source source) const {
  const Set& set = sets_[label.index >> 1U];
  const auto found = std::ranges::find(set.sources, source);
  if (found == set.sources.end() || set.trails.empty()) return {};
  std::vector<Step> way;
  std::uint32_t trail = set.trails[static_cast<std::size_t>(found - set.sources.begin())];
  for (; trail != 0; trail = trails_[trail].before) way.push_back(trails_[trail].step);
  std::ranges::reverse(way);
  return way;
}

std::uint32_t Labels::unite(std::uint32_t a, std::uint32_t b, Keep keep) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  auto& known = keep == Keep::Shorter ? joined_ : merged_;
  const std::uint64_t key = (static_cast<std::uint64_t>(a) << 32U) | b;
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const Set& left = sets_[a];
  const Set& right = sets_[b];
  Set both;
  if (left.trails.empty()) {  // the other has none, either
    std::ranges::set_union(left.sources, right.sources, std::back_inserter(both.sources));
  } else {
    for (std::size_t l = 0, r = 0; l < left.sources.size() || r < right.sources.size();) {
      const bool in_left =
          r == right.sources.size() || (l < left.sources.size() && left.sources[l] <= right.sources[r]);
      const bool in_right =
          l == left.sources.size() || (r < right.sources.size() && right.sources[r] <= left.sources[l]);
      const bool is_shorter = in_left && in_right && trails_[right.trails[r]].length < trails_[left.trails[l]].length;
      const bool takes_right = !in_left || (keep == Keep::Shorter && is_shorter);
      both.sources.push_back(in_left ? left.sources[l] : right.sources[r]);
      both.trails.push_back(takes_right ? right.trails[r] : left.trails[l]);
      if (in_left) ++l;
      if (in_right) ++r;
    }
  }
  const std::uint32_t united = intern(std::move(both));
  known.emplace(key, united);
  return united;
}

std::uint32_t Labels::intern(Set set) {
  const auto [found, is_new] = numbers_.try_emplace(std::move(set), static_cast<std::uint32_t>(sets_.size()));
  if (is_new) sets_.push_back(found->first);
  return found->second;
}

std::uint32_t Labels::intern_trail(Source source, const Step& step, std::uint32_t before) {
  // The first way to a place is kept: ways never go round in circles.
  const auto [found, is_new] = trail_numbers_.try_emplace({source, step}, static_cast<std::uint32_t>(trails_.size()));
  if (is_new) trails_.push_back({step, before, trails_[before].length + 1});
  return found->second;
}

}  // namespace tenon::flows
