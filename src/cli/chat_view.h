#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "cli/environment.h"
#include "runtime/listeners.h"

namespace tenon::cli {

/// Shows an answer on a terminal while it is written: that of the agent's turn itself, when it is plain text, since
/// nothing can take such a text back but a further attempt, which is said. Who listens behind it is told of all but
/// that text: there is no progress to show of what is seen.
class ChatView final : public runtime::Listeners {
 public:
  /// `next` outlives it.
  ChatView(runtime::Listener& next, const Environment& environment) : Listeners({&next}), environment_(environment) {}

  /// The turn has ended with this text, which belongs on the output: as much of it as is not there yet is written.
  void finish(std::string_view answer);
  /// The turn has ended without an answer: what was shown of one is void.
  void abandon();

  void on_generation_started(const runtime::EffectPlace& place, std::uint32_t attempt,
                             const inference::GenerationRequest& request, vm::LabelId label) override;
  void on_text(runtime::RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
               std::string_view piece) override;

 private:
  /// What was shown is not the answer.
  void take_back(std::string_view why);

  const Environment& environment_;
  std::string answering_;  ///< the key of the generation that gives the turn's value; empty: none
  std::pair<std::uint32_t, std::uint32_t> attempt_{};
  std::string shown_;
};

}  // namespace tenon::cli
