#include "inference/openai_http/chat_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "base/ensure.h"
#include "json/text.h"

namespace tenon::inference {
namespace {

/// What a message's JSON adds to its text at least, for the size that is reserved.
constexpr std::size_t message_overhead = 32;
constexpr std::size_t request_overhead = 512;

std::string_view role_json(Role role) {
  switch (role) {
    case Role::System:
      return R"({"role":"system","content":)";
    case Role::User:
      return R"({"role":"user","content":)";
    case Role::Assistant:
      return R"({"role":"assistant","content":)";
  }
  ENSURE(false);
  return {};
}

template <class Number>
void append_number(std::string& out, Number number) {
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  ENSURE(error == std::errc());
  out.append(digits.data(), end);
}

}  // namespace

ChatRequestWriter::ChatRequestWriter(const OpenAiOptions& options, TokenLimitField token_limit_field)
    : head_(R"({"model":)"),
      token_limit_key_(token_limit_field == TokenLimitField::MaxCompletionTokens ? R"(],"max_completion_tokens":)"
                                                                                 : R"(],"max_tokens":)"),
      sampling_fields_(options.fields.sampling),
      schema_field_(options.fields.schema),
      omitted_(options.fields.omitted),
      joins_adjacent_(options.fields.adjacent == AdjacentMessages::Join) {
  ENSURE(token_limit_field != TokenLimitField::ByHost);
  append_json_string(head_, options.model);
  head_ += R"(,"messages":[)";
  if (options.streaming == Streaming::On) {
    tail_ = R"(,"stream":true)";
    if (!omitted_.stream_options) tail_ += R"(,"stream_options":{"include_usage":true})";
  }
  tail_ += '}';
}

bool ChatRequestWriter::is_strict(const GenerationRequest& request) const {
  return schema_field_ == SchemaField::JsonSchema && request.schema && !request.schema->strict_schema.empty();
}

void ChatRequestWriter::leave_out_note(GenerationRequest& request) const {
  if (is_strict(request)) leave_out_form_message(request);
}

std::optional<GenerationRequest> ChatRequestWriter::sent_form(const GenerationRequest& request) const {
  const bool drops_schema = request.schema && schema_field_ != SchemaField::JsonSchema;
  auto messages = changed_messages(request.messages);
  if (!drops_schema && !is_strict(request) && !messages) return std::nullopt;
  GenerationRequest sent = request;
  leave_out_note(sent);
  if (messages) {
    messages = changed_messages(sent.messages);
    if (messages) sent.messages = std::move(*messages);
    sent.form_note.reset();
  }
  if (drops_schema) {
    sent.schema = nullptr;
  } else if (is_strict(request)) {
    const AnswerSchema& schema = *request.schema;
    sent.schema =
        std::make_shared<const AnswerSchema>(AnswerSchema{schema.name, schema.strict_schema, schema.strict_schema});
  }
  return sent;
}

std::optional<std::vector<Message>> ChatRequestWriter::changed_messages(const std::vector<Message>& messages) const {
  const auto is_blank = [](const Message& message) { return trimmed(message.text).empty(); };
  const bool has_blank = std::ranges::any_of(messages, is_blank) && !std::ranges::all_of(messages, is_blank);
  const auto is_adjacent = [](const Message& left, const Message& right) { return left.role == right.role; };
  const bool has_adjacent = std::ranges::adjacent_find(messages, is_adjacent) != messages.end();
  if (!has_blank && !(joins_adjacent_ && has_adjacent)) return std::nullopt;
  std::vector<Message> changed;
  for (const Message& message : messages) {
    if (has_blank && is_blank(message)) continue;
    if (joins_adjacent_ && !changed.empty() && changed.back().role == message.role) {
      changed.back().text += "\n\n" + message.text;
      changed.back().entry_ends.clear();
    } else {
      changed.push_back(message);
    }
  }
  return changed;
}

void ChatRequestWriter::append(std::string& out, const GenerationRequest& request) const {
  const std::optional<std::vector<Message>> changed = changed_messages(request.messages);
  const std::vector<Message>& messages = changed ? *changed : request.messages;
  std::size_t size = request_overhead + (request.schema ? request.schema->json_schema.size() : 0);
  for (const Message& message : messages) size += message.text.size() + message.text.size() / 16 + message_overhead;
  out.reserve(out.size() + size);

  out += head_;
  bool first = true;
  for (const Message& message : messages) {
    if (!first) out += ',';
    first = false;
    out += role_json(message.role);
    append_json_string(out, message.text);
    out += '}';
  }
  if (omitted_.token_limit) {
    out += ']';
  } else {
    out += token_limit_key_;
    append_number(out, request.sampling.tokens_max);
  }
  if (sampling_fields_ == SamplingFields::Send) {
    if (std::isfinite(request.sampling.temperature) && !omitted_.temperature) {
      out += R"(,"temperature":)";
      append_number(out, request.sampling.temperature);
    }
    // The field is a signed number of 64 bits at most servers; the highest bit is left out.
    if (!omitted_.seed) {
      out += R"(,"seed":)";
      append_number(out, request.sampling.seed & static_cast<std::uint64_t>(INT64_MAX));
    }
  }
  if (request.schema) {
    const bool strict = is_strict(request);
    switch (schema_field_) {
      case SchemaField::JsonSchema:
        out += R"(,"response_format":{"type":"json_schema","json_schema":{"name":)";
        append_json_string(out, request.schema->name);
        out += strict ? R"(,"strict":true,"schema":)" : R"(,"strict":false,"schema":)";
        out += strict ? request.schema->strict_schema : request.schema->json_schema;
        out += "}}";
        break;
      case SchemaField::JsonObject:
        out += R"(,"response_format":{"type":"json_object"})";
        break;
      case SchemaField::Omit:
        break;
    }
  }
  out += tail_;
}

}  // namespace tenon::inference
