#pragma once

#include <cstdint>
#include <map>
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
  bool is_answer = false;   ///< a piece of what the run says (vm/execution/streamed_output.h)
  std::uint32_t depth = 0;  ///< agents above the one whose answer it is
};

/// The answers that are being streamed to a host's runs, piece by piece. Used only on the host's thread.
class TextPieces {
 public:
  /// Whose answer a generation is.
  struct Author {
    std::string agent;
    bool is_answer = false;
    std::uint32_t depth = 0;
  };
  void begin(RunId run, std::string_view key, Author author);
  /// Calls `receive(agent, progress)` with the piece's place in the answer.
  template <class Receive>
  void add(RunId run, std::string_view key, std::pair<std::uint32_t, std::uint32_t> attempt, std::string_view piece,
           const Receive& receive) {
    const Writing& writing = advance(run, key, attempt);
    receive(std::string_view(writing.author.agent), TextProgress{key, writing.attempts - 1, writing.bytes, piece,
                                                                 writing.author.is_answer, writing.author.depth});
    find(run, key).bytes += piece.size();
  }
  /// The generation has an outcome.
  void end(RunId run, const std::string& key) { writing_.erase({run, key}); }
  /// The run has ended or leaves the memory.
  void end(RunId run);

 private:
  struct Writing {
    Author author;
    std::uint32_t attempts = 0;  ///< begun
    std::pair<std::uint32_t, std::uint32_t> newest{};
    std::uint64_t bytes = 0;  ///< of the newest attempt
  };
  Writing& find(RunId run, std::string_view key) { return writing_[{run, std::string(key)}]; }
  const Writing& advance(RunId run, std::string_view key, std::pair<std::uint32_t, std::uint32_t> attempt);

  std::map<std::pair<RunId, std::string>, Writing> writing_;  ///< by generation
};

}  // namespace tenon::runtime
