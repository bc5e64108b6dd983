#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/trimmed_stream.h"
#include "cli/environment.h"
#include "runtime/listeners.h"

namespace tenon::cli {

/// Shows the texts of an agent's turn: each text that it emits, with an empty line between them, and its answer. On a
/// terminal, an answer that a model gives in plain text is shown while it is written, since only another attempt can
/// replace it, and that is reported. The next listener receives all events except the pieces of a text that is shown
/// this way, so that it shows no progress for it.
class ChatView final : public runtime::Listeners {
 public:
  enum class Pieces : bool { Hidden, Shown };
  /// `next` outlives it.
  ChatView(runtime::Listener& next, const Environment& environment, Pieces pieces)
      : Listeners({&next}), environment_(environment), pieces_(pieces) {}

  /// The turn has ended with this text: writes the part of it that is not on stdout yet.
  void finish(std::string_view answer);
  /// The turn has ended without a text: marks what was shown of one as void. Emitted texts remain valid.
  void abandon();

  [[nodiscard]] runtime::ReadRecords reads_records() const override {
    return std::max(Listeners::reads_records(), runtime::ReadRecords::Emitted);
  }
  void on_recorded(const runtime::RecordBatch& batch) override;
  void on_generation_started(const runtime::SentGeneration& generation) override;
  void on_text(runtime::RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
               std::string_view piece) override;

 private:
  void show_emitted(const std::string& agent, const std::string& text);
  /// Marks what was shown as void.
  void retract(std::string_view reason);
  void reset();
  /// An empty line, where a text was shown before.
  void separate();

  const Environment& environment_;
  Pieces pieces_;
  std::optional<std::string> emitted_;  ///< all texts of this turn by the agent `emitter_`
  std::string emitter_;
  /// The texts of agents that handed the turn off before. They are not part of the answer.
  std::vector<std::string> emitted_before_;
  std::string answering_;  ///< the key of the generation whose text is shown; empty: none
  std::pair<std::uint32_t, std::uint32_t> attempt_{};
  TrimmedStream answer_;
  std::string shown_;  ///< of the text that is being written, after the emitted ones
};

}  // namespace tenon::cli
