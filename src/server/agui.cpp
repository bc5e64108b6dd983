// AG-UI 1.0 (docs.ag-ui.com): a thread is a conversation, and a POST is answered with a stream of events.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <set>

#include "inference/answers/answer_choices.h"
#include "json/reader.h"
#include "server/answer_text.h"
#include "server/api.h"
#include "server/request_fields.h"

namespace tenon::server {

using protocol::EventKind;

namespace {

constexpr std::size_t thread_bytes_max = 255;
constexpr std::string_view protocol_version = "1.0";

/// ISO 8601. `milliseconds`: since 1970.
std::string date(std::int64_t milliseconds) {
  return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(milliseconds / 1000)),
                     milliseconds % 1000);
}

/// The changed entries as a JSON Patch of the client's state.
Json patch_of(const Json& entries) {
  auto patch = Json::array();
  for (const auto& [name, value] : entries.members()) {
    patch.push_back(Json::object({{"op", "add"}, {"path", "/" + name}, {"value", value}}));
  }
  return patch;
}

/// Finds the tool call whose result is the end of a child's turn. A call that pauses for a child prompts it in the
/// call's own branch: the child's `agent_call` is the next one there, and its `agent_result` names that.
class ChildCalls {
 public:
  /// A `tool_result`, an `agent_call`, or the `prompt_started` of a turn.
  void take(EventKind kind, const Json& event) {
    std::string call = event.text_or("call", "");
    if (kind == EventKind::PromptStarted) {
      paused_.clear();
      tools_.clear();
    } else if (kind == EventKind::ToolResult && event.contains("pause_for_child")) {
      std::string branch = branch_of(call);
      paused_[std::move(branch)] = std::move(call);
    } else if (kind == EventKind::AgentCall) {
      const auto paused = paused_.extract(branch_of(call));
      tools_[std::move(call)] = paused ? paused.mapped() : std::string();
    }
  }
  /// The tool call that ends with this `agent_result`; empty when no tool prompted the agent; nothing when the agent's
  /// call is unknown.
  [[nodiscard]] std::optional<std::string> take_result(const Json& event) {
    auto tool = tools_.extract(event.text_or("call", ""));
    if (!tool) return std::nullopt;
    return std::move(tool.mapped());
  }

 private:
  static std::string branch_of(const std::string& call) { return call.substr(0, call.find_last_of("./") + 1); }

  std::map<std::string, std::string> paused_;  ///< by branch: the newest call of a tool that waits for its child
  std::map<std::string, std::string> tools_;   ///< by the name of the agent's call: the tool call that prompted it
};

/// How many records before a child's end are searched for its call, when an earlier request has shown the call.
constexpr std::uint64_t records_looked_back_max = 10'000;

class AguiBody final : public BodySource {
 public:
  /// Reads the same run after another number.
  using Reread = std::function<std::unique_ptr<engine::EventReader>(std::uint64_t after)>;

  AguiBody(std::unique_ptr<engine::EventReader> reader, Reread reread, ShownValues values, runtime::Host& host,
           std::string thread, std::string run)
      : turn_(std::move(reader)),
        reread_(std::move(reread)),
        values_(std::move(values)),
        host_(host),
        thread_(std::move(thread)),
        run_(std::move(run)) {}

  void watch(std::function<void()> notify) override { turn_.watch(std::move(notify)); }
  [[nodiscard]] bool is_done() const override { return is_done_; }
  [[nodiscard]] std::string break_off(std::string_view reason) override {
    out_.clear();
    fail(std::string(reason), "draining");
    return std::move(out_);
  }
  std::string take(std::size_t bytes_max) override {
    out_.clear();
    if (!std::exchange(has_begun_, true)) {
      send("RUN_STARTED",
           Json::object({{"threadId", thread_}, {"runId", run_}, {"protocolVersion", protocol_version}}));
    }
    for (bool has_more = true; has_more && !is_done_;) {
      const auto steps = turn_.take(bytes_max);
      for (const TurnFollower::Step& step : steps) {
        take_step(step);
        if (is_done_) break;
      }
      if (!is_done_ && turn_.is_over()) pause();
      has_more = !steps.empty() && out_.size() < bytes_max;
    }
    return std::move(out_);
  }

