#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/events.h"

namespace tenon::runtime {

/// A provisional piece of an answer.
struct TextProgress {
  std::string_view generation;  ///< the request's key
  std::uint32_t attempt = 0;    ///< counts from 0 within the generation; a higher one voids those before
  std::uint64_t offset = 0;     ///< bytes of the attempt before it
  std::string_view piece;
  bool is_answer = false;          ///< a piece of what the run says (vm/execution/streamed_output.h)
  effects::AgentScopeView author;  ///< the run's title stands for no agent
};

/// A piece as another process receives it from the run's owner.
struct ReceivedText {
  std::string generation, piece;
  std::uint32_t attempt = 0;
  std::uint64_t offset = 0;
  bool is_answer = false;
  effects::AgentScope author;

  /// Views, valid as long as this is.
  [[nodiscard]] TextProgress view() const { return {generation, attempt, offset, piece, is_answer, author.view()}; }
};
/// JSON, for journal::Wakeups::publish.
[[nodiscard]] std::string encode(const TextProgress& text);
/// Nothing if it is not such a message.
[[nodiscard]] std::optional<ReceivedText> decode_text(std::string_view message);

/// The answers that are being streamed to a runtime's runs, piece by piece. Used only on the runtime's thread.
class TextPieces {
 public:
  /// The generation's answer follows. `title`: of the run, the author outside of agents.
  void begin(const SentGeneration& generation, std::string_view title);
  /// Calls `receive(progress)` with the piece's place in the answer.
  template <class Receive>
  void add(RunId run, std::string_view key, std::pair<std::uint32_t, std::uint32_t> attempt, std::string_view piece,
           const Receive& receive) {
    const Writing& writing = advance(run, key, attempt);
    receive(TextProgress{key, writing.attempts - 1, writing.bytes, piece, writing.is_answer, writing.author.view()});
    find(run, key).add(piece);
  }
  /// Calls `receive(progress)` with all that was written so far of each answer of the run that is being written.
  template <class Receive>
  void repeat(RunId run, const Receive& receive) const {
    for (auto at = writing_.lower_bound({run, ""}); at != writing_.end() && at->first.first == run; ++at) {
      const Writing& writing = at->second;
      if (writing.attempts == 0 || writing.text.empty()) continue;
      receive(TextProgress{at->first.second, writing.attempts - 1, 0, writing.text, writing.is_answer,
                           writing.author.view()});
    }
  }
  /// The generation has an outcome.
  void end(RunId run, const std::string& key) { writing_.erase({run, key}); }
  /// The run has ended or leaves the memory.
  void end(RunId run);

 private:
  /// Of an answer that is longer, those who come later see nothing until it is complete.
  static constexpr std::size_t repeated_bytes_max = std::size_t{256} << 10U;

  struct Writing {
    void add(std::string_view piece) {
      bytes += piece.size();
      if (bytes <= repeated_bytes_max) {
        text += piece;
      } else {
        text = {};
      }
    }

    effects::AgentScope author;
    bool is_answer = false;
    std::uint32_t attempts = 0;  ///< begun
    std::pair<std::uint32_t, std::uint32_t> newest{};
    std::uint64_t bytes = 0;  ///< of the newest attempt
    std::string text;         ///< of the newest attempt; empty when it is longer than `repeated_bytes_max`
  };
  Writing& find(RunId run, std::string_view key) { return writing_[{run, std::string(key)}]; }
  const Writing& advance(RunId run, std::string_view key, std::pair<std::uint32_t, std::uint32_t> attempt);

  std::map<std::pair<RunId, std::string>, Writing> writing_;  ///< by generation
};

}  // namespace tenon::runtime
