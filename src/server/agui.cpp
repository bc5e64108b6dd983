// AG-UI (docs.ag-ui.com): a thread is a conversation, what a POST leads to comes back as a stream of its events.
#include <fmt/format.h>

#include "server/answer_text.h"
#include "server/api.h"

namespace tenon::server {

using inference::answers::Json;
using nlohmann::ordered_json;
using protocol::EventKind;

namespace {

constexpr std::size_t thread_bytes_max = 255;

HttpAnswer whole(HttpResponse response) {
  return {std::move(response), nullptr, true};
}

/// The changed entries as a JSON Patch of the client's state.
ordered_json patch_of(const nlohmann::json& entries) {
  auto patch = ordered_json::array();
  for (const auto& [name, value] : entries.items()) {
    patch.push_back({{"op", "add"}, {"path", "/" + name}, {"value", value}});
  }
  return patch;
}

class AguiBody final : public BodySource {
 public:
  AguiBody(std::unique_ptr<EventReader> reader, std::string thread, std::string run)
      : turn_(std::move(reader)), thread_(std::move(thread)), run_(std::move(run)) {}

  void watch(std::function<void()> notify) override { turn_.watch(std::move(notify)); }
  [[nodiscard]] bool is_done() const override { return is_done_; }
  std::string take(std::size_t bytes_max) override {
    out_.clear();
    if (!std::exchange(has_begun_, true)) send("RUN_STARTED", {{"threadId", thread_}, {"runId", run_}});
    for (bool goes_on = true; goes_on && !is_done_;) {
      const auto steps = turn_.take(bytes_max);
      for (const TurnFollower::Step& step : steps) take_step(step);
      if (!is_done_ && turn_.is_over()) finish();
      goes_on = !steps.empty() && out_.size() < bytes_max;
    }
    return std::move(out_);
  }

 private:
  void take_step(const TurnFollower::Step& step) {
    const nlohmann::json& event = step.event;
    switch (step.kind) {
      case EventKind::TextDelta:
        if (step.is_answer) add(text_.take(event));
        return;
      case EventKind::Text:
        if (event.contains("generation")) return;  // what becomes of a model's answer, the program says
        close();
        say(event.value("text", std::string()));
        return;
      case EventKind::ToolCall: {
        const std::string id = id_of(event, "call");
        close();
        send("TOOL_CALL_START", {{"toolCallId", id}, {"toolCallName", event["tool"]}});
        send("TOOL_CALL_ARGS", {{"toolCallId", id}, {"delta", event["arguments"].dump()}});
        send("TOOL_CALL_END", {{"toolCallId", id}});
        return;
      }
      case EventKind::ToolResult:
        return result(event, shown(event["value"]));
      case EventKind::ToolError:
        if (event.value("tool", "") == "ask") return;
        return result(event, "error: " + event.value("message", std::string()));
      case EventKind::StateChanged:
        return send("STATE_DELTA", {{"delta", patch_of(event["entries"])}});
      case EventKind::WaitForInput:
        close();
        say(event.value("question", std::string()));
        return send("CUSTOM", {{"name", "tenon.wait_for_input"}, {"value", event}});
      case EventKind::TurnEnd:
        return end(event.contains("value") ? event["value"] : nlohmann::json());
      case EventKind::TurnFailed:
        return fail(event.value("message", std::string()), event.value("kind", std::string()));
      case EventKind::TurnCancelled:
        return fail("the run was cancelled: " + event.value("reason", std::string()), "Cancelled");
      default:
        return;
    }
  }

  void end(const nlohmann::json& value) {
    const std::string text = shown(value);
    if (const auto rest = text_.finish(text)) {
      if (!value.is_null()) add(*rest);
      close();
    } else {
      // What was shown is void: the right text follows as a message of its own.
      const std::string voided = message_;
      close();
      send("CUSTOM", {{"name", "tenon.text_voided"}, {"value", {{"messageId", voided}}}});
      say(text);
    }
    is_done_ = true;
    send("RUN_FINISHED", {{"threadId", thread_}, {"runId", run_}, {"result", value}});
  }