 private:
  void take_step(const TurnFollower::Step& step) {
    const Json& event = step.event;
    switch (step.kind) {
      case EventKind::TextDelta:
        if (step.is_answer) add(text_.take(event));
        return;
      case EventKind::Text:
        if (event.contains("generation")) return;    // the program decides what becomes of a model's answer
        if (event.count_or("depth", 0) > 0) return;  // it is addressed to the calling agent
        return emit(event);
      case EventKind::ToolCall: {
        const std::string id = id_of(event, "call");
        open_calls_.insert(id);
        close();
        send("TOOL_CALL_START", Json::object({{"toolCallId", id}, {"toolCallName", event.get("tool")}}));
        send("TOOL_CALL_ARGS", Json::object({{"toolCallId", id}, {"delta", shown(values_.arguments(event))}}));
        send("TOOL_CALL_END", Json::object({{"toolCallId", id}}));
        return;
      }
      case EventKind::PromptStarted:
      case EventKind::AgentCall:
        return children_.take(step.kind, event);
      case EventKind::ToolResult:
        children_.take(step.kind, event);
        if (event.contains("pause_for_child")) return;  // the child's end is its value
        return result(id_of(event, "call"), shown(event.get("value")));
      case EventKind::AgentResult:
        return end_child(event);
      case EventKind::ToolError:
        if (is_question(event)) return;
        return result(id_of(event, "call"), "error: " + event.text_or("message", ""));
      case EventKind::GenerationFinished:
        return count(event);
      case EventKind::StateChanged:
        if (event.count_or("depth", 0) > 0) return;  // the state of another agent
        return send("STATE_DELTA", Json::object({{"delta", patch_of(event.get("entries"))}}));
      case EventKind::WaitForInput:
        close();
        return say(inference::answers::shown_question(event));
      case EventKind::TurnEnd:
        if (event.count_or("depth", 0) > 0) return;
        if (event.contains("state")) send("STATE_SNAPSHOT", Json::object({{"snapshot", event.get("state")}}));
        return end(event);
      case EventKind::TurnFailed:
        return fail(event.text_or("message", ""), event.text_or("kind", ""));
      case EventKind::TurnCancelled:
        return finish(Json::object({{"type", "cancelled"}}), nullptr);
      default:
        return;
    }
  }

  void end(const Json& event) {
    const auto value = values_.turn_value(event);
    if (!value) return fail(value.error(), "too_long");
    const std::string text = shown(*value);
    if (const auto rest = text_.finish(text)) {
      if (!value->is_null()) add(*rest);
      close();
    } else {
      replace(text);
    }
    finish(Json::object({{"type", "success"}}), &*value);
  }

  void emit(const Json& event) {
    const auto text = values_.text(event);
    if (!text) return fail(text.error(), "too_long");
    if (!text_.has_begun_text()) {
      close();
      static_cast<void>(text_.emit(*text, event.text_or("agent", "")));
      say(*text);
    } else if (const auto rest = text_.emit(*text, event.text_or("agent", ""))) {
      add(*rest);
      close();
    } else {
      replace(*text);
    }
    has_said_ = true;
  }

  /// Whether the error is that of a question that no one answered in time; that is not a tool call.
  static bool is_question(const Json& error) {
    const std::string tool = error.text_or("tool", "");
    return tool == "ask" || tool == "ask_within";
  }

  void end_child(const Json& event) {
    auto call = children_.take_result(event);
    if (!call) {
      look_back(event.count_or("number", 0));
      call = children_.take_result(event);
    }
    if (call && !call->empty()) result(turn_.run().text + "/" + *call, shown(event.get("value")));
  }

  /// Reads what the turn did before that number, which an earlier request has shown.
  void look_back(std::uint64_t number) {
    children_ = {};
    const auto reader = reread_(number > records_looked_back_max ? number - records_looked_back_max : 0);
    if (reader == nullptr) return;
    for (auto events = reader->take(look_back_bytes); !events.empty(); events = reader->take(look_back_bytes)) {
      for (const engine::EventReader::Read& read : events) {
        if (read.event->number >= number) return;
        take_earlier(*read.event);
      }
    }
  }
  void take_earlier(const protocol::Event& earlier) {
    const bool counts = earlier.kind == EventKind::PromptStarted || earlier.kind == EventKind::AgentCall ||
                        earlier.kind == EventKind::ToolResult || earlier.kind == EventKind::AgentResult;
    if (!counts) return;
    const auto event = parse_own_json(earlier.json);
    if (earlier.kind == EventKind::AgentResult) {
      static_cast<void>(children_.take_result(event));
    } else {
      children_.take(earlier.kind, event);
    }
  }

  /// What was shown is void: the right text follows as a separate message.
  void replace(const std::string& text) {
    const std::string voided = message_;
    close();
    send("CUSTOM", Json::object({{"name", "tenon.text_voided"}, {"value", Json::object({{"messageId", voided}})}}));
    say(text);
  }

