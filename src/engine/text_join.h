#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "runtime/host/text_pieces.h"

namespace tenon::engine {

/// Makes one text of the pieces of each answer, in the order in which they come: also when following begins in the
/// middle and what was written before is repeated, and when another process continues the run and writes once more.
class TextJoin {
 public:
  /// Returns what is new of the piece; nothing while a part before it is missing. `attempt`: counts from 0 how often
  /// the answer has begun again since it was followed. The views are valid until the next call.
  [[nodiscard]] std::optional<runtime::TextProgress> take(const runtime::TextProgress& text);

 private:
  struct Writing {
    std::uint32_t owners_attempt = 0;  ///< each owner counts from 0
    std::uint32_t attempt = 0;
    std::uint64_t end = 0;  ///< the offset after the newest piece
    std::string text;       ///< the beginning, up to `compared_bytes_max`
  };
  static void begin_again(Writing& writing);

  std::map<std::string, Writing, std::less<>> writing_;  ///< by generation
};

}  // namespace tenon::engine
