#include "inference/openai_http/streamed_reply.h"

#include <fmt/format.h>

#include <utility>

#include "base/utf8.h"

namespace tenon::inference {

void StreamedReply::append(std::string_view bytes) {
  if (bytes.empty()) return;
  if (shape_ == Shape::Unknown) {
    begin_ += bytes;
    bytes = begin_;
    if (bytes.starts_with(byte_order_mark)) bytes.remove_prefix(byte_order_mark.size());
    const std::size_t first = bytes.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || byte_order_mark.starts_with(begin_)) return;
    shape_ = bytes[first] == '{' ? Shape::Document : Shape::Events;
    bytes = begin_;
  }
  if (shape_ == Shape::Document) {
    document_ += bytes;
    return;
  }
  events_.append(bytes, [this](std::string_view data) {
    if (has_ended_ || data.empty()) return;
    if (data == "[DONE]") {
      has_ended_ = true;
    } else if (read_chat_json(data, reply_) == ReplySyntax::NotJson) {
      is_broken_ = true;
    }
  });
}

std::string StreamedReply::take_piece() {
  std::string piece = reply_.content.substr(taken_size_);
  if (ends_with_high_surrogate(piece)) piece.resize(piece.size() - 3);  // until its other half comes
  taken_size_ += piece.size();
  return thoughts_ == Thoughts::Separate && !piece.empty() ? filter_.add(piece) : piece;
}

std::variant<ChatReply, ReplyFault> StreamedReply::finish() {
  if (shape_ == Shape::Document) {
    if (read_chat_json(document_, reply_) == ReplySyntax::NotJson) return fault_of_document(document_);
    return std::move(reply_);
  }
  if (reply_.error) {
    reply_.choices = 0;  // an error voids what came before it
    return std::move(reply_);
  }
  if (is_broken_) return ReplyFault{ModelErrorKind::BadReply, "an event of the reply is not JSON", Retry::Never};
  if (!has_ended_ && reply_.finish_reason.empty()) {
    return ReplyFault{ModelErrorKind::Unreachable, "the reply's stream ended before the answer did", Retry::Worthwhile};
  }
  return std::move(reply_);
}

}  // namespace tenon::inference
