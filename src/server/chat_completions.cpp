// OpenAI's chat completions: an agent or function that takes one text is a model, a run is a conversation.
#include <fmt/format.h>

#include <chrono>

#include "json/json.h"
#include "json/reader.h"
#include "server/api.h"
#include "server/openai_fields.h"
#include "server/turn_answer.h"

namespace tenon::server {

namespace {

struct ChatHead {
  std::string id, model, conversation;
  std::int64_t created = 0;  ///< seconds since 1970
  bool is_streamed = false;
  bool wants_usage = false;
};

/// One answer of a chat, as a stream of chunks or as one object.
class ChatBody final : public TurnAnswer {
 public:
  ChatBody(std::unique_ptr<engine::EventReader> reader, ChatHead head, ShownValues values, runtime::Host& host)
      : TurnAnswer(std::move(reader), std::move(values), host, head.is_streamed ? Delivery::Pieces : Delivery::Whole),
        head_(std::move(head)) {}

 private:
  void write_begin(std::string& out) override {
    if (head_.is_streamed) out += chunk(Json::object({{"role", "assistant"}, {"content", ""}}), nullptr, nullptr);
  }
  void write_piece(const std::string& piece, std::string& out) override {
    if (head_.is_streamed) out += chunk(Json::object({{"content", piece}}), nullptr, nullptr);
  }
  void write_end(const Json& wait, std::string& out) override {
    if (!head_.is_streamed) {
      Json object = base("chat.completion", wait);
      object["choices"] =
          Json::array({Json::object({{"index", 0},
                                     {"message", Json::object({{"role", "assistant"}, {"content", text()}})},
                                     {"finish_reason", "stop"}})});
      object["usage"] = tokens();
      out += dump(object) + "\n";
      return;
    }
    out += chunk(Json::object(), "stop", wait);
    if (head_.wants_usage) {
      Json object = base("chat.completion.chunk", wait);
      object["choices"] = Json::array();
      object["usage"] = tokens();
      out += make_sse(std::nullopt, dump(object));
    }
    out += make_sse(std::nullopt, "[DONE]");
  }
  void write_failure(Failure, const std::string& message, const std::string& code, std::string& out) override {
    auto object = parse_own_json(make_error(500, "failed", message).body);
    object["error"]["code"] = code;
    object["conversation"] = head_.conversation;
    out += head_.is_streamed ? make_sse(std::nullopt, dump(object)) : dump(object) + "\n";
  }

