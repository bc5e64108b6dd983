#include "base/trimmed_stream.h"

#include <algorithm>

namespace tenon {

std::string TrimmedStream::take(std::string_view piece) {
  constexpr std::string_view white = " \t\r\n";
  std::string text = kept_.append(piece);
  kept_.clear();
  if (!has_begun_) text.erase(0, std::min(text.find_first_not_of(white), text.size()));
  const std::size_t last = text.find_last_not_of(white);
  const std::size_t end = last == std::string::npos ? 0 : last + 1;
  kept_ = text.substr(end);
  text.resize(end);
  has_begun_ |= !text.empty();
  return text;
}

}  // namespace tenon