  /// The turn is over without an end: it asks a question, or it cannot be read any further.
  void pause() {
    if (turn_.problem()) return fail(*turn_.problem(), "damaged");
    Json interrupts = Json::array();
    for (const Json& wait : turn_.waits()) interrupts.push_back(interrupt(wait));
    if (interrupts.size() == 0) return finish(Json::object({{"type", "success"}}), nullptr);
    host_.note_shown(turn_.run(), interrupts.size() == 1 ? turn_.waits().front().text_or("wait", "") : "");
    finish(Json::object({{"type", "interrupt"}, {"interrupts", std::move(interrupts)}}), nullptr);
  }

  [[nodiscard]] Json interrupt(const Json& wait) const {
    Json json = Json::object({{"id", wait.get("wait")},
                              {"reason", "input_required"},
                              {"message", inference::answers::shown_question(wait)},
                              {"responseSchema", wait.get("schema")}});
    // A tool asks before it returns.
    const std::string call = id_of(wait, "wait");
    if (open_calls_.contains(call)) json["toolCallId"] = call;
    if (wait.contains("until")) json["expiresAt"] = date(wait.get("until").as_integer());
    return json;
  }

  void finish(Json outcome, const Json* value) {
    close();
    is_done_ = true;
    Json fields = Json::object({{"threadId", thread_}, {"runId", run_}});
    if (value != nullptr) fields["result"] = *value;
    fields["outcome"] = std::move(outcome);
    add_usage(fields);
    send("RUN_FINISHED", fields);
  }

  void fail(const std::string& message, const std::string& code) {
    close();
    is_done_ = true;
    Json fields = Json::object({{"message", message}, {"code", code}});
    add_usage(fields);
    send("RUN_ERROR", fields);
  }

  void count(const Json& generation) {
    Usage& usage = usage_[generation.text_or("model", "")];
    const auto tokens = [&](const char* name) { return generation.count_or(name, 0); };
    usage.input += tokens("computed") + tokens("reused");
    usage.cached += tokens("reused");
    usage.output += tokens("generated");
  }

  void add_usage(Json& fields) const {
    for (const auto& [model, usage] : usage_) {
      Json entry = Json::object({{"inputTokens", usage.input},
                                 {"cachedInputTokens", usage.cached},
                                 {"outputTokens", usage.output},
                                 {"totalTokens", usage.input + usage.output}});
      if (!model.empty()) entry["model"] = model;
      fields["usage"].push_back(std::move(entry));
    }
  }

  void result(const std::string& id, const std::string& content) {
    open_calls_.erase(id);
    send("TOOL_CALL_RESULT",
         Json::object({{"messageId", id + "/result"}, {"toolCallId", id}, {"content", content}, {"role", "tool"}}));
  }

  void add(std::string text) {
    // Emitted text is a separate message, so the empty line after it is not needed.
    if (message_.empty() && has_said_) text.erase(0, std::min(text.find_first_not_of('\n'), text.size()));
    if (text.empty()) return;
    if (message_.empty()) {
      message_ = fmt::format("{}/{}/{}", turn_.run().text, run_, ++messages_);
      send("TEXT_MESSAGE_START", Json::object({{"messageId", message_}, {"role", "assistant"}}));
    }
    send("TEXT_MESSAGE_CONTENT", Json::object({{"messageId", message_}, {"delta", text}}));
  }
  void close() {
    if (message_.empty()) return;
    send("TEXT_MESSAGE_END", Json::object({{"messageId", message_}}));
    message_.clear();
  }
  void say(const std::string& text) {
    add(text);
    close();
  }

  void send(std::string_view type, Json fields) {
    Json event = Json::object({{"type", type}});
    event.update(fields);
    out_ += make_sse(std::nullopt, event.dump());
  }

  [[nodiscard]] std::string id_of(const Json& event, const char* name) const {
    return turn_.run().text + "/" + event.text_or(name, "");
  }

  static constexpr std::size_t look_back_bytes = std::size_t{1} << 20U;

  TurnFollower turn_;
  Reread reread_;
  ShownValues values_;
  runtime::Host& host_;
  std::string thread_, run_;
  ChildCalls children_;
  struct Usage {
    std::uint64_t input = 0, cached = 0, output = 0;  ///< tokens; `cached` is a part of `input`
  };

  AnswerText text_;
  std::map<std::string, Usage> usage_;  ///< by model
  std::set<std::string> open_calls_;    ///< ids of tool calls without a result
  std::string message_;                 ///< the one that is open
  std::uint64_t messages_ = 0;
  std::string out_;
  bool has_begun_ = false;
  bool has_said_ = false;  ///< something was emitted
  bool is_done_ = false;
};

