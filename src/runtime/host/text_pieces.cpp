#include "runtime/host/text_pieces.h"

namespace tenon::runtime {

void TextPieces::begin(const SentGeneration& generation, std::string_view title) {
  const PerformedEffect& effect = generation.effect;
  Writing& writing = find(effect.run, effect.key);
  writing.author = effects::AgentScope(effect.scope);
  if (effect.scope.agent.empty()) writing.author.agent = title;
  writing.is_answer = generation.is_streamed_output;
}

const TextPieces::Writing& TextPieces::advance(RunId run, std::string_view key,
                                               std::pair<std::uint32_t, std::uint32_t> attempt) {
  Writing& writing = find(run, key);
  if (writing.attempts == 0 || writing.newest != attempt) {
    ++writing.attempts;
    writing.newest = attempt;
    writing.bytes = 0;
  }
  return writing;
}

void TextPieces::end(RunId run) {
  writing_.erase(writing_.lower_bound({run, ""}), writing_.lower_bound({RunId{run.index + 1}, ""}));
}

}  // namespace tenon::runtime
