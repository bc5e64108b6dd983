#include "runtime/host/requests/inbox_command.h"

#include "base/sealing.h"
#include "json/reader.h"

namespace tenon::runtime {

namespace {

constexpr std::string_view command_purpose = "inbox command";

Result<Json, std::string> read_object(std::string_view bytes) {
  auto json = parse_json(bytes);
  if (!json) return failure("invalid JSON: " + json.error().message);
  if (!json->is_object()) return failure(std::string("expected a JSON object"));
  return std::move(*json);
}

std::string text_of(const Json& object, std::string_view name) {
  const Json* const value = object.find(name);
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

}  // namespace

std::string encode(const InboxCommand& command) {
  Json json = Json::object();
  if (command.verb == InboxCommand::Verb::Cancel) {
    json.set("do", "cancel").set("reason", command.reason);
  } else if (command.verb == InboxCommand::Verb::Retry) {
    json.set("do", "retry");
  } else {
    json.set("do", "resume").set("wait", command.wait);
    json.set("input", command.input);
  }
  return json.dump();
}

Result<InboxCommand, std::string> decode_command(std::string_view bytes) {
  const auto json = read_object(bytes);
  if (!json) return failure(json.error());
  const std::string verb = text_of(*json, "do");
  if (verb == "cancel") return InboxCommand{InboxCommand::Verb::Cancel, "", "", text_of(*json, "reason")};
  if (verb == "resume") {
    return InboxCommand{InboxCommand::Verb::Resume, text_of(*json, "wait"), text_of(*json, "input"), ""};
  }
  if (verb == "retry") return InboxCommand{InboxCommand::Verb::Retry, "", "", ""};
  return failure("unknown command `" + verb + "`: expected `resume`, `retry` or `cancel`");
}

Result<std::string, std::string> seal_command(const InboxCommand& command, effects::SecretVault& secrets) {
  const auto sealed = secrets.seal_text(encode(command), command_purpose);
  if (!sealed) return failure(sealed.error().message);
  Json json = Json::object();
  json.set("sealed", to_base64(*sealed));
  return json.dump();
}

Result<InboxCommand, std::string> open_command(std::string_view bytes, effects::SecretVault* secrets) {
  const auto json = read_object(bytes);
  if (!json) return failure(json.error());
  if (json->find("sealed") == nullptr) return decode_command(bytes);
  const auto sealed = from_base64(text_of(*json, "sealed"));
  if (!sealed) return failure(std::string("its seal cannot be read"));
  if (secrets == nullptr) return failure(std::string("it is sealed, and there is no key"));
  const auto text = secrets->open_text(*sealed, command_purpose);
  if (!text) return failure(text.error().message);
  return decode_command(*text);
}

std::string encode(const InboxReply& reply) {
  Json json = Json::object();
  if (reply.error) json.set("error", *reply.error);
  return json.dump();
}

Result<InboxReply, std::string> decode_reply(std::string_view bytes) {
  const auto json = read_object(bytes);
  if (!json) return failure(json.error());
  const Json* const error = json->find("error");
  if (error == nullptr) return InboxReply{};
  return InboxReply{text_of(*json, "error")};
}

}  // namespace tenon::runtime
