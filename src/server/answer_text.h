#pragma once

#include <string>

#include "server/turn_follower.h"

namespace tenon::server {

/// The text of a turn's answer while it comes to be: what of its pieces, as the model writes it, may be shown already,
/// so that what was shown is the beginning of the value, which has no white space around it. A second attempt is held
/// back until the value is there. What the agent emits is shown at once; an agent of blocks answers with all of that,
/// with an empty line between, and any other answer comes behind it.
class AnswerText {
 public:
  /// Of a `text_delta` that is a piece of the answer: what can be shown more.
  [[nodiscard]] std::string take(const nlohmann::json& delta);
  /// What an agent has said before its turn's end: what can be shown more.
  [[nodiscard]] std::string emit(const std::string& text);
  /// What of the value has not been shown; nothing when something else was.
  [[nodiscard]] std::optional<std::string> finish(const std::string& value) const;
  [[nodiscard]] bool has_shown() const { return has_emitted_ || has_pieces_; }

 private:
  std::string generation_;
  std::string shown_;
  bool has_emitted_ = false;
  bool has_pieces_ = false;
  std::string held_;  ///< white space that may be the end
  std::uint64_t next_offset_ = 0;
  bool is_void_ = false;
};

}  // namespace tenon::server
