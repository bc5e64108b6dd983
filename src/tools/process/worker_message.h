#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tools/extern_error.h"

/// The messages between a worker process and the process that started it, for a call of an extern. Numbered fields
/// (base/wire.h).
namespace tenon::tools {

/// A message on a stream is preceded by its length: so many bytes, lowest first.
inline constexpr std::size_t length_bytes = 8;
[[nodiscard]] std::string frame(std::string_view message);
/// The length that received bytes begin with; nothing while it has not come.
[[nodiscard]] std::optional<std::uint64_t> framed_length(std::string_view received);

struct WorkerRequest {
  std::string program;    ///< bytecode: types, and the one extern that is called
  std::string library;    ///< NativeLibrary::full_name
  std::string arguments;  ///< JSON, an array of values (effects/value_form.h)
  std::string key;        ///< of the effect
  std::optional<std::string> input;
  std::int64_t parent = 0;  ///< process id of the process that sent the request
};
[[nodiscard]] std::string encode(const WorkerRequest& request);
[[nodiscard]] std::optional<WorkerRequest> decode_request(std::string_view bytes);

struct WorkerReply {
  std::optional<std::string> value;  ///< JSON (effects/value_form.h)
  ExternError error;                 ///< why there is no value. Its kind and blame are not sent
};
[[nodiscard]] std::string encode(const WorkerReply& reply);
[[nodiscard]] std::optional<WorkerReply> decode_reply(std::string_view bytes);

}  // namespace tenon::tools
