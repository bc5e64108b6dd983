// When spans start and end, and their parents.
#include "telemetry/run_spans.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "effects/effect.h"
#include "telemetry/genai_attributes.h"

namespace tenon::telemetry {

using effects::EffectKind;
using runtime::PerformedEffect;
using runtime::RunId;

namespace {

constexpr std::int64_t ns_per_ms = 1'000'000;

}  // namespace

RunSpans::RunSpans(SpanSink& sink, Clock& clock, const std::function<double()>& random_unit, RunSpansOptions options)
    : sink_(sink), clock_(clock), ids_(random_unit), options_(std::move(options)) {}

RunSpans::~RunSpans() {
  for (auto& [index, run] : runs_) close(run, now(), "left", {}, {});
}

std::int64_t RunSpans::now() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(clock_.wall().time_since_epoch()).count();
}

void RunSpans::on_run_started(RunId id, const runtime::RunIdentity& identity) {
  Run& run = find(id);
  run = Run{};
  run.name = identity.name;
  run.title = identity.title;
  run.is_conversation = identity.is_conversation;
  run.turn = identity.turn;
  run.is_resumed = identity.is_resumed;
  run.asks.insert(identity.waits.begin(), identity.waits.end());
}

void RunSpans::on_run_released(RunId id) {
  const auto found = runs_.find(id.index);
  if (found == runs_.end()) return;
  close(found->second, now(), "waiting", {}, {});
  runs_.erase(found);
}

/// The span of the turn, or of its continuation.
void RunSpans::open(Run& run, std::int64_t time) {
  if (run.is_open) return;
  run.is_open = true;
  run.root = Span{};
  const bool is_first = !run.is_resumed;
  if (run.name.empty()) {
    run.root.context = ids_.new_trace();
  } else {
    const SpanContext first = SpanIds::of_turn(run.name, run.turn);
    run.root.context = is_first ? first : ids_.new_trace();
    if (!is_first) run.root.links.push_back(first);
  }
  run.root.began_at = time;
  describe_turn(run.root, run.title, run.is_conversation, run.name, run.turn);
  run.is_resumed = true;  // whatever comes after this span
}

/// Ends the turn's span and everything open below it. `state`: why the run does not continue, if it has not ended.
void RunSpans::close(Run& run, std::int64_t time, std::string_view state, const std::string& error_type,
                     const std::string& message) {
  if (!run.is_open) return;
  run.is_open = false;
  for (auto& [key, span] : std::exchange(run.effects, {})) {
    span.error_type = "Cancelled";
    finish(std::move(span), time);
  }
  // In a branch, inner spans end first.
  for (auto& [branch, agents] : std::exchange(run.agents, {})) {
    for (auto agent = agents.rbegin(); agent != agents.rend(); ++agent) {
      agent->span.error_type = error_type;
      finish(std::move(agent->span), time);
    }
  }
  if (!state.empty()) run.root.set("tenon.run.state", std::string(state));
  run.root.error_type = error_type;
  run.root.error_message = message;
  finish(std::move(run.root), time);
}

void RunSpans::finish(Span span, std::int64_t time) {
  span.ended_at = std::max(time, span.began_at);
  sink_.take(std::move(span));
}

/// The innermost agent around the request, in its branch or an enclosing branch; otherwise the turn.
const Span& RunSpans::parent_of(const Run& run, std::string_view key) const {
  for (std::string_view branch = effects::branch_of(key);; branch = effects::branch_of(branch)) {
    const auto found = run.agents.find(std::string(branch));
    if (found != run.agents.end() && !found->second.empty()) return found->second.back().span;
    if (branch.empty()) return run.root;
  }
}

Span RunSpans::make_child(const Run& run, std::string_view key, std::string name, std::int64_t time) {
  const Span& parent = parent_of(run, key);
  Span span;
  span.context = ids_.new_span(parent.context);
  span.parent_id = parent.context.span_id;
  span.name = std::move(name);
  span.began_at = std::max(time, parent.began_at);
  if (!run.name.empty()) span.set("gen_ai.conversation.id", run.name);
  return span;
}

/// An agent whose turn fails does not report it; it shows when an outer agent continues in its branch.
void RunSpans::drop_failed_agents(Run& run, std::string_view key, std::size_t depth, std::int64_t time) {
  std::size_t around = 0;
  for (std::string_view branch = effects::branch_of(key);; branch = effects::branch_of(branch)) {
    if (const auto found = run.agents.find(std::string(branch)); found != run.agents.end()) {
      around += static_cast<std::size_t>(std::count_if(found->second.begin(), found->second.end(),
                                                       [](const AgentSpan& agent) { return !agent.is_handed_over; }));
    }
    if (branch.empty()) break;
  }
  const auto found = run.agents.find(std::string(effects::branch_of(key)));
  if (found == run.agents.end()) return;
  while (around > depth && !found->second.empty()) {
    if (!found->second.back().is_handed_over) --around;
    found->second.back().span.error_type = "TurnFailed";
    finish(std::move(found->second.back().span), time);
    found->second.pop_back();
  }
}

