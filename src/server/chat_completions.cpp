// OpenAI's chat completions: an agent or function that takes one text is a model, a run is a conversation.
#include <fmt/format.h>

#include <chrono>

#include "inference/answers/json_parser.h"
#include "server/answer_text.h"
#include "server/api.h"

namespace tenon::server {

using inference::answers::Json;
using nlohmann::ordered_json;
using protocol::EventKind;

namespace {

constexpr std::size_t conversation_bytes_max = 255;

struct ChatHead {
  std::string id, model, conversation;
  std::int64_t created = 0;  ///< seconds
  bool is_streamed = false;
  bool wants_usage = false;
};

/// One answer of a chat, as a stream of chunks or as one object.
class ChatBody final : public BodySource {
 public:
  ChatBody(std::unique_ptr<EventReader> reader, ChatHead head, ShownValues values, runtime::Host& host)
      : turn_(std::move(reader)), head_(std::move(head)), values_(std::move(values)), host_(host) {}

  void watch(std::function<void()> notify) override { turn_.watch(std::move(notify)); }
  [[nodiscard]] bool is_done() const override { return is_done_; }
  [[nodiscard]] std::optional<int> status() const override { return status_; }
  [[nodiscard]] std::string break_off(std::string_view reason) override {
    std::string out;
    fail(std::string(reason), "draining", out);
    status_ = 503;
    return out;
  }
  std::string take(std::size_t bytes_max) override {
    std::string out;
    if (head_.is_streamed && !std::exchange(has_begun_, true)) {
      out += chunk({{"role", "assistant"}, {"content", ""}}, nullptr);
    }
    // A follower gives nothing once when it finds out that the turn is over.
    for (bool goes_on = true; goes_on && !is_done_;) {
      const auto steps = turn_.take(bytes_max);
      for (const TurnFollower::Step& step : steps) {
        take_step(step, out);
        if (is_done_) break;
      }
      if (!is_done_ && turn_.is_over()) finish(out);
      goes_on = !steps.empty() && out.size() < bytes_max;
    }
    return out;
  }

 private:
  void take_step(const TurnFollower::Step& step, std::string& out) {
    const nlohmann::json& event = step.event;
    switch (step.kind) {
      case EventKind::TextDelta:
        if (step.is_answer && head_.is_streamed) add(text_.take(event), out);
        return;
      case EventKind::GenerationFinished:
        computed_ += event.value("computed", std::uint64_t{0}) + event.value("reused", std::uint64_t{0});
        generated_ += event.value("generated", std::uint64_t{0});
        return;
      case EventKind::Text:
        if (event.contains("generation")) return;  // what becomes of a model's answer, the program says
        if (event.value("depth", 0) > 0) return;   // it is said to the agent that has called
        return emit(event, out);
      case EventKind::TurnEnd: {
        if (event.value("depth", 0) > 0) return;
        const auto value = values_.turn_value(event);
        return value ? end(shown(*value), out) : fail(value.error(), "too_long", out);
      }
      case EventKind::TurnFailed:
        return fail(event.value("message", std::string()), event.value("kind", std::string("failed")), out);
      case EventKind::TurnCancelled:
        return fail("the run was cancelled: " + event.value("reason", std::string()), "Cancelled", out);
      default:
        return;
    }
  }

  void emit(const nlohmann::json& event, std::string& out) {
    const auto text = values_.text(event);
    if (!text) return fail(text.error(), "too_long", out);
    const auto more = text_.emit(*text);
    if (!more) return fail_voided(out);
    said_ += *more;
    if (head_.is_streamed) add(*more, out);
  }

