#include "protocol/record_events.h"

#include <fmt/format.h>

#include "base/ensure.h"
#include "base/file_names.h"
#include "effects/value_form.h"
#include "effects/wait_name.h"
#include "json/reader.h"
#include "json/text.h"
#include "protocol/event_writer.h"

namespace tenon::protocol {
namespace {

using effects::EffectKind;
using effects::StoredText;

/// The text in the form that `show` gives it, or what replaces it in the event.
template <class Show>
std::string value_of(const StoredText& text, const Contents& contents, const Show& show) {
  if (!text.hash) return text.text.empty() ? "null" : show(effects::name_secrets(text.text));
  const auto content = contents(text);
  const std::string_view pieces = text.is_in_pieces ? R"(,"in_pieces":true)" : "";
  if (!content) return fmt::format(R"({{"left_out":{{"hash":"{}"{}}}}})", text.hash->hex(), pieces);
  if (content->size() <= event_value_bytes_max) return show(effects::name_secrets(*content));
  return fmt::format(R"({{"left_out":{{"hash":"{}","bytes":{}{}}}}})", text.hash->hex(), content->size(), pieces);
}

/// Of a text that is not a value, or has the form of a String.
std::string value_of(const StoredText& text, const Contents& contents) {
  return value_of(text, contents, [](std::string unchanged) { return unchanged; });
}

/// One of the arguments: the question of an `ask`, the emitted text, the reason of a refusal.
std::string text_at(std::size_t position, const StoredText& arguments, const Contents& contents) {
  std::string text = value_of(arguments, contents);
  const Json json = parse_own_json(text);
  if (json.is_array() && json.size() > position && json.items()[position].is_string()) {
    return json.items()[position].as_string();
  }
  return json.is_array() ? std::string() : text;  // the event leaves it out
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text = "[";
  for (const std::string& name : names) text += (text.size() > 1 ? "," : "") + make_json_string(name);
  return text + ']';
}

/// A model as it was chosen, such as `gguf:FILE`, with its file's public name.
std::string public_model(std::string_view model) {
  const std::size_t rest = model.find(':') + 1;  // 0 without a colon
  return fmt::format("{}{}", model.substr(0, rest), public_file_name(model.substr(rest)));
}

std::string_view purpose_of(EffectKind kind) {
  return effects::effect_name(kind);
}

// Whether a record has an event; all others have one.

/// A conversation begins with its first prompt.
bool is_shown(const effects::Started& started) {
  return started.agent.empty();
}
/// Its outcome shows that something was performed again.
bool is_shown(const effects::Attempted& attempted) {
  return attempted.what != effects::Attempted::What::Retried;
}
/// The event of a notification's request has everything.
bool is_shown(const effects::Finished& finished) {
  return !effects::is_notification(finished.kind);
}

class RecordEvent {
 public:
  RecordEvent(const RecordPlace& place, std::int64_t time, const Contents& contents, const RunValues& values)
      : header_{place.number, place.run, place.scope, time}, contents_(contents), values_(values) {}

  std::optional<Event> operator()(const effects::Started& started) {
    if (!is_shown(started)) return std::nullopt;
    EventWriter out = begin(EventKind::PromptStarted);
    const auto show = [&](std::string text) { return values_.start_arguments(started.function, std::move(text)); };
    out.json("input", value_of(started.arguments, contents_, show)).text("model", public_model(started.settings.model));
    out.text("program", started.program.hex());
    return end(EventKind::PromptStarted, out);
  }

  std::optional<Event> operator()(const effects::TurnStarted& started) {
    stand_in({started.agent, 0});
    EventWriter out = begin(EventKind::PromptStarted);
    const std::string input = values_.turn_input(header_.scope.agent, text_of(started.input)).dump();
    out.json("input", input).integer("turn", started.turn);
    return end(EventKind::PromptStarted, out);
  }

