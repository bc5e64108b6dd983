#include "inference/recorded/recording.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/ensure.h"
#include "json/reader.h"
#include "json/writer.h"

namespace tenon::inference {
namespace {

/// The number of the line format. A line of another number is refused.
constexpr int format_version = 1;

template <class Value>
struct Named {
  std::string_view name;
  Value value;
};

constexpr std::array role_names = {Named<Role>{role_name(Role::System), Role::System},
                                   Named<Role>{role_name(Role::User), Role::User},
                                   Named<Role>{role_name(Role::Assistant), Role::Assistant}};
constexpr std::array finish_names = {Named<Finish>{finish_name(Finish::Complete), Finish::Complete},
                                     Named<Finish>{finish_name(Finish::CutOff), Finish::CutOff},
                                     Named<Finish>{finish_name(Finish::Refused), Finish::Refused}};
constexpr std::array error_names = {Named<ModelErrorKind>{"unreachable", ModelErrorKind::Unreachable},
                                    Named<ModelErrorKind>{"timed_out", ModelErrorKind::TimedOut},
                                    Named<ModelErrorKind>{"rejected", ModelErrorKind::Rejected},
                                    Named<ModelErrorKind>{"misconfigured", ModelErrorKind::Misconfigured},
                                    Named<ModelErrorKind>{"overloaded", ModelErrorKind::Overloaded},
                                    Named<ModelErrorKind>{"bad_reply", ModelErrorKind::BadReply},
                                    Named<ModelErrorKind>{"context_full", ModelErrorKind::ContextFull},
                                    Named<ModelErrorKind>{"cancelled", ModelErrorKind::Cancelled},
                                    Named<ModelErrorKind>{"script_ended", ModelErrorKind::ScriptEnded}};

template <class Table, class Value>
std::string_view name_of(const Table& table, Value value) {
  for (const auto& named : table) {
    if (named.value == value) return named.name;
  }
  ENSURE(false);
  return {};
}

template <class Table>
auto find_named(const Table& table, std::string_view name) -> std::optional<decltype(table.front().value)> {
  for (const auto& named : table) {
    if (named.name == name) return named.value;
  }
  return std::nullopt;
}

void add_usage(JsonWriter& out, const Usage& usage) {
  out.name("usage").begin_object();
  out.name("prompt").integer(usage.prompt).name("computed").integer(usage.computed);
  out.name("reused").integer(usage.reused).name("generated").integer(usage.generated);
  out.name("forced").integer(usage.forced).name("attempts").integer(usage.attempts);
  out.name("milliseconds").raw(fmt::format("{:.3f}", usage.milliseconds)).end_object();
}

/// Thrown within this file only, by what reads a line and finds it to be something else.
struct Malformed {
  std::string message;
};

const Json& field(const Json& object, std::string_view key) {
  const Json* const found = object.find(key);
  if (found == nullptr) throw Malformed{fmt::format("`{}` is missing", key)};
  return *found;
}

std::string text_of(const Json& object, std::string_view key) {
  const Json& value = field(object, key);
  if (!value.is_string()) throw Malformed{fmt::format("`{}` is not a text", key)};
  return value.as_string();
}

template <class Number>
Number number_of(const Json& object, std::string_view key) {
  const Json& value = field(object, key);
  if constexpr (std::is_floating_point_v<Number>) {
    if (!value.is_numeric()) throw Malformed{fmt::format("`{}` is not a number", key)};
    return static_cast<Number>(value.as_double());
  } else {
    if (!value.is_count() || value.as_count() > std::numeric_limits<Number>::max()) {
      throw Malformed{fmt::format("`{}` is not a count", key)};
    }
    return static_cast<Number>(value.as_count());
  }
}

Usage read_usage(const Json& json) {
  Usage usage;
  usage.prompt = number_of<std::uint32_t>(json, "prompt");
  usage.computed = number_of<std::uint32_t>(json, "computed");
  usage.reused = number_of<std::uint32_t>(json, "reused");
  usage.generated = number_of<std::uint32_t>(json, "generated");
  usage.forced = number_of<std::uint32_t>(json, "forced");
  usage.attempts = number_of<std::uint32_t>(json, "attempts");
  usage.milliseconds = number_of<double>(json, "milliseconds");
  return usage;
}

GenerationRequest read_request(const Json& json) {
  GenerationRequest request;
  const Json& messages = field(json, "messages");
  if (!messages.is_array()) throw Malformed{"`messages` is not a list"};
  for (const Json& message : messages.items()) {
    const auto role = find_named(role_names, text_of(message, "role"));
    if (!role) throw Malformed{"a message has an unknown role"};
    request.messages.push_back({*role, text_of(message, "text"), {}});
  }
  if (!field(json, "schema").is_null()) {
    request.schema = std::make_shared<AnswerSchema>(AnswerSchema{"recorded", text_of(json, "schema")});
  }
  request.sampling.temperature = number_of<float>(json, "temperature");
  request.sampling.seed = number_of<std::uint64_t>(json, "seed");
  request.sampling.tokens_max = number_of<std::uint32_t>(json, "tokens_max");
  return request;
}

GenerationOutcome read_outcome(const Json& json) {
  const Usage usage = read_usage(field(json, "usage"));
  if (json.contains("error")) {
    const auto kind = find_named(error_names, text_of(json, "error"));
    if (!kind) throw Malformed{"the error is of an unknown kind"};
    return ModelError{*kind, text_of(json, "message"), usage};
  }
  const auto finish = find_named(finish_names, text_of(json, "finish"));
  if (!finish) throw Malformed{"the answer ends in an unknown way"};
  return Answer{text_of(json, "text"), *finish, usage, text_of(json, "model")};
}

RecordedExchange read_exchange(std::string_view line) {
  const auto parsed = parse_json(line, own_json_limits);
  if (!parsed) throw Malformed{"the line is not JSON"};
  const Json& json = *parsed;
  if (number_of<std::uint32_t>(json, "format") != format_version) throw Malformed{"the line has another format number"};
  RecordedExchange exchange;
  exchange.request_hash = text_of(json, "sha256");
  exchange.request = read_request(field(json, "request"));
  exchange.request.label = text_of(json, "label");
  exchange.outcome = read_outcome(field(json, "outcome"));
  if (hash_request(canonical_request(exchange.request)) != exchange.request_hash) {
    throw Malformed{"the request is not the one whose hash the line holds; record it again"};
  }
  return exchange;
}

}  // namespace

std::string canonical_request(const GenerationRequest& request) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().name("messages").begin_list();
  for (const Message& message : request.messages) {
    out.begin_object().name("role").text(name_of(role_names, message.role));
    out.name("text").text(message.text).end_object();
  }
  out.end_list().name("schema");
  request.schema ? out.text(request.schema->json_schema) : out.null();
  // JSON has no infinities; every backend takes them for 0.
  const float temperature = std::isfinite(request.sampling.temperature) ? request.sampling.temperature : 0.0F;
  out.name("temperature").raw(fmt::format("{}", temperature)).name("seed").integer(request.sampling.seed);
  out.name("tokens_max").integer(request.sampling.tokens_max).end_object();
  return text;
}

