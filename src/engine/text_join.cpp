#include "engine/text_join.h"

#include <algorithm>
#include <string_view>

namespace tenon::engine {
namespace {

/// Generations of a run that are remembered, in case they are streamed again.
constexpr std::size_t generations_max = 256;
/// Of each, what is compared with a text that is written once more. As much as a process repeats.
constexpr std::size_t compared_bytes_max = std::size_t{256} << 10U;

}  // namespace

void TextJoin::begin_again(Writing& writing) {
  ++writing.attempt;
  writing.end = 0;
  writing.text.clear();
}

std::optional<runtime::TextProgress> TextJoin::take(const runtime::TextProgress& text) {
  auto found = writing_.find(text.generation);
  if (found == writing_.end()) {
    if (writing_.size() >= generations_max) writing_.clear();
    found = writing_.emplace(std::string(text.generation), Writing{text.attempt, 0, 0, {}}).first;
  }
  Writing& writing = found->second;
  if (text.attempt != writing.owners_attempt) begin_again(writing);
  writing.owners_attempt = text.attempt;
  std::string_view piece = text.piece;
  if (text.offset < writing.end) {
    const std::string_view known =
        std::string_view(writing.text).substr(std::min<std::size_t>(text.offset, writing.text.size()));
    const std::size_t size = std::min<std::size_t>(piece.size(), writing.end - text.offset);
    // A process that has taken the run over writes another text, or the same once more.
    if (known.substr(0, size) == piece.substr(0, size)) {
      piece.remove_prefix(size);
    } else {
      begin_again(writing);
    }
  }
  const std::uint64_t offset = text.offset + (text.piece.size() - piece.size());
  if (offset != writing.end || piece.empty()) return std::nullopt;
  writing.end += piece.size();
  const std::size_t room = compared_bytes_max - writing.text.size();
  writing.text += piece.substr(0, room);
  runtime::TextProgress progress = text;
  progress.attempt = writing.attempt;
  progress.offset = offset;
  progress.piece = piece;
  return progress;
}

}  // namespace tenon::engine