/// `depth`: of the agent that is called, returns, or continues after a handoff. `time`: of the record, which is older
/// than its notification; so spans end now, after those below them.
void RunSpans::step_agents(Run& run, EffectKind kind, std::string_view key, std::string_view agent, std::uint32_t depth,
                           std::int64_t time) {
  const bool is_new = kind == EffectKind::AgentCalled;
  drop_failed_agents(run, key, depth - (is_new && depth > 0 ? 1 : 0), now());
  if (is_new || kind == EffectKind::HandedOff) {
    Span span = make_child(run, key, "invoke_agent " + std::string(agent), time);
    span.set("gen_ai.operation.name", std::string("invoke_agent"));
    span.set("gen_ai.agent.name", std::string(agent));
    run.agents[std::string(effects::branch_of(key))].push_back({std::move(span), !is_new});
    return;
  }
  auto& agents = run.agents[std::string(effects::branch_of(key))];
  while (!agents.empty()) {
    const bool was_handed_over = agents.back().is_handed_over;
    finish(std::move(agents.back().span), now());
    agents.pop_back();
    if (!was_handed_over) return;
  }
}

void RunSpans::start_effect(const PerformedEffect& effect, Span span) {
  find(effect.run).effects.insert_or_assign(std::string(effect.key), std::move(span));
}

void RunSpans::on_generation_started(const runtime::SentGeneration& generation) {
  const std::int64_t time = now();
  const PerformedEffect& effect = generation.effect;
  Run& run = find(effect.run);
  open(run, time);
  drop_failed_agents(run, effect.key, effect.scope.depth, time);
  Span span = make_child(run, effect.key, "chat " + options_.model, time);
  span.kind = SpanKind::Client;
  span.set("gen_ai.provider.name", options_.provider);
  span.set("gen_ai.request.model", options_.model);
  if (!effect.scope.agent.empty()) span.set("gen_ai.agent.name", std::string(effect.scope.agent));
  const inference::GenerationRequest sent = generation.sent();
  describe_request(span, sent, generation.attempt);
  if (options_.content == Content::Captured) {
    span.set("gen_ai.input.messages", shown(messages_json(sent.messages)));
  }
  start_effect(effect, std::move(span));
}

void RunSpans::on_generation_finished(RunId id, std::string_view key, std::uint32_t,
                                      const inference::GenerationOutcome& outcome) {
  auto node = find(id).effects.extract(std::string(key));
  if (node.empty()) return;
  Span& span = node.mapped();
  if (const auto* answer = std::get_if<inference::Answer>(&outcome)) {
    describe_answer(span, *answer);
    if (options_.content == Content::Captured) {
      span.set("gen_ai.output.messages", shown(answer_json(*answer)));
    }
  } else {
    const auto& error = std::get<inference::ModelError>(outcome);
    describe_usage(span, error.usage);
    span.error_type = error_name(error.kind);
    span.error_message = message_of(error.message);
  }
  finish(std::move(span), now());
}

void RunSpans::on_extern_called(const runtime::StartedCall& call) {
  const std::int64_t time = now();
  const PerformedEffect& effect = call.effect;
  Run& run = find(effect.run);
  open(run, time);
  drop_failed_agents(run, effect.key, effect.scope.depth, time);
  const std::string& name = effect.program.program().externs[call.index].name;
  Span span = make_child(run, effect.key, "execute_tool " + name, time);
  span.set("gen_ai.operation.name", std::string("execute_tool"));
  span.set("gen_ai.tool.name", name);
  span.set("gen_ai.tool.type", std::string("function"));
  span.set("gen_ai.tool.call.id",
           run.name.empty() ? std::string(effect.key) : run.name + "/" + std::string(effect.key));
  if (!effect.scope.agent.empty()) span.set("gen_ai.agent.name", std::string(effect.scope.agent));
  if (!call.sources.empty()) span.set("tenon.trust.sources", fmt::format("{}", fmt::join(call.sources, ", ")));
  if (!call.allowed.empty()) span.set("tenon.trust.allowed", fmt::format("{}", fmt::join(call.allowed, ", ")));
  if (options_.content == Content::Captured) {
    span.set("gen_ai.tool.call.arguments", shown(values_json(call.arguments, effect.program.types())));
  }
  start_effect(effect, std::move(span));
}

void RunSpans::on_extern_returned(const runtime::EndedCall& call) {
  auto node = find(call.run).effects.extract(std::string(call.key));
  if (node.empty()) return;
  Span& span = node.mapped();
  if (!call.failure.empty()) {
    span.error_type = "ToolFailed";
    span.error_message = message_of(call.failure);
  } else if (options_.content == Content::Captured) {
    span.set("gen_ai.tool.call.result", shown(value_json(call.value, call.program.types())));
  }
  finish(std::move(span), now());
}

