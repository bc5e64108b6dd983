#pragma once

#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace tenon::runtime {

/// What is to be done with the store in groups: what comes while a group is in progress forms the next one.
template <class Item>
class WaitingGroup {
 public:
  using Group = std::shared_ptr<const std::vector<Item>>;
  /// `most`: of a group.
  explicit WaitingGroup(std::size_t most = std::numeric_limits<std::size_t>::max()) : most_(most) {}

  void add(Item item) { waiting_.push_back(std::move(item)); }
  /// The oldest items, which are in progress until `finish`; null if there are none, or others are in progress.
  [[nodiscard]] Group start() {
    if (is_in_progress_ || waiting_.empty()) return nullptr;
    is_in_progress_ = true;
    if (waiting_.size() <= most_) return std::make_shared<const std::vector<Item>>(take());
    const auto rest = waiting_.begin() + static_cast<std::ptrdiff_t>(most_);
    auto group = std::make_shared<const std::vector<Item>>(std::make_move_iterator(waiting_.begin()),
                                                           std::make_move_iterator(rest));
    waiting_.erase(waiting_.begin(), rest);
    return group;
  }
  /// All that waits, which is in no group then.
  [[nodiscard]] std::vector<Item> take() { return std::exchange(waiting_, {}); }
  void finish() { is_in_progress_ = false; }

 private:
  const std::size_t most_;
  std::vector<Item> waiting_;
  bool is_in_progress_ = false;
};

}  // namespace tenon::runtime
