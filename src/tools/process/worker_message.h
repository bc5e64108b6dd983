#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tools/extern_error.h"

/// What goes between a process and the one that has started it for a call of an extern. Numbered fields (base/wire.h).
namespace tenon::tools {

struct WorkerRequest {
  std::string program;    ///< bytecode: types, and the one extern that is called
  std::string library;    ///< NativeLibrary::full_name
  std::string arguments;  ///< JSON, an array of values (effects/value_form.h)
  std::string key;        ///< of the effect
  std::optional<std::string> input;
  std::int64_t parent = 0;  ///< process id of the one that asks
};
[[nodiscard]] std::string encode(const WorkerRequest& request);
[[nodiscard]] std::optional<WorkerRequest> decode_request(std::string_view bytes);

/// One of the four.
struct WorkerReply {
  std::optional<std::string> value;     ///< JSON (effects/value_form.h)
  std::optional<std::string> question;  ///< the extern asks a person
  std::optional<AgentPrompt> prompt;    ///< the extern prompts an agent
  std::string failure;
  bool is_unavailable = false;  ///< with a failure: as ExternError has it
};
[[nodiscard]] std::string encode(const WorkerReply& reply);
[[nodiscard]] std::optional<WorkerReply> decode_reply(std::string_view bytes);

}  // namespace tenon::tools