  /// The turn is over without an end: it asks somebody, or it cannot be read on. Of several questions the oldest is
  /// shown, which the next message answers.
  void finish(std::string& out) {
    if (turn_.problem()) return fail(*turn_.problem(), "damaged", out);
    if (turn_.waits().empty()) return end("", out);
    wait_ = turn_.waits().front();
    host_.note_shown(turn_.run(), wait_.value("wait", std::string()));
    if (text_.has_shown()) {
      said_ += "\n\n";
      if (head_.is_streamed) add("\n\n", out);
    }
    text_ = AnswerText();
    end(wait_.value("question", std::string()), out);
  }

  void end(const std::string& value, std::string& out) {
    is_done_ = true;
    const auto rest = text_.finish(value);
    if (!head_.is_streamed) {
      ordered_json object = base("chat.completion");
      object["choices"] =
          ordered_json::array({{{"index", 0},
                                {"message", {{"role", "assistant"}, {"content", said_ + rest.value_or(value)}}},
                                {"finish_reason", "stop"}}});
      object["usage"] = usage();
      out += dump(object) + "\n";
      return;
    }
    if (!rest) return fail_voided(out);
    add(*rest, out);
    out += chunk(ordered_json::object(), "stop");
    if (head_.wants_usage) {
      ordered_json object = base("chat.completion.chunk");
      object["choices"] = ordered_json::array();
      object["usage"] = usage();
      out += make_sse(std::nullopt, dump(object));
    }
    out += make_sse(std::nullopt, "[DONE]");
  }

  void fail_voided(std::string& out) {
    fail("the model's answer was voided by a second attempt; ask for the run's value", "voided", out);
  }

  void fail(const std::string& message, const std::string& code, std::string& out) {
    is_done_ = true;
    status_ = 500;
    std::string error = make_error(500, "failed", message).body;
    auto object = ordered_json::parse(error);
    object["error"]["code"] = code;
    object["conversation"] = head_.conversation;
    out += head_.is_streamed ? make_sse(std::nullopt, dump(object)) : dump(object) + "\n";
  }

  void add(const std::string& text, std::string& out) {
    if (!text.empty()) out += chunk({{"content", text}}, nullptr);
  }

