#include "runtime/host/requests/inbox_command.h"

#include <fmt/format.h>

#include <array>
#include <utility>

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

std::optional<std::uint64_t> number_of(const Json& object, std::string_view name) {
  const Json* const value = object.find(name);
  const bool is_number = value != nullptr && value->is_integer() && value->as_integer() >= 0;
  return is_number ? std::optional(static_cast<std::uint64_t>(value->as_integer())) : std::nullopt;
}

std::optional<Json> json_of(const Json& object, std::string_view name) {
  const Json* const value = object.find(name);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

Json to_json(const GivenAnswer& given) {
  Json json = Json::object({{"wait", given.wait}});
  if (given.input) json.set("input", *given.input);
  return json;
}

/// Writes the fields of each action.
struct ActionWriter {
  Json& json;

  void operator()(const AnswerQuestion& answer) const {
    json.set("do", answer.input.form == Input::Form::Typed ? "resume" : "answer").set("wait", answer.wait);
    json.set("input", answer.input.json);
  }
  void operator()(const AnswerQuestions& several) const {
    Json list = Json::array();
    for (const GivenAnswer& given : several.answers) list.push_back(to_json(given));
    json.set("do", "answers").set("answers", std::move(list));
  }
  void operator()(const RetryServices& /*retry*/) const { json.set("do", "retry"); }
  void operator()(const CancelRun& cancel) const {
    json.set("do", "cancel").set("reason", cancel.reason);
    if (cancel.scope == CancelScope::Turn) json.set("scope", "turn");
  }
  void operator()(const PromptAgent& prompt) const { json.set("do", "prompt").set("input", prompt.input); }
  void operator()(const SayInConversation& say) const {
    json.set("do", "say").set("text", say.text).set("shown", say.shown);
    json.set("several", say.several == SeveralQuestions::Oldest ? "oldest" : "refuse");
  }
  void operator()(const StartRun& start) const {
    json.set("do", "start").set("program", start.program.hex());
    json.set("function", start.function).set("agent", start.agent).set("arguments", start.arguments);
    if (start.input) json.set("input", *start.input);
    json.set("shown_name", start.shown_name).set("pool", start.pool).set("conversation", start.conversation);
  }
};

Result<RunAction, std::string> read_answer(const Json& json, Input::Form form) {
  auto input = json_of(json, "input");
  if (!input) return failure(std::string("the answer is missing"));
  return AnswerQuestion{json.text_or("wait", ""), {form, std::move(*input)}};
}

Result<RunAction, std::string> read_answers(const Json& json) {
  AnswerQuestions several;
  const Json* const list = json.find("answers");
  if (list == nullptr || !list->is_array() || list->items().empty())
    return failure(std::string("the answers are missing"));
  for (const Json& given : list->items())
    several.answers.push_back({given.text_or("wait", ""), json_of(given, "input")});
  return several;
}

Result<RunAction, std::string> read_start(const Json& json) {
  const auto program = Hash::from_hex(json.text_or("program", ""));
  if (!program) return failure(std::string("the program's hash is missing"));
  StartRun start{.program = *program,
                 .function = json.text_or("function", ""),
                 .agent = json.text_or("agent", ""),
                 .arguments = json_of(json, "arguments").value_or(Json::object()),
                 .input = json_of(json, "input"),
                 .shown_name = json.text_or("shown_name", ""),
                 .pool = json.text_or("pool", ""),
                 .conversation = json.text_or("conversation", "")};
  if (start.function.empty() == start.agent.empty())
    return failure(std::string("expected either a function or an agent"));
  return start;
}

Result<RunAction, std::string> read_action(const Json& json) {
  const std::string verb = json.text_or("do", "");
  if (verb == "resume") return read_answer(json, Input::Form::Typed);
  if (verb == "answer") return read_answer(json, Input::Form::Json);
  if (verb == "answers") return read_answers(json);
  if (verb == "retry") return RetryServices{};
  if (verb == "cancel") {
    const bool is_turn = json.text_or("scope", "") == "turn";
    return CancelRun{is_turn ? CancelScope::Turn : CancelScope::Run, json.text_or("reason", "")};
  }
  if (verb == "prompt") {
    auto input = json_of(json, "input");
    if (!input) return failure(std::string("the input is missing"));
    return PromptAgent{std::move(*input)};
  }
  if (verb == "say") {
    const bool is_oldest = json.text_or("several", "") == "oldest";
    return SayInConversation{json.text_or("text", ""), is_oldest ? SeveralQuestions::Oldest : SeveralQuestions::Refuse,
                             json.text_or("shown", "")};
  }
  if (verb == "start") return read_start(json);
  return failure(fmt::format("unknown command `{}`: it may come from a newer Tenon", verb));
}

/// The kinds of failures by the names that they have in replies.
constexpr std::array<std::pair<HostFailure::Kind, std::string_view>, 10> failure_names{{
    {HostFailure::Kind::NotFound, "not_found"},
    {HostFailure::Kind::Conflict, "conflict"},
    {HostFailure::Kind::WrongInput, "wrong_input"},
    {HostFailure::Kind::KeyReused, "key_reused"},
    {HostFailure::Kind::Unavailable, "unavailable"},
    {HostFailure::Kind::Unknown, "unknown"},
    {HostFailure::Kind::Raced, "raced"},
    {HostFailure::Kind::Elsewhere, "elsewhere"},
    {HostFailure::Kind::Unequipped, "unequipped"},
    {HostFailure::Kind::Damaged, "damaged"},
}};

}  // namespace

