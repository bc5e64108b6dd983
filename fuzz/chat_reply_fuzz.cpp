// Arbitrary bytes from an OpenAI-compatible server: as a complete reply, as the body of an error, as a stream. The
// answer of a stream does not depend on how its bytes are split.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/ensure.h"
#include "base/utf8.h"
#include "inference/openai_http/reply_outcome.h"
#include "inference/openai_http/retry.h"
#include "inference/openai_http/streamed_reply.h"

namespace {

using namespace tenon::inference;

struct Streamed {
  std::string pieces;
  std::variant<ChatReply, ReplyFault> end;
};

/// Reads `bytes` in pieces of `size`.
Streamed read_streamed(std::string_view bytes, std::size_t size) {
  StreamedReply reply;
  Streamed result;
  while (!bytes.empty()) {
    reply.append(bytes.substr(0, size));
    bytes.remove_prefix(std::min(size, bytes.size()));
    result.pieces += reply.take_piece();
  }
  result.end = reply.finish();
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ChatReply reply;
  if (read_chat_json(bytes, reply) == ReplySyntax::Json) static_cast<void>(answer_of(std::move(reply)));

  for (const int status : {307, 400, 429, 500}) {
    const ReplyFault fault = fault_of_status(status, bytes, bytes);
    ENSURE(fault.message.size() < 1'000);
    ENSURE(tenon::find_invalid_utf8(fault.message) == std::string_view::npos);
    ENSURE(fault.message.find('\n') == std::string::npos && fault.message.find('\x1b') == std::string::npos);
  }
  static_cast<void>(read_retry_after(bytes, std::chrono::system_clock::time_point{}));

  const Streamed whole = read_streamed(bytes, std::max<std::size_t>(size, 1));
  const Streamed cut = read_streamed(bytes, 1);
  ENSURE(whole.pieces == cut.pieces);
  ENSURE(whole.end.index() == cut.end.index());
  if (const auto* read = std::get_if<ChatReply>(&whole.end)) {
    ENSURE(read->content == std::get<ChatReply>(cut.end).content);
    if (!read->content.empty()) ENSURE(whole.pieces.empty() || whole.pieces == read->content);
  }
  return 0;
}
