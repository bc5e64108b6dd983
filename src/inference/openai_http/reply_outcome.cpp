#include "inference/openai_http/reply_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/utf8.h"

namespace tenon::inference {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool says_context_full(const ServerError& error) {
  return error.code == "context_length_exceeded" || error.type == "exceed_context_size_error" ||
         contains(error.message, "maximum context length") || contains(error.message, "context size");
}

/// What the user can do about a refusal.
std::string_view advice_for(int status, const ServerError& error) {
  if (error.code == "insufficient_quota") return "the account's quota is used up, so retrying will not help";
  if (error.param == "temperature" || error.param == "seed")
    return "this model does not accept sampling parameters: `[model.openai] sampling_fields = \"omit\"` in tenon.toml";
  if (error.param == "max_tokens" || error.param == "max_completion_tokens") {
    return error.param == "max_tokens"
               ? "this server expects the other field for the answer's length: `[model.openai] token_limit_field = "
                 "\"max_completion_tokens\"` in tenon.toml"
               : "this server expects the other field for the answer's length: `[model.openai] token_limit_field = "
                 "\"max_tokens\"` in tenon.toml";
  }
  if (error.param.starts_with("response_format")) {
    return "this server does not take the answer's schema: `[model.openai] schema_field = \"json_object\"` or "
           "`\"omit\"` in tenon.toml";
  }
  switch (status) {
    case 401:
      return "check the API key";
    case 403:
      return "check what the API key is allowed to do";
    case 404:
      return "check the base URL and the model's name";
    case 413:
      return "the prompt is larger than the server accepts";
    default:
      return {};
  }
}

std::string with_advice(std::string message, std::string_view advice) {
  if (!advice.empty()) message += fmt::format(" ({})", advice);
  return message;
}

std::string words_of(const ServerError& error) {
  if (!error.message.empty()) return excerpt(error.message);
  if (!error.code.empty()) return excerpt(error.code);
  if (!error.type.empty()) return excerpt(error.type);
  return "an error without a text";
}

/// What an error object within a reply of status 200 says.
ReplyFault fault_of_error(const ServerError& error) {
  std::string message = fmt::format("the server reports: {}", words_of(error));
  if (says_context_full(error)) return {ModelErrorKind::ContextFull, std::move(message), Retry::Never};
  int code = 0;
  std::from_chars(error.code.data(), error.code.data() + error.code.size(), code);
  const bool is_clients_fault = error.type == "invalid_request_error" || error.code == "insufficient_quota" ||
                                (code >= 400 && code < 500 && code != 429);
  if (is_clients_fault) {
    return {ModelErrorKind::Rejected, with_advice(std::move(message), advice_for(code, error)), Retry::Never};
  }
  return {ModelErrorKind::Overloaded, std::move(message), Retry::Worthwhile};
}

}  // namespace

std::string excerpt(std::string_view text, std::size_t length_max) {
  std::string line;
  bool has_gap = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(utf8_sequence_length(text, at), 1);
    std::string_view character = text.substr(at, length);
    at += length;
    const auto first = static_cast<unsigned char>(character.front());
    const bool is_control = first <= 0x20 || first == 0x7F || (first == 0xC2 && length == 2 && character[1] < '\xA0');
    if (is_control) {
      has_gap = !line.empty();
      continue;
    }
    if (length == 1 && first >= 0x80) character = "\xEF\xBF\xBD";
    if (line.size() + character.size() > length_max) return line + "…";
    if (std::exchange(has_gap, false)) line += ' ';
    line += character;
  }
  return line;
}

ReplyFault fault_of_status(int status, std::string_view body, std::string_view location) {
  ChatReply reply;
  const ReplySyntax syntax = read_chat_json(body, reply);
  const ServerError error = reply.error.value_or(ServerError{});
  std::string words;
  if (syntax == ReplySyntax::Json && reply.error) {
    words = words_of(error);
  } else {
    words = excerpt(body);
  }
  std::string message = words.empty() ? fmt::format("HTTP {}", status) : fmt::format("HTTP {}: {}", status, words);
  if (status < 400) {
    return {ModelErrorKind::Rejected, with_advice(std::move(message), "check the base URL; redirects are not followed"),
            Retry::Never, location.empty() ? std::string() : "redirects to " + excerpt(location)};
  }
  if (error.code == "insufficient_quota") {
    return {ModelErrorKind::Rejected, with_advice(std::move(message), advice_for(status, error)), Retry::Never};
  }
  if (status == 429 || status >= 500) {
    // llama.cpp's server gives 500 for a prompt that will never fit.
    if (says_context_full(error)) return {ModelErrorKind::ContextFull, std::move(message), Retry::Never};
    return {ModelErrorKind::Overloaded, std::move(message), Retry::Worthwhile};
  }
  if (says_context_full(error)) return {ModelErrorKind::ContextFull, std::move(message), Retry::Never};
  return {ModelErrorKind::Rejected, with_advice(std::move(message), advice_for(status, error)), Retry::Never};
}

ReplyFault fault_of_document(std::string_view body) {
  std::string message = body.empty() ? "the reply is empty" : fmt::format("the reply is not JSON: {}", excerpt(body));
  return {ModelErrorKind::BadReply, std::move(message), Retry::Never};
}

std::variant<Answer, ReplyFault> answer_of(ChatReply reply) {
  if (reply.error && reply.choices == 0) return fault_of_error(*reply.error);
  if (reply.choices == 0) return ReplyFault{ModelErrorKind::BadReply, "the reply has no choices", Retry::Never};
  const bool has_words = !reply.content.empty() || !reply.refusal.empty();
  if (!has_words && reply.tool_calls > 0) {
    return ReplyFault{ModelErrorKind::BadReply, "the model called a tool, although none was offered", Retry::Never};
  }
  Answer answer;
  if (!reply.refusal.empty()) {
    answer.finish = Finish::Refused;
    answer.text = std::move(reply.refusal);
  } else {
    answer.text = std::move(reply.content);
    if (reply.finish_reason == "length") answer.finish = Finish::CutOff;
    if (reply.finish_reason == "content_filter") answer.finish = Finish::Refused;
  }
  answer.model = std::move(reply.model);
  if (reply.usage) {
    answer.usage.prompt = reply.usage->prompt;
    answer.usage.is_reuse_known = reply.usage->cached.has_value();
    answer.usage.reused = std::min(reply.usage->cached.value_or(0), reply.usage->prompt);
    answer.usage.computed = answer.usage.prompt - answer.usage.reused;
    answer.usage.generated = reply.usage->generated;
  }
  return answer;
}

}  // namespace tenon::inference
