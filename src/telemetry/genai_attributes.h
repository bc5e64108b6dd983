#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/model.h"
#include "telemetry/span.h"
#include "vm/values/value.h"

/// The attributes of spans, according to OpenTelemetry's conventions for generative AI (which are in development;
/// docs/guides/telemetry.md names the version).
namespace tenon::telemetry {

/// For an agent's turn or a function's run. `run` may be empty; `turn`: 0 for a function.
void describe_turn(Span& span, const std::string& title, bool is_conversation, const std::string& run,
                   std::uint64_t turn);
/// A request to the model, without its content.
void describe_request(Span& span, const inference::GenerationRequest& request, std::uint32_t attempt);
void describe_answer(Span& span, const inference::Answer& answer);
void describe_usage(Span& span, const inference::Usage& usage);
/// A word in snake_case.
[[nodiscard]] std::string error_name(inference::ModelErrorKind kind);

/// Contents, as the JSON that the conventions require.
[[nodiscard]] std::string messages_json(const std::vector<inference::Message>& messages);
[[nodiscard]] std::string answer_json(const inference::Answer& answer);
[[nodiscard]] std::string value_json(const vm::Value& value, const types::TypeTable& types);
[[nodiscard]] std::string values_json(std::span<const vm::Value> values, const types::TypeTable& types);

}  // namespace tenon::telemetry
