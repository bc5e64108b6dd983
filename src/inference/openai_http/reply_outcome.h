#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "inference/model.h"
#include "inference/openai_http/chat_reply.h"
#include "inference/openai_http/request_fields.h"

namespace tenon::inference {

/// Whether sending the same request again may help.
enum class Retry : bool { Never, Worthwhile };

struct ReplyFault {
  ModelErrorKind kind = ModelErrorKind::BadReply;
  std::string message;  ///< for people
  Retry retry = Retry::Never;
  std::string detail = {};  ///< what the message leaves out: addresses and times
  /// A content filter has stopped the prompt: the model refuses, and `kind` does not count.
  bool is_refusal = false;
};

/// What an HTTP status other than 2xx says, with the server's own words out of `body`.
[[nodiscard]] ReplyFault fault_of_status(int status, std::string_view body, std::string_view location);

/// Whether the text of an error says that the roles of messages must alternate.
[[nodiscard]] bool requires_alternation(std::string_view body);

/// What a reply of status 200 says that is not JSON.
[[nodiscard]] ReplyFault fault_of_document(std::string_view body);

/// The answer in a complete reply, or what is wrong with it. An answer is whole only if the reply says so, by
/// `finish_reason` `stop` or `tool_calls`. Usage counts only tokens.
[[nodiscard]] std::variant<Answer, ReplyFault> answer_of(ChatReply reply, Thoughts thoughts = Thoughts::Separate);

/// `text` on one line, at most `length_max` bytes of it, without what a terminal would act on.
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t length_max = 300);

}  // namespace tenon::inference
