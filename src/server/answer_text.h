#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/trimmed_stream.h"
#include "json/json.h"
#include "server/turn_follower.h"

namespace tenon::server {

/// The text of a turn while it is written: decides how much of the model's pieces can be shown, so that what was shown
/// is always the beginning of the final text, which has no white space around it. A second attempt is held back until
/// it is complete. Texts are separated by an empty line. What the agent emits is shown at once, or completes pieces
/// that were shown. An agent of blocks answers with everything that it has emitted; any other answer follows that. What
/// an agent emitted before it handed the turn off is not part of the answer.
class AnswerText {
 public:
  /// Takes a `text_delta` of the answer. Returns what can be shown in addition.
  [[nodiscard]] std::string take(const Json& delta);
  /// Takes what `agent` emitted. Returns what can be shown in addition; nothing when something else was shown of it.
  [[nodiscard]] std::optional<std::string> emit(const std::string& text, std::string_view agent);
  /// Returns the part of the value that was not shown; nothing when something else was shown.
  [[nodiscard]] std::optional<std::string> finish(const std::string& value) const;
  [[nodiscard]] bool has_shown() const { return !shown_.empty(); }
  /// Whether pieces were shown of a text that is not complete.
  [[nodiscard]] bool has_begun_text() const { return !begun().empty(); }

 private:
  [[nodiscard]] std::string_view begun() const {
    return is_open_ ? std::string_view(shown_).substr(begin_) : std::string_view();
  }

  std::string shown_;
  bool has_emitted_ = false;
  std::string emitter_;                      ///< the agent that emitted the newest text
  std::size_t own_begin_ = 0;                ///< where that agent's texts begin in `shown_`
  std::vector<std::string> emitted_before_;  ///< by other agents in the same turn, all of each
  bool is_open_ = false;                     ///< pieces of an incomplete text have come
  std::size_t begin_ = 0;                    ///< where that text begins in `shown_`
  std::string generation_;                   ///< that writes it
  TrimmedStream pieces_;
  std::uint64_t next_offset_ = 0;
  bool is_void_ = false;  ///< no more of it is shown
};

}  // namespace tenon::server