  void finish() {
    if (turn_.problem()) return fail(*turn_.problem(), "damaged");
    close();
    is_done_ = true;
    send("RUN_FINISHED", {{"threadId", thread_}, {"runId", run_}});
  }

  void fail(const std::string& message, const std::string& code) {
    close();
    is_done_ = true;
    send("RUN_ERROR", {{"message", message}, {"code", code}});
  }

  void result(const nlohmann::json& event, const std::string& content) {
    const std::string id = id_of(event, "call");
    send("TOOL_CALL_RESULT",
         {{"messageId", id + "/result"}, {"toolCallId", id}, {"content", content}, {"role", "tool"}});
  }

  void add(const std::string& text) {
    if (text.empty()) return;
    if (message_.empty()) {
      message_ = fmt::format("{}/{}/{}", turn_.run().text, run_, ++messages_);
      send("TEXT_MESSAGE_START", {{"messageId", message_}, {"role", "assistant"}});
    }
    send("TEXT_MESSAGE_CONTENT", {{"messageId", message_}, {"delta", text}});
  }
  void close() {
    if (message_.empty()) return;
    send("TEXT_MESSAGE_END", {{"messageId", message_}});
    message_.clear();
  }
  void say(const std::string& text) {
    add(text);
    close();
  }

  void send(std::string_view type, ordered_json fields) {
    ordered_json event = {{"type", type}};
    event.update(fields);
    out_ += make_sse(std::nullopt, event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }

  [[nodiscard]] std::string id_of(const nlohmann::json& event, const char* name) const {
    return turn_.run().text + "/" + event.value(name, std::string());
  }

  TurnFollower turn_;
  std::string thread_, run_;
  AnswerText text_;
  std::string message_;  ///< the one that is open
  std::uint64_t messages_ = 0;
  std::string out_;
  bool has_begun_ = false;
  bool is_done_ = false;
};

}  // namespace

void Api::run_agui(const Call& call) {
  const auto body = read_body(call.request, call.answer, {});
  if (!body) return;
  const auto wrong = [&](int status, std::string_view code, const std::string& message) {
    call.answer(whole(make_error(status, code, message)));
  };
  const CatalogEntry* const entry = parts_.catalog.find(call.names.front());
  if (entry == nullptr || !entry->takes_a_text()) {
    return wrong(404, "not_found",
                 fmt::format("there is no agent or function `{}` that takes one text; /v1/agents lists them",
                             call.names.front()));
  }
  bool is_wrong = false;
  const auto thread = find_text(*body, "threadId", call.answer, is_wrong);
  if (is_wrong) return;
  const auto run = find_text(*body, "runId", call.answer, is_wrong);
  if (is_wrong) return;
  if (!thread || thread->empty() || thread->size() > thread_bytes_max || !run || run->size() > thread_bytes_max) {
    return wrong(422, "wrong_input",
                 fmt::format("`threadId` and `runId` are texts of 1 to {} bytes", thread_bytes_max));
  }
  auto text = last_user_text(body->find("messages"));
  if (!text) return wrong(422, "wrong_input", "`messages` has no message of the role `user` with a text");
  runtime::RunStart start = entry->make_start(*text);
  parts_.host.say("agui/" + entry->name + "/" + *thread, std::move(start), std::move(*text),
                  [this, thread = *thread, run = *run, answer = call.answer](runtime::HostReply reply) {
                    if (!reply) return answer(make_answer(reply.error()));
                    HttpAnswer given;
                    given.head.content_type = "text/event-stream";
                    given.head.headers.emplace_back("Cache-Control", "no-store");
                    given.head.headers.emplace_back("X-Tenon-Conversation", reply->run.text);
                    given.body = std::make_unique<LaterBody>(
                        [this, thread, run, accepted = *reply]() -> std::unique_ptr<BodySource> {
                          auto reader = make_reader(accepted.run, accepted.after);
                          return reader ? std::make_unique<AguiBody>(std::move(reader), thread, run) : nullptr;
                        });
                    answer(std::move(given));
                  });
}

}  // namespace tenon::server
