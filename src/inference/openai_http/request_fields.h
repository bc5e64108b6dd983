#pragma once

#include <cstdint>

namespace tenon::inference {

/// The field that limits an answer's length. OpenAI's own models take `max_completion_tokens` and their newer ones
/// refuse `max_tokens`; most other servers know `max_tokens` alone and ignore the other without a word.
enum class TokenLimitField : std::uint8_t {
  ByHost,  ///< `max_completion_tokens` for openai.com and Azure, `max_tokens` elsewhere
  MaxCompletionTokens,
  MaxTokens,
};

/// Whether temperature and seed are sent. Reasoning models refuse a temperature.
enum class SamplingFields : bool { Omit, Send };

/// What tells the server how a typed answer must look.
enum class SchemaField : std::uint8_t {
  JsonSchema,  ///< response_format json_schema, strict
  JsonObject,  ///< response_format json_object: valid JSON of some shape; for servers without schemas
  Omit,        ///< nothing; the prompt alone says it
};

/// Which fields a request carries, where servers differ. docs/guides/openai_endpoints.md says when to change them.
struct RequestFields {
  TokenLimitField token_limit = TokenLimitField::ByHost;
  SamplingFields sampling = SamplingFields::Send;
  SchemaField schema = SchemaField::JsonSchema;
};

}  // namespace tenon::inference
