#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "types/checked_program.h"

namespace tenon::types {

/// The variables in scope, innermost last. The last few are compared one by one, those before them are found by hash.
class NamesInScope {
 public:
  using Entry = std::pair<std::string_view, LocalId>;

  void add(std::string_view name, LocalId local) {
    entries_.emplace_back(name, local);
    if (entries_.size() - hidden_.size() <= few_) return;
    for (std::size_t at = hidden_.size(); at < entries_.size(); ++at) {
      const auto [known, is_new] = positions_.emplace(entries_[at].first, at);
      hidden_.push_back(is_new ? none_ : std::exchange(known->second, at));
    }
  }

  /// The innermost variable of that name.
  [[nodiscard]] std::optional<LocalId> find(std::string_view name) const {
    for (std::size_t at = entries_.size(); at-- > hidden_.size();) {
      if (entries_[at].first == name) return entries_[at].second;
    }
    if (hidden_.empty()) return std::nullopt;
    const auto found = positions_.find(name);
    return found == positions_.end() ? std::nullopt : std::optional(entries_[found->second].second);
  }

  /// Leaves the first `size` variables in scope.
  void shrink(std::size_t size) {
    for (; hidden_.size() > size; hidden_.pop_back()) {
      const auto known = positions_.find(entries_[hidden_.size() - 1].first);
      if (hidden_.back() == none_) {
        positions_.erase(known);
      } else {
        known->second = hidden_.back();
      }
    }
    entries_.resize(size);
  }

  /// Whether a variable in scope is one of the first `size`. Variables have their numbers in the order of the scope.
  [[nodiscard]] bool is_among_first(std::size_t size, LocalId local) const {
    return size > 0 && local.index <= entries_[size - 1].second.index;
  }

  [[nodiscard]] const std::vector<Entry>& all() const { return entries_; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  static constexpr std::size_t few_ = 32;
  static constexpr std::size_t none_ = SIZE_MAX;
  std::vector<Entry> entries_;
  std::unordered_map<std::string_view, std::size_t> positions_;  ///< of the first `hidden_.size()` entries
  std::vector<std::size_t> hidden_;  ///< by entry: the one of the same name that it hides, or `none_`
};

}  // namespace tenon::types