  /// A tool asks, and is called again with the answer.
  std::optional<Event> operator()(const effects::Paused& paused) {
    stand_in(paused.scope.view());
    EventWriter out = begin(EventKind::WaitForInput);
    out.text("wait", effects::wait_name(paused.key, paused.earlier)).text("question", paused.question);
    out.json("schema", paused.form == StoredText{} ? R"({"type":"string"})" : value_of(paused.form, contents_));
    if (!paused.callers.empty()) out.json("callers", list_of(paused.callers));
    return end(EventKind::WaitForInput, out);
  }

  std::optional<Event> operator()(const effects::Continued& continued) {
    stand_in(continued.scope.view());
    EventWriter out = begin(EventKind::ResumeWithInput);
    out.text("wait", effects::wait_name(continued.key, continued.earlier));
    const std::string input = text_of(continued.input);
    out.json("input", values_.is_decision(continued) ? input : make_json_string(input));
    return end(EventKind::ResumeWithInput, out);
  }

  std::optional<Event> operator()(const effects::Said& said) {
    stand_in(said.scope.view());
    EventWriter out = begin(EventKind::Text);
    return end(EventKind::Text, out.text("generation", said.key).text("text", text_of(said.text)));
  }

  std::optional<Event> operator()(const effects::StateChanged& changed) {
    stand_in({changed.agent, 0});
    EventWriter out = begin(EventKind::StateChanged);
    return end(EventKind::StateChanged, out.json("entries", entries_of(changed.entries)));
  }

  std::optional<Event> operator()(const effects::TurnEnded& ended) {
    stand_in({ended.agent, 0});
    return turn_end(ended.how, ended.value, ended.failure,
                    ended.state == StoredText{} ? "" : state_of(ended.state, ended.added_entries));
  }

  std::optional<Event> operator()(const effects::Requested& requested) {
    stand_in(requested.scope.view());
    if (const auto agent_event = notice(requested)) return agent_event;
    if (effects::is_generation(requested.kind)) {
      EventWriter out = begin(EventKind::GenerationStarted);
      out.text("generation", requested.key).text("purpose", purpose_of(requested.kind));
      out.text("subject", requested.subject);
      if (requested.form != StoredText{}) out.json("schema", value_of(requested.form, contents_));
      out.text("place", public_file_name(requested.place));
      return end(EventKind::GenerationStarted, out);
    }
    if (requested.kind == EffectKind::Ask) {
      EventWriter out = begin(EventKind::WaitForInput);
      out.text("wait", requested.key)
          .text("question", text_at(is_approval(requested) ? 1 : 0, requested.arguments, contents_));
      out.json("schema", value_of(requested.form, contents_));
      if (const auto value = approved_value(requested)) {
        out.json("value", *value).json("sources", list_of(requested.sources));
      }
      if (!requested.callers.empty()) out.json("callers", list_of(requested.callers));
      out.text("place", public_file_name(requested.place));
      if (requested.wake_at) out.time("until", *requested.wake_at);
      return end(EventKind::WaitForInput, out);
    }
    EventWriter out = begin(EventKind::ToolCall);
    out.text("call", requested.key).text("tool", requested.subject);
    const auto show = [&](std::string text) { return values_.call_arguments(requested, std::move(text)); };
    out.json("arguments", value_of(requested.arguments, contents_, show));
    if (!requested.sources.empty()) out.json("sources", list_of(requested.sources));
    if (!requested.allowed.empty()) out.json("allowed", list_of(requested.allowed));
    out.text("place", public_file_name(requested.place));
    if (requested.wake_at) out.time("until", *requested.wake_at);
    return end(EventKind::ToolCall, out);
  }