  [[nodiscard]] std::string chunk(ordered_json delta, const char* finish) const {
    ordered_json object = base("chat.completion.chunk");
    ordered_json choice = {{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", nullptr}};
    if (finish != nullptr) choice["finish_reason"] = finish;
    object["choices"] = ordered_json::array({std::move(choice)});
    return make_sse(std::nullopt, dump(object));
  }

  [[nodiscard]] ordered_json base(std::string_view object) const {
    ordered_json json = {{"id", head_.id},
                         {"object", object},
                         {"created", head_.created},
                         {"model", head_.model},
                         {"conversation", head_.conversation}};
    if (!wait_.is_null() && is_done_)
      json["wait"] = {{"run", turn_.run().text}, {"wait", wait_["wait"]}, {"schema", wait_["schema"]}};
    return json;
  }

  [[nodiscard]] ordered_json usage() const {
    return {{"prompt_tokens", computed_}, {"completion_tokens", generated_}, {"total_tokens", computed_ + generated_}};
  }

  static std::string dump(const ordered_json& json) {
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  TurnFollower turn_;
  ChatHead head_;
  ShownValues values_;
  runtime::Host& host_;
  AnswerText text_;
  std::string said_;     ///< what was emitted
  nlohmann::json wait_;  ///< the question that is shown; null: none
  bool has_begun_ = false;
  bool is_done_ = false;
  std::optional<int> status_;
  std::uint64_t computed_ = 0, generated_ = 0;
};

bool is_true(const Json* value) {
  return value != nullptr && value->is(Json::Kind::Boolean) && value->as_boolean();
}

}  // namespace

void Api::list_models(const Call& call) {
  Json list = Json::array();
  for (const auto& [name, entry] : parts_.catalog.entries()) {
    if (!entry.takes_a_text()) continue;
    list.mutable_items().push_back(Json::object()
                                       .set("id", Json::string(name))
                                       .set("object", Json::string("model"))
                                       .set("created", Json::integer(0))
                                       .set("owned_by", Json::string("tenon")));
  }
  call.answer(whole(make_json(Json::object().set("object", Json::string("list")).set("data", std::move(list)).dump())));
}

void Api::complete_chat(const Call& call) {
  if (!has_usable_key(call.request, call.answer)) return;
  const auto body = read_body(call.request, call.answer, {});
  if (!body) return;
  const auto wrong = [&](int status, std::string_view code, const std::string& message) {
    call.answer(whole(make_error(status, code, message)));
  };
  bool is_wrong = false;
  const auto model = find_text(*body, "model", call.answer, is_wrong);
  if (is_wrong) return;
  auto conversation = find_text(*body, "conversation", call.answer, is_wrong);
  if (is_wrong) return;
  if (!conversation) conversation = std::string(call.request.header("x-tenon-conversation"));
  if (conversation->size() > conversation_bytes_max) {
    return wrong(422, "wrong_input",
                 fmt::format("the conversation's name has more than {} bytes", conversation_bytes_max));
  }
  const CatalogEntry* const entry = model ? parts_.catalog.find(*model) : nullptr;
  if (entry == nullptr || !entry->takes_a_text()) {
    return wrong(
        404, "model_not_found",
        fmt::format("there is no model `{}`: a model is an agent or a function that takes one text; /v1/models "
                    "lists them",
                    model.value_or("")));
  }
  auto text = last_user_text(body->find("messages"));
  if (!text) return wrong(422, "wrong_input", "`messages` has no message of the role `user` with a text");

  ChatHead head;
  head.model = entry->name;
  head.is_streamed = is_true(body->find("stream"));
  if (const Json* const options = body->find("stream_options"))
    head.wants_usage = is_true(options->find("include_usage"));
  const bool is_run = journal::is_run_name(*conversation);
  const auto on_reply = [this, head, answer = call.answer, name = *conversation](runtime::HostReply reply) mutable {
    if (!reply) return answer(make_answer(reply.error()));
    head.conversation = name.empty() ? reply->run.text : name;
    head.id = fmt::format("chatcmpl-{}-{}", reply->run.text, reply->after);
    const auto seconds = std::chrono::system_clock::now().time_since_epoch();
    head.created = std::chrono::duration_cast<std::chrono::seconds>(seconds).count();
    HttpAnswer given;
    given.is_streamed = head.is_streamed;
    given.head.headers.emplace_back("X-Tenon-Conversation", head.conversation);
    // It was said, whatever comes of it: a client that sent it again by itself would say it twice.
    given.head.headers.emplace_back("X-Should-Retry", "false");
    if (head.is_streamed) {
      given.head.content_type = "text/event-stream";
      given.head.headers.emplace_back("Cache-Control", "no-store");
    }
    given.body = std::make_unique<LaterBody>([this, head, accepted = *reply]() -> std::unique_ptr<BodySource> {
      auto reader = make_reader(accepted.run, accepted.after);
      if (reader == nullptr) return nullptr;
      return std::make_unique<ChatBody>(std::move(reader), head, values_of(accepted.run), parts_.host);
    });
    answer(std::move(given));
  };
  using runtime::SeveralQuestions;
  if (is_run) {
    const journal::RunName run{*conversation};
    const auto known = parts_.store.head(run);
    if (known && known->summary.title != entry->declared_name()) {
      return wrong(
          409, "conflict",
          fmt::format("the conversation is one of `{}`, and `model` is `{}`", known->summary.title, entry->name));
    }
    return parts_.host.say(run, std::move(*text), SeveralQuestions::Oldest, key_of(call.request), on_reply);
  }
  runtime::RunStart start = entry->make_start(*text);
  const std::string name = conversation->empty() ? "" : "chat/" + entry->name + "/" + *conversation;
  parts_.host.say(name, std::move(start), std::move(*text), SeveralQuestions::Oldest, key_of(call.request), on_reply);
}

}  // namespace tenon::server
