#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "inference/openai_http/chat_reply.h"
#include "inference/openai_http/event_stream.h"
#include "inference/openai_http/reply_outcome.h"
#include "inference/thoughts.h"

namespace tenon::inference {

/// A chat completion that comes in pieces: an event stream, or one JSON document where the server does not stream
/// though it was asked to.
class StreamedReply {
 public:
  explicit StreamedReply(Thoughts thoughts = Thoughts::Separate) : thoughts_(thoughts) {}

  /// Takes in the next bytes of the reply's body.
  void append(std::string_view bytes);

  /// The content that came since the last call, without thoughts unless they are kept.
  [[nodiscard]] std::string take_piece();
  /// Whether `data: [DONE]` has come: what the connection does after it does not matter.
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  /// What the reply says, now that no more will come; with its error alone where one came. A stream that broke off is
  /// worth another attempt.
  [[nodiscard]] std::variant<ChatReply, ReplyFault> finish();

 private:
  enum class Shape : std::uint8_t { Unknown, Events, Document };

  Shape shape_ = Shape::Unknown;
  Thoughts thoughts_;
  ThoughtFilter filter_;
  std::string begin_;  ///< while the shape is unknown: a byte order mark and white space
  std::string document_;
  EventStream events_;
  ChatReply reply_;
  std::size_t taken_size_ = 0;  ///< of the content
  bool has_ended_ = false;
  bool is_broken_ = false;  ///< an event's data was not JSON
};

}  // namespace tenon::inference