/// What was refused took no time.
void RunSpans::add_refusal(Run& run, const effects::FlowRefused& refused, std::int64_t time) {
  Span span = make_child(run, {}, "refuse " + refused.subject, time);
  if (!refused.scope.agent.empty()) span.set("gen_ai.agent.name", refused.scope.agent);
  span.set("tenon.trust.refused", refused.what);
  span.set("tenon.trust.sources", fmt::format("{}", fmt::join(refused.sources, ", ")));
  span.error_type = types::failure_kind_name(types::FailureKind::Untrusted);
  finish(std::move(span), time);
}

void RunSpans::end_turn(Run& run, const effects::TurnEnded& ended) {
  using How = effects::Ended::How;
  const std::int64_t time = now();
  open(run, time);
  switch (ended.how) {
    case How::Returned:
      close(run, time, {}, {}, {});
      break;
    case How::Failed:
      close(run, time, {}, std::string(types::failure_kind_name(ended.failure.kind)),
            message_of(ended.failure.message));
      break;
    case How::Cancelled:
      close(run, time, {}, "Cancelled", {});
      break;
  }
  run.asks.clear();
  run.is_resumed = false;
}

void RunSpans::on_run_ended(RunId id, const runtime::EndedRun& ended) {
  const runtime::RunEnd& end = ended.end;
  Run& run = find(id);
  const std::int64_t time = now();
  // A conversation can also end between its turns, and then nothing follows.
  if (!run.is_conversation) open(run, time);
  if (const auto* failed = std::get_if<runtime::RunFailed>(&end)) {
    close(run, time, {}, std::string(types::failure_kind_name(failed->report.kind)),
          message_of(failed->report.message));
  } else if (std::holds_alternative<runtime::RunCancelled>(end)) {
    close(run, time, {}, "Cancelled", {});
  } else if (std::holds_alternative<runtime::RunDamaged>(end)) {
    close(run, time, {}, "Damaged", {});
  } else if (std::holds_alternative<runtime::RunDetached>(end)) {
    close(run, time, "left", {}, {});
  } else {
    close(run, time, {}, {}, {});
  }
  runs_.erase(id.index);
}

void RunSpans::on_recorded(const runtime::RecordBatch& batch) {
  const auto found = runs_.find(batch.run.index);
  if (found == runs_.end()) return;
  Run& run = found->second;
  std::set<std::string_view> to_do;  ///< requests of these records that do not have an outcome
  bool has_ended = false;
  for (const effects::Record& record : batch.records) {
    const std::int64_t time = record.time * ns_per_ms;
    if (std::holds_alternative<effects::Started>(record.body)) {
      if (!run.is_conversation) open(run, time);
    } else if (const auto* turn = std::get_if<effects::TurnStarted>(&record.body)) {
      run.turn = turn->turn;
      run.is_resumed = false;
      open(run, time);
    } else if (const auto* requested = std::get_if<effects::Requested>(&record.body)) {
      if (requested->kind == EffectKind::Ask) {
        run.asks.insert(requested->key);
        continue;
      }
      to_do.insert(requested->key);
      if (!effects::is_between_agents(requested->kind)) continue;
      open(run, time);
      step_agents(run, requested->kind, requested->key, requested->subject, requested->scope.depth, time);
    } else if (const auto* paused = std::get_if<effects::Paused>(&record.body)) {
      run.asks.insert(paused->key);
    } else if (const auto* continued = std::get_if<effects::Continued>(&record.body)) {
      run.asks.erase(continued->key);
      open(run, time);
      to_do.insert(continued->key);
    } else if (const auto* finished = std::get_if<effects::Finished>(&record.body)) {
      to_do.erase(finished->key);
      if (run.asks.erase(finished->key) > 0) open(run, time);
    } else if (const auto* refused = std::get_if<effects::FlowRefused>(&record.body)) {
      open(run, time);
      add_refusal(run, *refused, time);
    } else if (const auto* ended = std::get_if<effects::TurnEnded>(&record.body)) {
      end_turn(run, *ended);
    } else if (std::holds_alternative<effects::Ended>(record.body)) {
      has_ended = true;
    }
  }
  // Without a store, the process waits for the person.
  const bool only_waits = !run.name.empty() && !run.asks.empty() && to_do.empty() && run.effects.empty() && !has_ended;
  if (!only_waits || !run.is_open) return;
  close(run, now(), "waiting", {}, {});
}

std::string RunSpans::shown(std::string text) const {
  if (text.size() <= span_text_bytes_max) return text;
  text.resize(span_text_bytes_max);
  return text + "…";
}

/// The message of a failure may repeat contents.
std::string RunSpans::message_of(std::string_view message) const {
  return options_.content == Content::Captured ? shown(std::string(message)) : std::string();
}

}  // namespace tenon::telemetry
