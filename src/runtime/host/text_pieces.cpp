#include "runtime/host/text_pieces.h"

#include "json/reader.h"

namespace tenon::runtime {

std::string encode(const TextProgress& text) {
  return Json::object({{"generation", text.generation},
                       {"attempt", text.attempt},
                       {"offset", text.offset},
                       {"piece", text.piece},
                       {"is_answer", text.is_answer},
                       {"agent", text.author.agent},
                       {"depth", text.author.depth}})
      .dump();
}

std::optional<ReceivedText> decode_text(std::string_view message) {
  const auto json = parse_json(message);
  if (!json || json->text_or("generation", "").empty()) return std::nullopt;
  ReceivedText text{.generation = json->text_or("generation", ""),
                    .piece = json->text_or("piece", ""),
                    .attempt = static_cast<std::uint32_t>(json->count_or("attempt", 0)),
                    .offset = json->count_or("offset", 0),
                    .is_answer = json->boolean_or("is_answer", false),
                    .author = {}};
  text.author = effects::AgentScope(json->text_or("agent", ""), static_cast<std::uint32_t>(json->count_or("depth", 0)));
  return text;
}

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
    writing.text.clear();
  }
  return writing;
}

void TextPieces::end(RunId run) {
  writing_.erase(writing_.lower_bound({run, ""}), writing_.lower_bound({RunId{run.index + 1}, ""}));
}

}  // namespace tenon::runtime