  std::optional<Event> operator()(const effects::Attempted& attempted) {
    stand_in(attempted.scope.view());
    if (!is_shown(attempted)) return std::nullopt;
    if (attempted.what == effects::Attempted::What::Unavailable) return unavailable(attempted);
    EventWriter out = begin(EventKind::GenerationRetried);
    out.text("generation", attempted.key).integer("attempt", attempted.attempt);
    if (attempted.what == effects::Attempted::What::Unusable) {
      out.text("answer", text_of(attempted.answer));
    }
    out.text("reason", attempted.reason);
    if (attempted.next_at) out.time("next_at", *attempted.next_at);
    return end(EventKind::GenerationRetried, out);
  }

  std::optional<Event> operator()(const effects::Finished& finished) {
    stand_in(finished.scope.view());
    if (!is_shown(finished)) return std::nullopt;
    if (effects::is_generation(finished.kind)) return generation(finished);
    if (finished.failure) {
      EventWriter out = begin(EventKind::ToolError);
      out.text("call", finished.key).text("tool", finished.subject);
      out.text("kind", types::failure_kind_name(finished.failure->kind)).text("message", finished.failure->message);
      out.text("blame", finished.failure->blame).integer("ms", finished.cost.milliseconds);
      return end(EventKind::ToolError, out);
    }
    if (finished.kind == EffectKind::Ask) {
      EventWriter out = begin(EventKind::ResumeWithInput);
      out.text("wait", finished.key).json("input", outcome_of(finished));
      return end(EventKind::ResumeWithInput, out);
    }
    EventWriter out = begin(EventKind::ToolResult);
    out.text("call", finished.key).text("tool", finished.subject);
    if (finished.prompted) {
      const bool waits = finished.prompted->kind == vm::PromptKind::PauseForChild;
      out.json("value", "null").text(waits ? "pause_for_child" : "finish_agent", finished.prompted->agent);
    } else {
      out.json("value", outcome_of(finished));
    }
    out.integer("ms", finished.cost.milliseconds);
    return end(EventKind::ToolResult, out);
  }

  std::optional<Event> operator()(const effects::ProgramTaken& taken) {
    stand_in({taken.agent, 0});
    EventWriter out = begin(EventKind::ProgramTaken);
    out.text("program", taken.program.hex());
    if (taken.state != StoredText{}) out.json("state", state_of(taken.state, taken.added_entries));
    return end(EventKind::ProgramTaken, out);
  }

  std::optional<Event> operator()(const effects::FlowRefused& refused) {
    stand_in(refused.scope.view());
    EventWriter out = begin(EventKind::FlowRefused);
    out.text("function", refused.subject).text("what", refused.what).json("sources", list_of(refused.sources));
    out.text("place", public_file_name(refused.place));
    if (refused.times > 1) out.integer("times", refused.times);
    return end(EventKind::FlowRefused, out);
  }

  std::optional<Event> operator()(const effects::CancelWanted& cancel) {
    EventWriter out = begin(EventKind::Cancel);
    out.text("reason", cancel.reason);
    return end(EventKind::Cancel, out);
  }

  std::optional<Event> operator()(const effects::Ended& ended) {
    return turn_end(ended.how, ended.value, ended.failure, "");
  }

 private:
  static bool is_approval(const effects::Requested& requested) {
    return requested.kind == EffectKind::Ask && requested.subject == "approve";
  }
  /// Of an ask for approval: what the person looks at.
  [[nodiscard]] std::optional<std::string> approved_value(const effects::Requested& requested) const {
    if (!is_approval(requested)) return std::nullopt;
    const auto show = [&](std::string text) { return values_.call_arguments(requested, std::move(text)); };
    const Json arguments = parse_own_json(value_of(requested.arguments, contents_, show));
    if (!arguments.is_array() || arguments.size() != 2) return std::nullopt;
    return arguments.items()[0].dump();
  }

  /// The entries of a state that the program declares; an agent of blocks keeps further ones.
  [[nodiscard]] std::string state_of(const StoredText& state, const std::vector<std::string>& added_entries) const {
    std::string text = entries_of(state);
    if (added_entries.empty()) return text;
    Json entries = parse_own_json(text);
    if (!entries.is_object()) return text;
    for (const std::string& name : added_entries) entries.erase(name);
    return entries.dump();
  }

