#include "inference/llama_cpp/text_assembler.h"

#include <utf8.h>

#include <cstddef>
#include <iterator>

namespace tenon::inference::llama_cpp {
namespace {

/// How many bytes at the end are the beginning of a character whose other bytes may still come.
std::size_t measure_begun_character(std::string_view bytes) {
  for (std::size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if ((byte & 0xC0U) == 0x80U) continue;  // a continuation: look further back for its head
    const std::size_t length = byte >= 0xF0U ? 4 : byte >= 0xE0U ? 3 : byte >= 0xC0U ? 2 : 1;
    return byte < 0xF8U && length > back ? back : 0;
  }
  return 0;
}

std::string replace_unsound(std::string_view bytes) {
  std::string text;
  utf8::replace_invalid(bytes.begin(), bytes.end(), std::back_inserter(text));
  return text;
}

}  // namespace

std::string TextAssembler::append(std::string_view bytes) {
  begun_ += bytes;
  const std::size_t kept = measure_begun_character(begun_);
  const std::string text = replace_unsound(std::string_view(begun_).substr(0, begun_.size() - kept));
  begun_.erase(0, begun_.size() - kept);
  return text;
}

std::string TextAssembler::finish() {
  const std::string text = begun_.empty() ? "" : "\xEF\xBF\xBD";
  begun_.clear();
  return text;
}

}  // namespace tenon::inference::llama_cpp