std::string encode(const InboxCommand& command) {
  Json json = Json::object();
  std::visit(ActionWriter{json}, command.action);
  if (!command.key.key.empty()) {
    json.set("key", command.key.key).set("fingerprint", command.key.fingerprint.hex());
  }
  if (!command.key.notes.empty()) {
    Json notes = Json::array();
    for (const AcceptedNote& note : command.key.notes) {
      notes.push_back(Json::object({{"prefix", note.prefix}, {"bytes", note.bytes}}));
    }
    json.set("notes", std::move(notes));
  }
  if (command.if_records) json.set("if_records", *command.if_records);
  return json.dump();
}

Result<InboxCommand, std::string> decode_command(std::string_view bytes) {
  const auto json = read_object(bytes);
  if (!json) return failure(json.error());
  auto action = read_action(*json);
  if (!action) return failure(std::move(action.error()));
  InboxCommand command{.action = std::move(*action)};
  command.key.key = json->text_or("key", "");
  if (!command.key.key.empty()) {
    const auto fingerprint = Hash::from_hex(json->text_or("fingerprint", ""));
    if (!fingerprint) return failure(std::string("the fingerprint of the request is missing"));
    command.key.fingerprint = *fingerprint;
  }
  if (const Json* const notes = json->find("notes")) {
    for (const Json& note : notes->items_or_none()) {
      command.key.notes.push_back({note.text_or("prefix", ""), note.text_or("bytes", "")});
    }
  }
  command.if_records = number_of(*json, "if_records");
  return command;
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
  const auto sealed = from_base64(json->text_or("sealed", ""));
  if (!sealed) return failure(std::string("its seal cannot be read"));
  if (secrets == nullptr) return failure(std::string("it is sealed, and there is no key"));
  const auto text = secrets->open_text(*sealed, command_purpose);
  if (!text) return failure(text.error().message);
  return decode_command(*text);
}

bool is_sealed(std::string_view bytes) {
  const auto json = read_object(bytes);
  return json && json->find("sealed") != nullptr;
}

std::string encode_reply(const HostReply& reply, journal::OwnerId owner) {
  Json json = Json::object();
  if (reply) {
    json.set("run", reply->run.text).set("wait", reply->wait).set("after", reply->after);
    return json.dump();
  }
  json.set("error", reply.error().message).set("wait", reply.error().wait);
  if (reply.error().kind == HostFailure::Kind::Unequipped) json.set("by", owner.number);
  for (const auto& [kind, name] : failure_names) {
    if (kind == reply.error().kind) json.set("kind", name);
  }
  return json.dump();
}

HostReply decode_reply(std::string_view bytes) {
  const auto json = read_object(bytes);
  if (!json) {
    return failure(HostFailure{HostFailure::Kind::Unavailable, "cannot read the reply of the run's owner"});
  }
  if (json->find("error") == nullptr) {
    return Accepted{{json->text_or("run", "")}, json->text_or("wait", ""), json->count_or("after", 0)};
  }
  HostFailure why{HostFailure::Kind::WrongInput, json->text_or("error", ""), json->text_or("wait", "")};
  why.refuser = json->count_or("by", 0);
  const std::string kind = json->text_or("kind", "");
  for (const auto& [known, name] : failure_names) {
    if (kind == name) why.kind = known;
  }
  return failure(std::move(why));
}

}  // namespace tenon::runtime
