#pragma once

#include <string>

#include "server/turn_follower.h"

namespace tenon::server {

/// The text of a turn's answer while the model writes it: what of its pieces may be shown already, so that what was
/// shown is the beginning of the value, which has no white space around it. A second attempt is held back until the
/// value is there.
class AnswerText {
 public:
  /// Of a `text_delta` that is a piece of the answer: what can be shown more.
  [[nodiscard]] std::string take(const nlohmann::json& delta);
  /// What of the value has not been shown; nothing when something else was.
  [[nodiscard]] std::optional<std::string> finish(const std::string& value) const;
  [[nodiscard]] bool has_shown() const { return !shown_.empty(); }

 private:
  std::string generation_;
  std::string shown_;
  std::string held_;  ///< white space that may be the end
  std::uint64_t next_offset_ = 0;
  bool is_void_ = false;
};

}  // namespace tenon::server
