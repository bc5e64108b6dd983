#pragma once

#include <span>

#include "server/request_fields.h"

/// The documented fields of OpenAI's requests.
namespace tenon::server {

[[nodiscard]] std::span<const RequestField> chat_fields();
[[nodiscard]] std::span<const RequestField> response_fields();

struct StreamOptions {
  bool wants_usage = false;
};
/// `stream_options` of a request.
[[nodiscard]] Result<StreamOptions, FieldProblem> read_stream_options(const Json& body);

}  // namespace tenon::server
