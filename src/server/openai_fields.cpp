#include "server/openai_fields.h"

#include <array>

namespace tenon::server {

namespace {

constexpr std::string_view sampling_reason = "the program and the server's options decide how its models are asked";
constexpr std::string_view tools_reason = "the program decides which tools its models have";
constexpr std::string_view text_only_reason = "agents read and answer text";
constexpr std::string_view form_reason = "the types in the program decide the form of an answer";
constexpr std::string_view length_reason = "the program's budgets decide how much its models write";
constexpr std::string_view nothing_kept_reason =
    "the server keeps runs, which /v1/runs shows, and nothing else of a request";
constexpr std::string_view no_service_reason = "the server has no such service";
constexpr std::string_view no_tiers_reason = "the server handles all requests alike";

constexpr auto chat_table = std::to_array<RequestField>({
    {"model", RequestField::Use::Read},
    {"messages", RequestField::Use::Read},
    {"stream", RequestField::Use::Read},
    {"stream_options", RequestField::Use::Read},
    {"conversation", RequestField::Use::Read},
    {"user", RequestField::Use::Ignored},
    {"safety_identifier", RequestField::Use::Ignored},
    {"prompt_cache_key", RequestField::Use::Ignored},
    {"prompt_cache_options", RequestField::Use::Ignored},
    {"prompt_cache_retention", RequestField::Use::Ignored},
    {"prediction", RequestField::Use::Ignored},
    {"audio", RequestField::Use::Neutral, "[]", text_only_reason},
    {"modalities", RequestField::Use::Neutral, R"([["text"]])", text_only_reason},
    {"n", RequestField::Use::Neutral, "[1]", "a run has one answer"},
    {"frequency_penalty", RequestField::Use::Neutral, "[0]", sampling_reason},
    {"presence_penalty", RequestField::Use::Neutral, "[0]", sampling_reason},
    {"temperature", RequestField::Use::Neutral, "[1]", sampling_reason},
    {"top_p", RequestField::Use::Neutral, "[1]", sampling_reason},
    {"seed", RequestField::Use::Neutral, "[]", sampling_reason},
    {"logit_bias", RequestField::Use::Neutral, "[{}]", sampling_reason},
    {"logprobs", RequestField::Use::Neutral, "[false]", sampling_reason},
    {"top_logprobs", RequestField::Use::Neutral, "[0]", sampling_reason},
    {"reasoning_effort", RequestField::Use::Neutral, "[]", sampling_reason},
    {"verbosity", RequestField::Use::Neutral, R"(["medium"])", sampling_reason},
    {"max_tokens", RequestField::Use::Neutral, "[]", length_reason},
    {"max_completion_tokens", RequestField::Use::Neutral, "[]", length_reason},
    {"stop", RequestField::Use::Neutral, "[[]]", length_reason},
    {"response_format", RequestField::Use::Neutral, R"([{"type":"text"}])", form_reason},
    {"tools", RequestField::Use::Neutral, "[[]]", tools_reason},
    {"tool_choice", RequestField::Use::Neutral, R"(["none","auto"])", tools_reason},
    {"parallel_tool_calls", RequestField::Use::Neutral, "[true,false]", tools_reason},
    {"functions", RequestField::Use::Neutral, "[[]]", tools_reason},
    {"function_call", RequestField::Use::Neutral, R"(["none","auto"])", tools_reason},
    {"web_search_options", RequestField::Use::Neutral, "[]", tools_reason},
    {"metadata", RequestField::Use::Neutral, "[{}]", nothing_kept_reason},
    {"store", RequestField::Use::Neutral, "[false]", nothing_kept_reason},
    {"moderation", RequestField::Use::Neutral, "[]", no_service_reason},
    {"service_tier", RequestField::Use::Neutral, R"(["auto","default"])", no_tiers_reason},
});

constexpr auto response_table = std::to_array<RequestField>({
    {"model", RequestField::Use::Read},
    {"input", RequestField::Use::Read},
    {"previous_response_id", RequestField::Use::Read},
    {"conversation", RequestField::Use::Read},
    {"background", RequestField::Use::Read},
    {"stream", RequestField::Use::Read},
    {"stream_options", RequestField::Use::Read},
    {"user", RequestField::Use::Ignored},
    {"safety_identifier", RequestField::Use::Ignored},
    {"prompt_cache_key", RequestField::Use::Ignored},
    {"prompt_cache_options", RequestField::Use::Ignored},
    {"prompt_cache_retention", RequestField::Use::Ignored},
    {"instructions", RequestField::Use::Neutral, "[]", "an agent's instructions are in its program"},
    {"prompt", RequestField::Use::Neutral, "[]", "an agent's instructions are in its program"},
    {"temperature", RequestField::Use::Neutral, "[1]", sampling_reason},
    {"top_p", RequestField::Use::Neutral, "[1]", sampling_reason},
    {"top_logprobs", RequestField::Use::Neutral, "[0]", sampling_reason},
    {"reasoning", RequestField::Use::Neutral, "[{}]", sampling_reason},
    {"max_output_tokens", RequestField::Use::Neutral, "[]", length_reason},
    {"max_tool_calls", RequestField::Use::Neutral, "[]", length_reason},
    {"truncation", RequestField::Use::Neutral, R"(["disabled"])", "the program decides what its models see"},
    {"context_management", RequestField::Use::Neutral, "[[]]", "the program decides what its models see"},
    {"text", RequestField::Use::Neutral,
     R"([{},{"format":{"type":"text"}},{"verbosity":"medium"},{"format":{"type":"text"},"verbosity":"medium"}])",
     form_reason},
    {"image", RequestField::Use::Neutral, "[{}]", text_only_reason},
    {"tools", RequestField::Use::Neutral, "[[]]", tools_reason},
    {"tool_choice", RequestField::Use::Neutral, R"(["none","auto"])", tools_reason},
    {"parallel_tool_calls", RequestField::Use::Neutral, "[true,false]", tools_reason},
    {"include", RequestField::Use::Neutral, "[[]]", "a response has no parts that can be left out"},
    {"metadata", RequestField::Use::Neutral, "[{}]", nothing_kept_reason},
    {"store", RequestField::Use::Neutral, "[true]", "every run is recorded"},
    {"moderation", RequestField::Use::Neutral, "[]", no_service_reason},
    {"access_programs", RequestField::Use::Neutral, "[{}]", no_service_reason},
    {"service_tier", RequestField::Use::Neutral, R"(["auto","default"])", no_tiers_reason},
});

constexpr auto stream_option_table = std::to_array<RequestField>({
    {"include_usage", RequestField::Use::Read},
    {"include_obfuscation", RequestField::Use::Neutral, "[false]", "events are sent without padding"},
});

}  // namespace

std::span<const RequestField> chat_fields() {
  return chat_table;
}

std::span<const RequestField> response_fields() {
  return response_table;
}

Result<StreamOptions, FieldProblem> read_stream_options(const Json& body) {
  const Json* const given = body.find("stream_options");
  if (given == nullptr || given->is_null()) return StreamOptions{};
  if (!given->is_object()) {
    return failure(FieldProblem{422, "stream_options", "wrong_input", "`stream_options`: expected an object"});
  }
  if (auto problem = find_field_problem(*given, stream_option_table, "stream_options."))
    return failure(std::move(*problem));
  const auto wants_usage = read_flag(*given, "include_usage");
  if (!wants_usage) return failure(wants_usage.error());
  return StreamOptions{*wants_usage};
}

}  // namespace tenon::server
