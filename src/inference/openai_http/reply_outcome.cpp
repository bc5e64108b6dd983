#include "inference/openai_http/reply_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "inference/thoughts.h"

namespace tenon::inference {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Whether the prompt is longer than the model, or the server, takes. `words`: the error's message, or the whole body.
/// The phrases are those of OpenAI, Anthropic, Bedrock, Gemini, Cohere, vLLM, llama.cpp and Ollama.
bool says_context_full(int status, const ServerError& error, std::string_view words) {
  static constexpr std::string_view codes[] = {
      "context_length_exceeded", "context_window_exceeded", "exceed_context_size_error", "prompt_too_long",
      "request_too_large",       "string_above_max_length", "tokens_limit_reached"};
  static constexpr std::string_view phrases[] = {"context length",       "context size",       "context window",
                                                 "input is too long",    "input token count",  "input tokens allowed",
                                                 "maximum model length", "prompt is too long", "too many input tokens",
                                                 "size limit exceeded"};
  for (const std::string_view code : codes) {
    if (equal_ignoring_case(error.code, code) || equal_ignoring_case(error.type, code)) return true;
  }
  // A rate limit counts the tokens of a minute.
  if (status == 429 || contains(error.code, "rate_limit")) return false;
  const std::string lower = lower_case(words);
  return status == 413 ||
         std::ranges::any_of(phrases, [&](std::string_view phrase) { return contains(lower, phrase); });
}

/// Whether a content filter has stopped the prompt or the answer.
bool says_filtered(const ServerError& error) {
  static constexpr std::string_view names[] = {"content_filter",
                                               "content_filtered",
                                               "content_policy_violation",
                                               "responsibleaipolicyviolation",
                                               "moderation_blocked",
                                               "prohibited_content",
                                               "safety"};
  return std::ranges::any_of(names, [&](std::string_view name) {
    return equal_ignoring_case(error.code, name) || equal_ignoring_case(error.type, name) ||
           equal_ignoring_case(error.inner_code, name);
  });
}

constexpr std::string_view quota_spent = "insufficient_quota";

struct NamedStatus {
  std::string_view name;
  int status;
};

/// The status that an error's name stands for, where a server gives it with another one; otherwise `status`. The
/// phrases are those of Gemini and OpenRouter, which have no such name. A model that is gone (410) will not be found
/// again.
int meant_status(int status, const ServerError& error) {
  static constexpr NamedStatus phrases[] = {{"api key not valid", 401}, {"is not a valid model id", 404}};
  static constexpr NamedStatus names[] = {
      {"invalid_api_key", 401}, {"authentication_error", 401}, {"permission_error", 403}, {"model_not_found", 404}};
  for (const auto& [name, meant] : names) {
    if (equal_ignoring_case(error.code, name) || equal_ignoring_case(error.type, name)) return meant;
  }
  if (status == 400) {
    const std::string lower = lower_case(error.message);
    for (const auto& [phrase, meant] : phrases) {
      if (contains(lower, phrase)) return meant;
    }
  }
  return error.param == "model" || status == 410 ? 404 : status;
}

/// What a refusal with this status is. Where the key, the model's name, the URL, the proxy or the account is at fault,
/// it will be the same for every request until a person changes that.
ModelErrorKind kind_of_refusal(int status, const ServerError& error) {
  static constexpr int statuses[] = {401, 402, 403, 404, 405, 407};
  const bool is_of_settings = error.code == quota_spent || std::ranges::find(statuses, status) != std::end(statuses);
  return is_of_settings ? ModelErrorKind::Misconfigured : ModelErrorKind::Rejected;
}

ReplyFault refusal(std::string message) {
  return {ModelErrorKind::Rejected, std::move(message), Retry::Never, {}, true};
}

/// What a finish_reason says of the text before it.
enum class Ending : std::uint8_t { Whole, CutOff, Refused, Failed };

struct NamedEnding {
  std::string_view reason;
  Ending ending;
};

/// Reasons that servers are known to give. An unknown one is not the end of a whole answer.
constexpr NamedEnding endings[] = {
    {"stop", Ending::Whole},
    {"tool_calls", Ending::Whole},
    {"function_call", Ending::Whole},  // the older name of tool_calls
    {"content_filter", Ending::Refused},
    {"content_filtered", Ending::Refused},
    {"refusal", Ending::Refused},
    {"safety", Ending::Refused},
    {"recitation", Ending::Refused},
    {"blocklist", Ending::Refused},
    {"prohibited_content", Ending::Refused},
    {"spii", Ending::Refused},
    {"sensitive", Ending::Refused},
    {"guardrail_intervened", Ending::Refused},
    {"error", Ending::Failed},
    {"abort", Ending::Failed},
    {"aborted", Ending::Failed},
    {"cancelled", Ending::Failed},
    {"canceled", Ending::Failed},
    {"timeout", Ending::Failed},
    {"network_error", Ending::Failed},
    {"server_error", Ending::Failed},
    {"internal_error", Ending::Failed},
    {"overloaded", Ending::Failed},
    {"insufficient_system_resource", Ending::Failed},
};

Ending ending_of(std::string_view reason) {
  for (const NamedEnding& named : endings) {
    if (equal_ignoring_case(reason, named.reason)) return named.ending;
  }
  return Ending::CutOff;
}

/// Why an answer is cut off, if not by its length.
std::string cut_reason_of(std::string_view reason) {
  if (equal_ignoring_case(reason, "length") || equal_ignoring_case(reason, "max_tokens")) return {};
  if (reason.empty()) return "the endpoint does not say that the answer is whole: it gives no finish_reason";
  return fmt::format("the endpoint does not say that the answer is whole: its finish_reason is \"{}\"",
                     excerpt(reason, 60));
}

/// What the user can do about a refusal.
std::string advice_for(int status, const ServerError& error, std::string_view body) {
  if (error.code == quota_spent)
    return "the account's quota is used up: raise it, or set OPENAI_API_KEY to the key of another account";
  const auto objects_to = [&](std::string_view field) {
    return error.param == field || ((status == 400 || status == 422) && error.param.empty() && contains(body, field));
  };
  for (const std::string_view field : {"stream_options", "seed"}) {
    if (objects_to(field))
      return fmt::format("if this server does not know `{0}`: `[model.openai] omit_fields = [\"{0}\"]` in tenon.toml",
                         field);
  }
  if (objects_to("temperature"))
    return "this model does not accept sampling parameters: `[model.openai] sampling_fields = \"omit\"` in tenon.toml";
  if (error.param == "max_tokens" || error.param == "max_completion_tokens") {
    return error.param == "max_tokens"
               ? "this server expects the other field for the answer's length: `[model.openai] token_limit_field = "
                 "\"max_completion_tokens\"` in tenon.toml"
               : "this server expects the other field for the answer's length: `[model.openai] token_limit_field = "
                 "\"max_tokens\"` in tenon.toml";
  }
  if (error.param.starts_with("response_format") || objects_to("response_format")) {
    return "this server does not take the answer's schema: `[model.openai] schema_field = \"json_object\"` or "
           "`\"omit\"` in tenon.toml";
  }
  if (requires_alternation(body))
    return "this server requires roles that alternate: `[model.openai] adjacent_messages = \"join\"` in tenon.toml";
  switch (status) {
    case 401:
      return "set OPENAI_API_KEY to a key that the endpoint accepts";
    case 402:
      return "pay the account, or set OPENAI_API_KEY to the key of another one";
    case 403:
      return "set OPENAI_API_KEY to a key that is allowed to do this, or choose another model with `--model` (or "
             "`--judge`)";
    case 404:
    case 405:
      return "choose another model with `--model` (or `--judge`), or check OPENAI_BASE_URL";
    case 407:
      return "put the user and the password that the proxy expects into its URL";
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

/// Whether the same request may succeed later: 408 and 409 are about this moment too.
bool is_worth_repeating(int status) {
  return status == 408 || status == 409 || status == 429 || status >= 500;
}

bool has_words(const ServerError& error) {
  return !error.message.empty() || !error.code.empty() || !error.type.empty();
}

/// What a request that must not be sent again as it is has failed with. `body`: the error's message, or the whole body.
ReplyFault clients_fault(int status, const ServerError& error, std::string message, std::string_view body) {
  return {kind_of_refusal(status, error), with_advice(std::move(message), advice_for(status, error, body)),
          Retry::Never};
}

/// What an error object within a reply of status 200 says.
ReplyFault fault_of_error(const ServerError& error) {
  std::string message = fmt::format("the server reports: {}", words_of(error));
  if (says_filtered(error)) return refusal(std::move(message));
  int code = 0;
  std::from_chars(error.code.data(), error.code.data() + error.code.size(), code);
  const int status = meant_status(code, error);
  if (says_context_full(code, error, error.message)) {
    return {ModelErrorKind::ContextFull, std::move(message), Retry::Never};
  }
  const bool is_clients_fault = error.type == "invalid_request_error" || error.code == quota_spent ||
                                (status >= 400 && status < 500 && !is_worth_repeating(status));
  if (is_clients_fault) return clients_fault(status, error, std::move(message), error.message);
  return {ModelErrorKind::Overloaded, std::move(message), Retry::Worthwhile};
}

/// Moves the thoughts out of the answer's text. Thoughts without an answer after them are cut off.
void separate(Answer& answer) {
  const SeparatedText parts = separate_thoughts(answer.text);
  if (!parts.thoughts.empty()) {
    if (!answer.thoughts.empty()) answer.thoughts += "\n\n";
    answer.thoughts += parts.thoughts;
  }
  answer.text = std::string(parts.answer);
  if (answer.text.empty() && (parts.is_open || !answer.thoughts.empty()) && answer.finish == Finish::Complete) {
    answer.finish = Finish::CutOff;
    answer.cut_reason = "the model's thoughts are not followed by an answer";
  }
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
  if (says_filtered(error)) return refusal(std::move(message));
  if (status < 400) {
    return {ModelErrorKind::Misconfigured,
            with_advice(std::move(message), "check OPENAI_BASE_URL; redirects are not followed"), Retry::Never,
            location.empty() ? std::string() : "redirects to " + excerpt(location)};
  }
  if (error.code == quota_spent) return clients_fault(status, error, std::move(message), body);
  // llama.cpp's server gives 500 for a prompt that will never fit.
  if (says_context_full(status, error, words)) {
    return {ModelErrorKind::ContextFull, with_advice(std::move(message), advice_for(status, error, body)),
            Retry::Never};
  }
  if (is_worth_repeating(status)) {
    return {ModelErrorKind::Overloaded, std::move(message), Retry::Worthwhile};
  }
  return clients_fault(meant_status(status, error), error, std::move(message), body);
}

bool requires_alternation(std::string_view body) {
  const std::string words = lower_case(body);
  return contains(words, "role") && (contains(words, "alternat") || contains(words, "consecutive"));
}

ReplyFault fault_of_document(std::string_view body) {
  std::string message = body.empty() ? "the reply is empty" : fmt::format("the reply is not JSON: {}", excerpt(body));
  return {ModelErrorKind::BadReply, std::move(message), Retry::Never};
}

std::variant<Answer, ReplyFault> answer_of(ChatReply reply, Thoughts thoughts) {
  end_surrogates(reply.content);
  end_surrogates(reply.refusal);
  end_surrogates(reply.reasoning);
  const Ending ending = ending_of(reply.finish_reason);
  // An error voids what came before it, also one within a choice.
  if (reply.error && (reply.choices == 0 || has_words(*reply.error))) return fault_of_error(*reply.error);
  if (reply.choices == 0) return ReplyFault{ModelErrorKind::BadReply, "the reply has no choices", Retry::Never};
  const bool has_words = !reply.content.empty() || !reply.refusal.empty();
  if (!has_words && reply.tool_calls > 0) {
    return ReplyFault{ModelErrorKind::BadReply, "the model called a tool, although none was offered", Retry::Never};
  }
  if (ending == Ending::Failed) {
    return ReplyFault{
        ModelErrorKind::Overloaded,
        fmt::format("the server broke the answer off: its finish_reason is \"{}\"", excerpt(reply.finish_reason, 60)),
        Retry::Worthwhile};
  }
  Answer answer;
  if (!reply.refusal.empty()) {
    answer.finish = Finish::Refused;
    answer.text = std::move(reply.refusal);
  } else {
    answer.text = std::move(reply.content);
    if (ending == Ending::Refused) answer.finish = Finish::Refused;
    if (ending == Ending::CutOff) {
      answer.finish = Finish::CutOff;
      answer.cut_reason = cut_reason_of(reply.finish_reason);
    }
  }
  answer.thoughts = std::move(reply.reasoning);
  if (thoughts == Thoughts::Separate && answer.finish != Finish::Refused) separate(answer);
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
