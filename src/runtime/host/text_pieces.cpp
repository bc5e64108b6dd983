#include "runtime/host/text_pieces.h"

namespace tenon::runtime {

void TextPieces::begin(RunId run, std::string_view key, Author author) {
  find(run, key).author = std::move(author);
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
