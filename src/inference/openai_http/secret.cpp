#include "inference/openai_http/secret.h"

namespace tenon::inference {

std::string Secret::scrub(std::string text) const {
  static constexpr std::string_view replacement = "[key]";
  if (text_.size() < scrubbed_length_min) return text;
  for (std::size_t at = text.find(text_); at != std::string::npos; at = text.find(text_, at + replacement.size())) {
    text.replace(at, text_.size(), replacement);
  }
  return text;
}

}  // namespace tenon::inference