  /// Entries of the state of the agent that the event is about.
  [[nodiscard]] std::string entries_of(const StoredText& entries) const {
    return value_of(entries, contents_,
                    [&](std::string text) { return values_.entries(header_.scope.agent, std::move(text)); });
  }

  [[nodiscard]] std::string outcome_of(const effects::Finished& finished) const {
    return value_of(finished.value, contents_,
                    [&](std::string text) { return values_.outcome(finished, std::move(text)); });
  }

  /// For a text that is not JSON.
  [[nodiscard]] std::string text_of(const StoredText& text) const {
    return text == StoredText{} ? std::string() : value_of(text, contents_);
  }

  [[nodiscard]] Event unavailable(const effects::Attempted& attempted) const {
    EventWriter out = begin(EventKind::ServiceUnavailable);
    out.text("effect", attempted.key).text("service", attempted.is_tool ? "tool" : "model");
    out.text("name", attempted.service).text("message", attempted.reason).integer("attempt", attempted.attempt);
    out.time("since", attempted.since);
    if (attempted.next_at) out.time("next_at", *attempted.next_at);
    return end(EventKind::ServiceUnavailable, out);
  }

  [[nodiscard]] std::optional<Event> generation(const effects::Finished& finished) const {
    EventWriter out = begin(EventKind::GenerationFinished);
    out.text("generation", finished.key).text("purpose", purpose_of(finished.kind));
    out.text("subject", finished.subject);
    if (finished.failure) {
      out.text("kind", types::failure_kind_name(finished.failure->kind)).text("message", finished.failure->message);
    } else {
      out.json("value", outcome_of(finished));
      if (finished.kind == EffectKind::Select) out.integer("clause", finished.clause);
      if (!finished.tool.empty()) out.text("tool", finished.tool);
    }
    const effects::Cost& cost = finished.cost;
    out.text("model", public_model(cost.model)).integer("model_calls", cost.model_calls).integer("tokens", cost.tokens);
    out.integer("computed", cost.computed).integer("reused", cost.reused).integer("generated", cost.generated);
    out.integer("ms", cost.milliseconds);
    return end(EventKind::GenerationFinished, out);
  }

  [[nodiscard]] std::optional<Event> turn_end(effects::Ended::How how, const StoredText& value,
                                              const effects::FailureText& failure, std::string_view state) const {
    switch (how) {
      case effects::Ended::How::Returned: {
        EventWriter out = begin(EventKind::TurnEnd);
        const auto show = [&](std::string text) { return values_.turn_value(header_.scope.agent, std::move(text)); };
        out.json("value", value_of(value, contents_, show));
        if (!state.empty()) out.json("state", state);
        return end(EventKind::TurnEnd, out);
      }
      case effects::Ended::How::Cancelled: {
        EventWriter out = begin(EventKind::TurnCancelled);
        out.text("reason", failure.message);
        return end(EventKind::TurnCancelled, out);
      }
      case effects::Ended::How::Failed: {
        EventWriter out = begin(EventKind::TurnFailed);
        out.text("kind", types::failure_kind_name(failure.kind)).text("message", failure.message);
        out.text("blame", failure.blame).text("place", public_file_name(failure.place));
        return end(EventKind::TurnFailed, out);
      }
    }
    ENSURE(false);
  }