std::string hash_request(std::string_view canonical) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  ENSURE(EVP_Digest(canonical.data(), canonical.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

std::string encode_exchange(std::string_view canonical, std::string_view label, const GenerationOutcome& outcome) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().name("format").integer(format_version).name("sha256").text(hash_request(canonical));
  out.name("label").text(label).name("request").raw(canonical).name("outcome").begin_object();
  if (const auto* answer = std::get_if<Answer>(&outcome)) {
    out.name("text").text(answer->text).name("finish").text(name_of(finish_names, answer->finish));
    out.name("model").text(answer->model);
    add_usage(out, answer->usage);
  } else {
    const auto& error = std::get<ModelError>(outcome);
    out.name("error").text(name_of(error_names, error.kind)).name("message").text(error.message);
    add_usage(out, error.usage);
  }
  out.end_object().end_object();
  return text + "\n";
}

Result<Recording, RecordingSyntaxError> parse_recording(std::string_view text) {
  Recording recording;
  std::uint32_t line = 0;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    ++line;
    const std::string_view content = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (content.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    try {
      recording.exchanges.push_back(read_exchange(content));
      recording.exchanges.back().line = line;
    } catch (const Malformed& malformed) {
      return failure(RecordingSyntaxError{line, malformed.message});
    }
  }
  return recording;
}

}  // namespace tenon::inference
