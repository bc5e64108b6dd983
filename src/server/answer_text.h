#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/trimmed_stream.h"
#include "server/turn_follower.h"

namespace tenon::server {

/// What a turn says while it comes to be: of the pieces that the model writes, what may be shown already, so that what
/// was shown is the beginning of what is said, which has no white space around it. A second attempt is held back until
/// the whole is there. Between two texts stands an empty line. What the agent emits is said at once, or is what pieces
/// were shown of; an agent of blocks answers with all of that, and any other answer comes behind it.
class AnswerText {
 public:
  /// Of a `text_delta` that is a piece of what will be said: what can be shown more.
  [[nodiscard]] std::string take(const nlohmann::json& delta);
  /// What an agent has said before its turn's end: what can be shown more; nothing when something else was shown of it.
  [[nodiscard]] std::optional<std::string> emit(const std::string& text);
  /// What of the value has not been shown; nothing when something else was.
  [[nodiscard]] std::optional<std::string> finish(const std::string& value) const;
  [[nodiscard]] bool has_shown() const { return !shown_.empty(); }
  /// Pieces were shown of a text that is not whole yet.
  [[nodiscard]] bool has_begun_text() const { return !begun().empty(); }

 private:
  [[nodiscard]] std::string_view begun() const {
    return is_open_ ? std::string_view(shown_).substr(begin_) : std::string_view();
  }

  std::string shown_;
  bool is_open_ = false;    ///< pieces have come of a text that is not said yet
  std::size_t begin_ = 0;   ///< where that text begins in `shown_`
  std::string generation_;  ///< what writes it
  TrimmedStream pieces_;
  std::uint64_t next_offset_ = 0;
  bool is_void_ = false;  ///< no more of it is shown
};

}  // namespace tenon::server
