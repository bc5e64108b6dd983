#include "algebra/interaction.h"

#include <algorithm>

#include "algebra/form.h"
#include "effects/value_form.h"
#include "json/writer.h"

namespace tenon::algebra {
namespace {

/// Writes the events: a call, what was sent for it, the calls within it, its result, and why that was refused.
class EventWriter {
 public:
  EventWriter(const Collector& collector, const CallSites& sites, std::vector<std::string>& events)
      : collector_(collector), sites_(sites), events_(events) {}

  void write_all(const std::vector<std::uint32_t>& order) {
    for (const std::uint32_t index : order) {
      const Call& call = collector_.calls()[index];
      close_to(call.depth);
      write_call(call);
      open_.push_back(index);
    }
    close_to(0);
  }

 private:
  void close_to(std::uint32_t depth) {
    for (; open_.size() > depth; open_.pop_back()) {
      const Call& call = collector_.calls()[open_.back()];
      add_event([&](JsonWriter& out) {
        out.name("at").text(call.at).name("event").text("result");
        add_result(out, call.result);
      });
      if (!call.refusal) continue;
      add_event([&](JsonWriter& out) {
        out.name("at").text(call.at).name("event").text("refused").name("reasons").raw(*call.refusal);
      });
    }
  }

  void write_call(const Call& call) {
    add_event([&](JsonWriter& out) {
      add_arguments(out, call.arguments);
      out.name("at").text(call.at).name("event").text(call.is_handoff ? "handoff" : "call");
      out.name("tool").text(sites_.tools()[call.tool].name);
      add_unknown(out, call.arguments);
    });
    for (const Prompt& prompt : call.prompts) {
      add_event([&](JsonWriter& out) {
        out.name("at").text(call.at).name("context").text(prompt.context.hex()).name("event").text("prompt");
        out.name("kind").text(effects::effect_name(prompt.kind)).name("request").text(prompt.request.hex());
      });
    }
    for (const Pause& pause : call.pauses) {
      add_event([&](JsonWriter& out) {
        if (pause.answer) out.name("answer").text(*pause.answer);
        out.name("at").text(call.at).name("event").text("pause").name("question").text(pause.question);
      });
    }
  }

  template <class AddMembers>
  void add_event(AddMembers add_members) {
    std::string text;
    JsonWriter out(text);
    out.begin_object();
    add_members(out);
    out.end_object();
    events_.push_back(std::move(text));
  }

  const Collector& collector_;
  const CallSites& sites_;
  std::vector<std::string>& events_;
  std::vector<std::uint32_t> open_;
};

}  // namespace

CallResult result_of(const std::optional<vm::Step>& end, types::TypeId type, const types::TypeTable& types) {
  if (!end) return Pending{};
  if (const auto* const finished = std::get_if<vm::Finished>(&*end)) {
    std::string text;
    if (effects::write_value(finished->value, type, types, text, effects::SecretForm::Named)) return text;
    return Failed{types::FailureKind::Conversion, "the run's value cannot be recorded", ""};
  }
  if (const auto* const failed = std::get_if<vm::Failed>(&*end)) {
    return Failed{failed->report.kind, failed->report.message, failed->report.blame};
  }
  if (const auto* const damaged = std::get_if<vm::Damaged>(&*end)) {
    return Failed{types::FailureKind::Raised, damaged->message, "tenon"};
  }
  return Pending{};
}

std::vector<std::uint32_t> add_tools(std::vector<Tool>& all, const std::vector<Tool>& tools) {
  std::vector<std::uint32_t> columns;
  for (const Tool& tool : tools) {
    const auto found = std::find(all.begin(), all.end(), tool);
    columns.push_back(static_cast<std::uint32_t>(found - all.begin()));
    if (found == all.end()) all.push_back(tool);
  }
  return columns;
}

void append_cycle(Interaction& interaction, const Collector& collector, const CallSites& sites, Cycle cycle,
                  const std::string& state) {
  Artifacts& artifacts = interaction.artifacts;
  const std::vector<std::uint32_t> columns = add_tools(artifacts.tools, sites.tools());
  artifacts.contexts.insert(collector.contexts().begin(), collector.contexts().end());
  artifacts.sigma.emplace_back();
  if (artifacts.form >= Form::Said) cycle.said = collector.said();
  const bool has_requests = artifacts.form >= Form::Said && collector.identifies_requests();
  const std::vector<std::uint32_t> order = collector.order();
  for (const std::uint32_t index : order) {
    const Call& call = collector.calls()[index];
    artifacts.sigma.back().push_back({call.at, columns[call.tool], call.alternative});
    Query query{call.arguments, {}, {}, call.pauses};
    for (const Prompt& prompt : call.prompts) {
      query.contexts.push_back(prompt.context);
      if (has_requests) query.requests.push_back(prompt.request);
    }
    artifacts.q.push_back(std::move(query));
    artifacts.r.push_back(call.result);
  }

  std::vector<std::string>& events = interaction.events;
  events.push_back(R"({"event":"input","u":)" + write_input(cycle) + '}');
  EventWriter(collector, sites, events).write_all(order);
  if (!state.empty()) events.push_back(R"({"event":"state","state":)" + state + '}');
  events.push_back(R"({"event":"end","v":)" + write_output(cycle) + '}');
  artifacts.h.push_back(std::move(cycle));
}

void acknowledge(runtime::RunCore& core, const std::string& key, runtime::Conversation* conversation) {
  if (conversation != nullptr) conversation->follow_request(core.open().at(key));
  core.deliver(key, {vm::ReturnedValue{vm::Value::unit()}, {}});
}

void end_turn(runtime::Conversation& conversation, const runtime::RunCore& core, const vm::Step* end) {
  const auto* const finished = end == nullptr ? nullptr : std::get_if<vm::Finished>(end);
  const auto* const failed = end == nullptr ? nullptr : std::get_if<vm::Failed>(end);
  conversation.end(core, finished == nullptr ? nullptr : &finished->value,
                   failed == nullptr ? std::nullopt : std::optional(failed->report.kind));
}

}  // namespace tenon::algebra
