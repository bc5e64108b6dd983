#include "flows/state.h"

#include <algorithm>

namespace tenon::flows {
namespace {

/// A region that is open on one of two ways only is not certain.
std::vector<OpenRegion> merge_regions(const std::vector<OpenRegion>& a, const std::vector<OpenRegion>& b,
                                      Labels& labels) {
  std::vector<OpenRegion> merged;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    if (right == b.end() || (left != a.end() && left->decision < right->decision)) {
      merged.push_back({left->decision, left->label.possible()});
      ++left;
    } else if (left == a.end() || right->decision < left->decision) {
      merged.push_back({right->decision, right->label.possible()});
      ++right;
    } else {
      merged.push_back({left->decision, labels.merge(left->label, right->label)});
      ++left;
      ++right;
    }
  }
  return merged;
}

}  // namespace

bool merge_into(FrameState& state, const FrameState& other, Labels& labels, Values& values) {
  bool is_changed = false;
  const auto put = [&](auto& place, auto merged) {
    if (place == merged) return;
    place = std::move(merged);
    is_changed = true;
  };
  for (std::size_t at = 0; at < state.registers.size(); ++at) {
    if (state.registers[at] != other.registers[at]) {
      put(state.registers[at], values.merge(state.registers[at], other.registers[at]));
    }
  }
  if (state.regions != other.regions) put(state.regions, merge_regions(state.regions, other.regions, labels));
  if (state.budgets.size() < other.budgets.size()) {
    state.budgets.resize(other.budgets.size());
    is_changed = true;
  }
  for (std::size_t at = 0; at < other.budgets.size(); ++at) {
    put(state.budgets[at], labels.merge(state.budgets[at], other.budgets[at]).possible());
  }
  put(state.spent, labels.join(state.spent, other.spent));
  put(state.agent_state, values.merge(state.agent_state, other.agent_state));
  put(state.kept_states, values.merge(state.kept_states, other.kept_states));
  return is_changed;
}

}  // namespace tenon::flows
