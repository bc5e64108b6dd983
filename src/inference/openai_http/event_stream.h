#pragma once

#include <string>
#include <string_view>

namespace tenon::inference {

/// Server-sent events (WHATWG HTML, 9.2) out of bytes that come in any pieces. Only the data of events is kept:
/// comments, names, ids and retry hints are passed over. An event that the stream ends within is not one.
class EventStream {
 public:
  /// Takes in `bytes` and calls `on_data(std::string_view)` with the data of each event that ends in them.
  template <class OnData>
  void append(std::string_view bytes, OnData&& on_data) {
    while (!bytes.empty()) {
      if (const std::string_view event = take_event(bytes); event.data() != nullptr) on_data(event);
    }
  }

  /// Bytes that are held until their line or event is complete.
  [[nodiscard]] std::size_t held_bytes() const { return line_.size() + data_.size(); }

 private:
  /// Consumes from `bytes` up to the end of an event, whose data it returns, or all of them. The view is good until the
  /// next call.
  [[nodiscard]] std::string_view take_event(std::string_view& bytes);
  void take_line(std::string_view line);

  enum class LineBreak : bool { None, CarriageReturn };

  std::string line_;   ///< the beginning of a line whose end has not come
  std::string data_;   ///< the event's data lines so far, each with a newline
  std::string event_;  ///< the data of the event that was returned last
  bool at_stream_begin_ = true;
  LineBreak last_byte_ = LineBreak::None;
};

}  // namespace tenon::inference
