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

/// Fields that a server may reject, each of which can be left out alone.
struct OmittedFields {
  bool temperature = false;
  bool seed = false;
  bool stream_options = false;  ///< then no server tells the tokens of a streamed reply
  bool token_limit = false;     ///< then the server decides how long an answer may be
};

/// Whether adjacent messages of one role are joined. Some chat templates require that the user and the assistant
/// alternate.
enum class AdjacentMessages : std::uint8_t {
  Learn,  ///< once the server has said that roles must alternate
  Join,
  Keep,
};

/// Where the thoughts of a reasoning model go (inference/thoughts.h).
enum class Thoughts : bool {
  Separate,  ///< apart from the answer, into the trace
  Keep,      ///< they are a part of the answer
};

/// Which fields a request carries and how a reply is read, where servers differ. docs/guides/openai_endpoints.md says
/// when to change them.
struct RequestFields {
  TokenLimitField token_limit = TokenLimitField::ByHost;
  SamplingFields sampling = SamplingFields::Send;
  SchemaField schema = SchemaField::JsonSchema;
  OmittedFields omitted;
  AdjacentMessages adjacent = AdjacentMessages::Learn;
  Thoughts thoughts = Thoughts::Separate;
};

}  // namespace tenon::inference