  [[nodiscard]] std::string chunk(Json delta, const char* finish, const Json& wait) const {
    Json object = base("chat.completion.chunk", wait);
    Json choice = Json::object({{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", nullptr}});
    if (finish != nullptr) choice["finish_reason"] = finish;
    object["choices"] = Json::array({std::move(choice)});
    return make_sse(std::nullopt, dump(object));
  }

  [[nodiscard]] Json base(std::string_view object, const Json& wait) const {
    Json json = Json::object({{"id", head_.id},
                              {"object", object},
                              {"created", head_.created},
                              {"model", head_.model},
                              {"conversation", head_.conversation}});
    if (!wait.is_null())
      json["wait"] = Json::object({{"run", run().text}, {"wait", wait.get("wait")}, {"schema", wait.get("schema")}});
    return json;
  }

  [[nodiscard]] Json tokens() const {
    return Json::object({{"prompt_tokens", usage().input},
                         {"completion_tokens", usage().output},
                         {"total_tokens", usage().input + usage().output},
                         {"prompt_tokens_details", Json::object({{"cached_tokens", usage().cached}})}});
  }

  ChatHead head_;
};

Json describe_model(const CatalogEntry& entry) {
  return Json::object().set("id", entry.name).set("object", "model").set("created", 0).set("owned_by", "tenon");
}

}  // namespace

void Api::list_models(const Call& call) {
  Json list = Json::array();
  for (const auto& [name, entry] : parts_.catalog.entries()) {
    if (!entry.takes_a_text()) continue;
    list.push_back(describe_model(entry));
  }
  call.answer(whole(make_json(Json::object().set("object", "list").set("data", std::move(list)).dump())));
}

void Api::show_model(const Call& call) {
  const CatalogEntry* const entry = find_model(call.names.front(), call.answer);
  if (entry != nullptr) call.answer(whole(make_json(describe_model(*entry).dump())));
}

const CatalogEntry* Api::find_model(const Json& body, const OnAnswer& answer) const {
  const auto model = read_string(body, "model");
  if (model) return find_model(*model, answer);
  answer(whole(make_error(model.error())));
  return nullptr;
}

const CatalogEntry* Api::find_model(const std::string& name, const OnAnswer& answer) const {
  const CatalogEntry* const entry = parts_.catalog.find(name);
  if (entry != nullptr && entry->takes_a_text()) return entry;
  answer(whole(make_error(404, "model_not_found",
                          fmt::format("unknown model `{}`: a model is an agent or a function that takes one text; "
                                      "/v1/models lists them",
                                      name),
                          "model")));
  return nullptr;
}

void Api::say(const Message& message, runtime::RequestKey key, const OnAnswer& answer, const runtime::OnReply& reply) {
  constexpr std::size_t conversation_bytes_max = 255;
  using runtime::SeveralQuestions;
  const std::string& conversation = message.conversation;
  const CatalogEntry& entry = *message.entry;
  if (conversation.size() > conversation_bytes_max) {
    return answer(whole(make_error(
        422, "wrong_input", fmt::format("the conversation's name has more than {} bytes", conversation_bytes_max),
        "conversation")));
  }
  if (!journal::is_run_name(conversation)) {
    const std::string name = conversation.empty() ? "" : "chat/" + entry.name + "/" + conversation;
    return parts_.host.say(name, entry.make_start(message.text), message.text, SeveralQuestions::Oldest, std::move(key),
                           reply);
  }
  const journal::RunName run{conversation};
  const auto known = parts_.store.head(run);
  if (known && known->summary.title != entry.declared_name()) {
    return answer(whole(make_error(
        409, "conflict",
        fmt::format("the conversation is one of `{}`, and `model` is `{}`", known->summary.title, entry.name))));
  }
  parts_.host.say(run, message.text, SeveralQuestions::Oldest, std::move(key), reply);
}

std::optional<Api::AnswerRequest> Api::read_answer_request(const Call& call,
                                                           std::span<const RequestField> fields) const {
  if (!has_usable_key(call.request, call.answer)) return std::nullopt;
  auto body = read_body(call.request, call.answer, {});
  if (!body) return std::nullopt;
  const auto refuse = [&](const FieldProblem& problem) {
    call.answer(whole(make_error(problem)));
    return std::nullopt;
  };
  const CatalogEntry* const entry = find_model(*body, call.answer);
  if (entry == nullptr) return std::nullopt;
  if (const auto problem = find_field_problem(*body, fields)) return refuse(*problem);
  const auto is_streamed = read_flag(*body, "stream");
  if (!is_streamed) return refuse(is_streamed.error());
  const auto options = read_stream_options(*body);
  if (!options) return refuse(options.error());
  return AnswerRequest{std::move(*body), entry, *is_streamed, options->wants_usage};
}

void Api::complete_chat(const Call& call) {
  const auto wanted = read_answer_request(call, chat_fields());
  if (!wanted) return;
  const auto refuse = [&](const FieldProblem& problem) { call.answer(whole(make_error(problem))); };
  auto conversation = read_string(wanted->body, "conversation");
  if (!conversation) return refuse(conversation.error());
  if (conversation->empty()) conversation = std::string(call.request.header("x-tenon-conversation"));
  auto text =
      read_user_text(wanted->body.find("messages"), {.field = "messages", .has_conversation = !conversation->empty()});
  if (!text) return refuse(text.error());

  ChatHead head;
  head.model = wanted->entry->name;
  head.is_streamed = wanted->is_streamed;
  head.wants_usage = wanted->wants_usage;
  const auto on_reply = [this, head, answer = call.answer, name = *conversation](runtime::HostReply reply) mutable {
    if (!reply) return answer(make_answer(reply.error()));
    head.conversation = name.empty() ? reply->run.text : name;
    head.id = fmt::format("chatcmpl-{}-{}", reply->run.text, reply->after);
    const auto seconds = std::chrono::system_clock::now().time_since_epoch();
    head.created = std::chrono::duration_cast<std::chrono::seconds>(seconds).count();
    HttpAnswer given;
    given.is_streamed = head.is_streamed;
    given.head.headers.emplace_back("X-Tenon-Conversation", head.conversation);
    // The message was accepted, whatever follows: a client that repeated it automatically would say it twice.
    given.head.headers.emplace_back("X-Should-Retry", "false");
    if (head.is_streamed) {
      given.head.content_type = "text/event-stream";
      given.head.headers.emplace_back("Cache-Control", "no-store");
    }
    given.body = make_later(reply->run, [this, head, accepted = *reply]() -> std::unique_ptr<BodySource> {
      auto reader = make_reader(accepted.run, accepted.after);
      if (reader == nullptr) return nullptr;
      return std::make_unique<ChatBody>(std::move(reader), head, values_of(accepted.run), parts_.host);
    });
    answer(std::move(given));
  };
  say({wanted->entry, std::move(*conversation), std::move(*text)}, key_of(call.request), call.answer, on_reply);
}

}  // namespace tenon::server
