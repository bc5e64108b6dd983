#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "cli/environment.h"
#include "runtime/events.h"

namespace tenon::cli {

/// Shows an answer on a terminal while it is written: that of the agent's turn itself, when it is plain text, since
/// nothing can take such a text back but a further attempt, which is said. Whoever else listens is told as before.
class ChatView final : public runtime::Listener {
 public:
  /// `next` outlives it.
  ChatView(runtime::Listener& next, const Environment& environment) : next_(next), environment_(environment) {}

  /// The turn has ended with this text, which belongs on the output: as much of it as is not there yet is written.
  void finish(std::string_view answer);
  /// The turn has ended without an answer: what was shown of one is void.
  void abandon();

  void on_generation_started(const runtime::EffectPlace& place, std::uint32_t attempt,
                             const inference::GenerationRequest& request, vm::LabelId label) override;
  void on_text(runtime::RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
               std::string_view piece) override;
  void on_generation_finished(const runtime::EffectPlace& place, std::uint32_t attempt,
                              const inference::GenerationOutcome& outcome) override;
  void on_extern_called(const runtime::EffectPlace& place, std::uint32_t index, std::span<const vm::Value> arguments,
                        vm::LabelId label) override;
  void on_extern_returned(const runtime::EffectPlace& place, std::uint32_t index, const vm::Value& value,
                          std::string_view failure) override;
  void on_run_ended(runtime::RunId run, const vm::Machine* machine, const runtime::RunEnd& end) override;
  void on_turn_ended(runtime::RunId run, const runtime::TurnOutcome& outcome) override;
  void on_recorded(runtime::RunId run, std::uint64_t first, std::span<const effects::Record> records) override;

 private:
  /// What was shown is not the answer.
  void take_back(std::string_view why);

  runtime::Listener& next_;
  const Environment& environment_;
  std::string answering_;  ///< the key of the generation that gives the turn's value; empty: none
  std::pair<std::uint32_t, std::uint32_t> attempt_{};
  std::string shown_;
};

}  // namespace tenon::cli
