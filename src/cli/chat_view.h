#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/trimmed_stream.h"
#include "cli/environment.h"
#include "runtime/listeners.h"

namespace tenon::cli {

/// Shows what an agent says as it says it: each text that it emits, with an empty line between them, and the answer of
/// its turn; where somebody looks on, while it is written, when it is what a model answers in plain text, since nothing
/// can take such a text back but a further attempt, which is said. Who listens behind it is told of all but the text of
/// that: there is no progress to show of what is seen.
class ChatView final : public runtime::Listeners {
 public:
  enum class Pieces : bool { Hidden, Shown };
  /// `next` outlives it.
  ChatView(runtime::Listener& next, const Environment& environment, Pieces pieces)
      : Listeners({&next}), environment_(environment), pieces_(pieces) {}

  /// The turn has ended with this text, which belongs on the output: as much of it as is not there yet is written.
  void finish(std::string_view answer);
  /// The turn has ended without a text: what was shown of one is void. What was emitted stays.
  void abandon();

  void on_generation_started(const runtime::EffectPlace& place, std::uint32_t attempt,
                             const inference::GenerationRequest& request, vm::LabelId label) override;
  void on_text(runtime::RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
               std::string_view piece) override;
  void on_program_event(runtime::RunId run, const runtime::ProgramEvent& notice) override;

 private:
  /// What was shown is not the answer.
  void take_back(std::string_view why);
  void reset();
  /// An empty line, where a text was shown before.
  void separate();

  const Environment& environment_;
  Pieces pieces_;
  std::optional<std::string> emitted_;  ///< in this turn, all that the agent `emitter_` has emitted
  std::string emitter_;
  /// What others have emitted before it in this turn: agents that handed the turn off. It is not part of the answer.
  std::vector<std::string> emitted_before_;
  std::string answering_;  ///< the key of the generation that writes what is said; empty: none
  std::pair<std::uint32_t, std::uint32_t> attempt_{};
  TrimmedStream answer_;
  std::string shown_;  ///< of what is being written, behind what was emitted
};

}  // namespace tenon::cli
