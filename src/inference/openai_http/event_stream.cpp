#include "inference/openai_http/event_stream.h"

#include <utility>

#include "base/utf8.h"

namespace tenon::inference {

std::string_view EventStream::take_event(std::string_view& bytes) {
  while (!bytes.empty()) {
    if (last_byte_ == LineBreak::CarriageReturn) {
      last_byte_ = LineBreak::None;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    if (end == std::string_view::npos) {
      line_ += bytes;
      bytes = {};
      return {};
    }
    if (bytes[end] == '\r') last_byte_ = LineBreak::CarriageReturn;
    std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    if (!line_.empty()) {
      line_ += line;
      line = line_;
    }
    const bool ends_event = line.empty();
    if (!ends_event) take_line(line);
    line_.clear();
    if (ends_event && !data_.empty()) {
      event_.swap(data_);
      data_.clear();
      return std::string_view(event_).substr(0, event_.size() - 1);
    }
  }
  return {};
}

void EventStream::take_line(std::string_view line) {
  static constexpr std::string_view field = "data";
  if (std::exchange(at_stream_begin_, false) && line.starts_with(byte_order_mark)) {
    line.remove_prefix(byte_order_mark.size());
  }
  if (!line.starts_with(field)) return;
  line.remove_prefix(field.size());
  if (!line.empty()) {
    if (line.front() != ':') return;
    line.remove_prefix(1);
    if (line.starts_with(' ')) line.remove_prefix(1);
  }
  data_ += line;
  data_ += '\n';
}

}  // namespace tenon::inference
