#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::inference {

/// An error object, in any of the shapes that OpenAI-compatible servers give it.
struct ServerError {
  std::string message;
  std::string type;
  std::string code;        ///< a number's digits where the server gives a number
  std::string inner_code;  ///< Azure's, in `innererror`
  std::string param;       ///< the request's field that the server objects to
};

struct ReplyUsage {
  std::uint32_t prompt = 0;
  std::uint32_t generated = 0;
  std::optional<std::uint32_t> cached;  ///< of the prompt; not every server tells
};

/// What a chat completion says: a whole reply, or the chunks of a streamed one read so far.
/// A first half of a surrogate pair at the end of a streamed text waits for the second one (base/utf8.h).
struct ChatReply {
  std::string content;
  std::string reasoning;  ///< what some servers give apart from the content
  std::string refusal;
  std::string finish_reason;  ///< empty: not received (yet)
  std::string model;
  std::optional<ReplyUsage> usage;
  std::optional<ServerError> error;
  std::uint32_t choices = 0;     ///< how many have been seen
  std::uint32_t tool_calls = 0;  ///< objects in which the model calls a tool instead of answering
};

enum class ReplySyntax : bool { NotJson, Json };

/// Reads one JSON document, a reply or a chunk of one, into `reply`: texts are appended, the rest is replaced. Whatever
/// else the document holds is passed over. If the document is not JSON, `reply` has what was read before the fault.
/// Half of a surrogate pair becomes U+FFFD, and two halves in neighbouring chunks become their character.
[[nodiscard]] ReplySyntax read_chat_json(std::string_view json, ChatReply& reply);

}  // namespace tenon::inference
