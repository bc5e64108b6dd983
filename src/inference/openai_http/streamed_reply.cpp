#include "inference/openai_http/streamed_reply.h"

#include <fmt/format.h>

#include <utility>

namespace tenon::inference {

void StreamedReply::append(std::string_view bytes) {
  if (bytes.empty()) return;
  if (shape_ == Shape::Unknown) shape_ = bytes.front() == '{' ? Shape::Document : Shape::Events;
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
  taken_size_ = reply_.content.size();
  return piece;
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