/// The fields of RunAgentInput. `state` is the client's copy of the agent's state, as earlier messages are its copy of
/// the conversation.
constexpr auto agui_fields = std::to_array<RequestField>({
    {"threadId", RequestField::Use::Read},
    {"runId", RequestField::Use::Read},
    {"messages", RequestField::Use::Read},
    {"resume", RequestField::Use::Read},
    {"protocolVersion", RequestField::Use::Ignored},
    {"parentRunId", RequestField::Use::Ignored},
    {"state", RequestField::Use::Ignored},
    {"tools", RequestField::Use::Neutral, "[[]]", "the program decides which tools its models have"},
    {"context", RequestField::Use::Neutral, "[[]]", "the program decides what its models see"},
    {"forwardedProps", RequestField::Use::Neutral, "[{}]", "an agent's input is the text of the last message"},
});

/// The answers to interrupts; empty without a list. The error says what is wrong with it.
Result<std::vector<runtime::GivenAnswer>, std::string> read_resume(const Json* resume) {
  std::vector<runtime::GivenAnswer> answers;
  if (resume == nullptr || resume->is_null()) return answers;
  if (!resume->is_array()) return failure(std::string("`resume`: expected a list of answers"));
  for (const Json& entry : resume->items()) {
    const auto text = [&](std::string_view name) {
      const Json* const value = entry.find(name);
      return value != nullptr && value->is_string() ? value->as_string() : std::string();
    };
    const std::string wait = text("interruptId");
    const std::string status = text("status");
    if (wait.empty() || (status != "resolved" && status != "cancelled")) {
      return failure(
          std::string("`resume`: each entry needs an `interruptId`, and a `status` of `resolved` or `cancelled`"));
    }
    const Json* const payload = entry.find("payload");
    if (status == "cancelled") {
      answers.push_back({wait, std::nullopt});
    } else if (payload != nullptr) {
      answers.push_back({wait, *payload});
    } else {
      return failure(fmt::format("`resume`: the answer to {} has no `payload`", wait));
    }
  }
  return answers;
}

}  // namespace

void Api::run_agui(const Call& call) {
  if (!has_usable_key(call.request, call.answer)) return;
  const auto body = read_body(call.request, call.answer, {});
  if (!body) return;
  const auto wrong = [&](int status, std::string_view code, const std::string& message) {
    call.answer(whole(make_error(status, code, message)));
  };
  const CatalogEntry* const entry = parts_.catalog.find(call.names.front());
  if (entry == nullptr || !entry->takes_a_text()) {
    return wrong(
        404, "not_found",
        fmt::format("unknown agent `{}`: expected an agent or a function that takes one text; /v1/agents lists them",
                    call.names.front()));
  }
  if (const auto problem = find_field_problem(*body, agui_fields)) return call.answer(whole(make_error(*problem)));
  bool is_wrong = false;
  const auto thread = find_text(*body, "threadId", call.answer, is_wrong);
  if (is_wrong) return;
  const auto run = find_text(*body, "runId", call.answer, is_wrong);
  if (is_wrong) return;
  if (!thread || thread->empty() || thread->size() > thread_bytes_max || !run || run->size() > thread_bytes_max) {
    return wrong(422, "wrong_input",
                 fmt::format("`threadId` and `runId`: expected texts of 1 to {} bytes", thread_bytes_max));
  }
  const auto on_reply = [this, thread = *thread, run = *run, answer = call.answer](runtime::HostReply reply) {
    if (!reply) return answer(make_answer(reply.error()));
    HttpAnswer given;
    given.head.content_type = "text/event-stream";
    given.head.headers.emplace_back("Cache-Control", "no-store");
    given.head.headers.emplace_back("X-Tenon-Conversation", reply->run.text);
    given.body = make_later(reply->run, [this, thread, run, accepted = *reply]() -> std::unique_ptr<BodySource> {
      auto reader = make_reader(accepted.run, accepted.after);
      if (reader == nullptr) return nullptr;
      auto reread = [this, name = accepted.run](std::uint64_t after) { return make_reader(name, after); };
      return std::make_unique<AguiBody>(std::move(reader), std::move(reread), values_of(accepted.run), parts_.host,
                                        thread, run);
    });
    answer(std::move(given));
  };
  const std::string name = "agui/" + entry->name + "/" + *thread;
  auto answers = read_resume(body->find("resume"));
  if (!answers) return wrong(422, "wrong_input", answers.error());
  if (!answers->empty()) return parts_.host.answer(name, std::move(*answers), key_of(call.request), on_reply);
  auto text = read_user_text(body->find("messages"),
                             {.field = "messages", .has_conversation = true, .ignores_instructions = true});
  if (!text) return call.answer(whole(make_error(text.error())));
  runtime::RunStart start = entry->make_start(*text);
  parts_.host.say(name, std::move(start), std::move(*text), runtime::SeveralQuestions::Refuse, key_of(call.request),
                  on_reply);
}

}  // namespace tenon::server