  /// The event of a notification; nothing for other requests. The arguments: the other agent or the function, and what
  /// is passed to it.
  [[nodiscard]] std::optional<Event> notice(const effects::Requested& requested) const {
    const auto over = [&](auto read) {
      const Json json = parse_own_json(value_of(requested.arguments, contents_));
      if (!json.is_array() || json.size() < 2) return std::string("null");
      const Json& passed = json.items()[1];
      return (passed.is_string() ? (values_.*read)(requested.subject, passed.as_string()) : passed).dump();
    };
    if (requested.kind == EffectKind::AgentCalled) {
      EventWriter out = begin(EventKind::AgentCall);
      out.text("call", requested.key).text("callee", requested.subject);
      out.json("input", over(&RunValues::passed_input));
      return end(EventKind::AgentCall, out.text("place", public_file_name(requested.place)));
    }
    if (requested.kind == EffectKind::AgentReturned) {
      EventWriter out = begin(EventKind::AgentResult);
      out.text("call", requested.call.empty() ? requested.key : requested.call).text("callee", requested.subject);
      return end(EventKind::AgentResult, out.json("value", over(&RunValues::passed_value)));
    }
    if (requested.kind == EffectKind::AnswerRefused) {
      EventWriter out = begin(EventKind::AnswerRefused);
      out.text("call", requested.key).text("generation", requested.call);
      out.text("function", requested.subject).text("reasons", text_at(1, requested.arguments, contents_));
      return end(EventKind::AnswerRefused, out.text("place", public_file_name(requested.place)));
    }
    if (requested.kind == EffectKind::BlockEntered || requested.kind == EffectKind::BlockLeft) return block(requested);
    if (requested.kind == EffectKind::Emitted) {
      EventWriter out = begin(EventKind::Text);
      return end(EventKind::Text, out.text("text", text_at(0, requested.arguments, contents_)));
    }
    if (requested.kind != EffectKind::HandedOff) return std::nullopt;
    EventWriter out = begin(EventKind::Handoff);
    return end(EventKind::Handoff, out.text("to", requested.subject).json("input", over(&RunValues::passed_input)));
  }

  [[nodiscard]] Event block(const effects::Requested& requested) const {
    const bool begins = requested.kind == EffectKind::BlockEntered;
    const EventKind kind = begins ? EventKind::BlockEntered : EventKind::BlockLeft;
    const std::string_view path = requested.subject;
    const std::size_t dot = requested.key.rfind('.');
    EventWriter out = begin(kind);
    out.text("block", path.substr(path.rfind('/') + 1)).text("path", path);
    out.text("branch", dot == std::string::npos ? std::string_view() : std::string_view(requested.key).substr(0, dot));
    if (begins) return end(kind, out.text("place", public_file_name(requested.place)));
    if (requested.used) out.integer("ms", requested.used->milliseconds).integer("tokens", requested.used->tokens);
    return end(kind, out);
  }

  /// The agent that the record names; otherwise the one with which the run began.
  void stand_in(effects::AgentScopeView scope) {
    if (!scope.agent.empty()) header_.scope.agent = scope.agent;
    header_.scope.depth = scope.depth;
  }

  [[nodiscard]] EventWriter begin(EventKind kind) const { return {kind, header_}; }
  [[nodiscard]] Event end(EventKind kind, EventWriter& out) const { return {*header_.number, kind, out.take()}; }

  EventHeader header_;
  const Contents& contents_;
  const RunValues& values_;
};

}  // namespace

std::optional<Event> make_event(const RecordPlace& place, const effects::Record& record, const Contents& contents,
                                const RunValues& values) {
  return std::visit(RecordEvent(place, record.time, contents, values), record.body);
}

bool has_event(const effects::Record& record) {
  if (const auto* const started = std::get_if<effects::Started>(&record.body)) return is_shown(*started);
  if (const auto* const attempted = std::get_if<effects::Attempted>(&record.body)) return is_shown(*attempted);
  const auto* const finished = std::get_if<effects::Finished>(&record.body);
  return finished == nullptr || is_shown(*finished);
}

Event make_text_delta(const RecordPlace& place, std::int64_t time, const TextPiece& piece) {
  EventWriter out(EventKind::TextDelta, {std::nullopt, place.run, place.scope, time});
  out.text("generation", piece.generation).integer("attempt", piece.attempt).integer("offset", piece.offset);
  out.text("text", piece.text);
  return {0, EventKind::TextDelta, out.take()};
}

}  // namespace tenon::protocol
