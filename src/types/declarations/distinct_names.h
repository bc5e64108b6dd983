#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tenon::types {

/// Names in the order in which they are added, to find the ones that occur twice. They must outlive it. Few names are
/// compared one by one, many are found by hash.
class DistinctNames {
 public:
  /// The position of the first addition of that name: a new one if there was none.
  std::size_t add(std::string_view name) {
    if (names_.size() <= few_) {
      for (std::size_t at = 0; at < names_.size(); ++at) {
        if (names_[at] == name) return at;
      }
      names_.push_back(name);
      if (names_.size() <= few_) return names_.size() - 1;
      for (std::size_t at = 0; at < names_.size(); ++at) positions_.emplace(names_[at], at);
      return names_.size() - 1;
    }
    const auto [found, added] = positions_.emplace(name, names_.size());
    if (added) names_.push_back(name);
    return found->second;
  }
  /// How many different names were added.
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  static constexpr std::size_t few_ = 16;
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::size_t> positions_;
};

/// Whether `name` is added for the first time.
[[nodiscard]] inline bool add_new(DistinctNames& names, std::string_view name) {
  const std::size_t before = names.size();
  return names.add(name) == before;
}

}  // namespace tenon::types
