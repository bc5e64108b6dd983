#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inference/model.h"

namespace tenon::inference {

/// One request of a recording and what came of it.
struct RecordedExchange {
  std::string request_hash;   ///< see hash_request
  GenerationRequest request;  ///< messages, schema, sampling and label
  GenerationOutcome outcome;
  std::uint32_t line = 0;  ///< of the file, counted from 1
};

struct Recording {
  std::vector<RecordedExchange> exchanges;
};

struct RecordingSyntaxError {
  std::uint32_t line = 1;  ///< counted from 1
  std::string message;
};

/// What identifies a request: messages, schema and sampling, as canonical JSON, without label, schema name and timeout.
[[nodiscard]] std::string canonical_request(const GenerationRequest& request);

/// SHA-256 of a canonical request, in hexadecimal.
[[nodiscard]] std::string hash_request(std::string_view canonical_request);

/// One line of a recording, with its newline. `canonical` is the request's canonical form.
[[nodiscard]] std::string encode_exchange(std::string_view canonical, std::string_view label,
                                          const GenerationOutcome& outcome);

/// Reads a recording. A last line without its newline was torn by a crash and is left out.
[[nodiscard]] Result<Recording, RecordingSyntaxError> parse_recording(std::string_view text);

}  // namespace tenon::inference
