#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <unordered_map>

#include "journal/store.h"

namespace tenon::runtime {

/// The questions that people were shown last, by run. Only the newest are remembered. Used by the host's thread.
class ShownQuestions {
 public:
  /// `wait`: empty when several were shown, or none.
  void note(const journal::RunName& run, std::string wait);
  /// Empty when none is known.
  [[nodiscard]] std::string find(const journal::RunName& run) const;

 private:
  static constexpr std::size_t runs_max = 10'000;

  std::unordered_map<std::string, std::string> waits_;
  std::deque<std::string> oldest_;
};

}  // namespace tenon::runtime
