#include "algebra/interaction.h"

#include <fmt/format.h>

#include <algorithm>

#include "algebra/form.h"
#include "base/json_text.h"
#include "effects/value_form.h"

namespace tenon::algebra {
namespace {

std::string write_list(const std::vector<std::string>& values) {
  std::string text = "[";
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (at > 0) text += ',';
    text += values[at].empty() ? "null" : values[at];
  }
  return text + ']';
}

std::string write_unknown(const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (!values[at].empty()) continue;
    text += fmt::format("{}{}", text.empty() ? R"("unknown":[)" : ",", at);
  }
  return text.empty() ? text : text + ']';
}

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
      events_.push_back(fmt::format(R"({{"at":"{}","event":"result",{}}})", call.at, write_result(call.result)));
      if (!call.refusal) continue;
      events_.push_back(fmt::format(R"({{"at":"{}","event":"refused","reasons":{}}})", call.at, *call.refusal));
    }
  }

  static std::string write_pause(const Pause& pause, const std::string& at) {
    std::string text = "{";
    if (pause.answer) text += R"("answer":)" + make_json_string(*pause.answer) + ',';
    return text + fmt::format(R"("at":"{}","event":"pause","question":{}}})", at, make_json_string(pause.question));
  }

  void write_call(const Call& call) {
    std::string text = R"({"arguments":)" + write_list(call.arguments);
    text += fmt::format(R"(,"at":"{}","event":"{}","tool":)", call.at, call.is_handoff ? "handoff" : "call");
    append_json_string(text, sites_.tools()[call.tool].name);
    if (const std::string unknown = write_unknown(call.arguments); !unknown.empty()) text += ',' + unknown;
    events_.push_back(text + '}');
    for (const Prompt& prompt : call.prompts) {
      events_.push_back(fmt::format(R"({{"at":"{}","context":"{}","event":"prompt","kind":"{}","request":"{}"}})",
                                    call.at, prompt.context.hex(), effects::effect_name(prompt.kind),
                                    prompt.request.hex()));
    }
    for (const Pause& pause : call.pauses) events_.push_back(write_pause(pause, call.at));
  }

  const Collector& collector_;
  const CallSites& sites_;
  std::vector<std::string>& events_;
  std::vector<std::uint32_t> open_;
};

}  // namespace

std::string write_result(const CallResult& result) {
  if (const auto* const value = std::get_if<std::string>(&result)) return R"("value":)" + *value;
  if (std::holds_alternative<Discarded>(result)) return R"("discarded":true)";
  if (std::holds_alternative<Pending>(result)) return R"("pending":true)";
  if (const auto* const prompted = std::get_if<Prompted>(&result)) {
    const bool waits = prompted->agent.then == effects::PromptedAgent::Then::Wait;
    std::string text = fmt::format(R"("{}":{{"agent":)", waits ? "child" : "successor");
    append_json_string(text, prompted->agent.agent);
    return text + R"(,"input":)" + prompted->input + '}';
  }
  const Failed& failed = std::get<Failed>(result);
  std::string text = R"("failure":{"blame":)";
  append_json_string(text, failed.blame);
  text += fmt::format(R"(,"kind":"{}","message":)", types::failure_kind_name(failed.kind));
  append_json_string(text, failed.message);
  return text + '}';
}

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

}  // namespace tenon::algebra
