#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "runtime/events.h"
#include "telemetry/span.h"
#include "telemetry/span_ids.h"

namespace tenon::telemetry {

enum class Content : bool { LeftOut, Captured };

struct RunSpansOptions {
  std::string provider;  ///< of the model: the conventions' `gen_ai.provider.name`
  std::string model;     ///< the requested model
  /// Whether spans include prompts, answers, arguments and results, and also the messages of failures, which may repeat
  /// them.
  Content content = Content::LeftOut;
};

/// Longer texts are truncated in a span.
inline constexpr std::size_t span_text_bytes_max = std::size_t{32} << 10U;

/// Creates spans from the events of a runtime, by OpenTelemetry's conventions for generative AI: a turn or a function's
/// run (`invoke_agent`, `invoke_workflow`) is a trace. Its children, as in the call tree, are turns of other agents,
/// generations (`chat`) and calls of externs (`execute_tool`). The span of a turn ends when the turn only waits for a
/// person, and when a process detaches from it; the continuation is a separate trace with a link to the first.
class RunSpans final : public runtime::Listener {
 public:
  RunSpans(SpanSink& sink, Clock& clock, const std::function<double()>& random_unit, RunSpansOptions options);
  /// Ends all open spans.
  ~RunSpans() override;
  RunSpans(const RunSpans&) = delete;
  RunSpans& operator=(const RunSpans&) = delete;

  void on_run_started(runtime::RunId run, const runtime::RunIdentity& identity) override;
  void on_run_released(runtime::RunId run) override;
  void on_recorded(const runtime::RecordBatch& batch) override;
  void on_generation_started(const runtime::SentGeneration& generation) override;
  void on_generation_finished(runtime::RunId run, std::string_view key, std::uint32_t attempt,
                              const inference::GenerationOutcome& outcome) override;
  void on_extern_called(const runtime::StartedCall& call) override;
  void on_extern_returned(const runtime::EndedCall& call) override;
  void on_run_ended(runtime::RunId run, const runtime::EndedRun& ended) override;

 private:
  struct AgentSpan {
    Span span;
    bool is_handed_over = false;  ///< it continues the turn of the previous one in the list
  };
  struct Run {
    std::string name;  ///< empty: it has no store
    std::string title;
    bool is_conversation = false;
    std::uint64_t turn = 0;
    bool is_resumed = false;     ///< its first span was created by another process, or before it waited
    std::set<std::string> asks;  ///< keys of unanswered questions
    bool is_open = false;
    Span root;                                             ///< valid while open
    std::map<std::string, std::vector<AgentSpan>> agents;  ///< by branch, innermost last
    std::map<std::string, Span> effects;                   ///< generations and calls in progress, by key
  };

  [[nodiscard]] std::int64_t now() const;
  Run& find(runtime::RunId run) { return runs_[run.index]; }
  void open(Run& run, std::int64_t time);
  void close(Run& run, std::int64_t time, std::string_view state, const std::string& error_type,
             const std::string& message);
  void finish(Span span, std::int64_t time);
  void start_effect(const runtime::PerformedEffect& effect, Span span);
  void end_turn(Run& run, const effects::TurnEnded& ended);
  void add_refusal(Run& run, const effects::FlowRefused& refused, std::int64_t time);
  void step_agents(Run& run, effects::EffectKind kind, std::string_view key, std::string_view agent,
                   std::uint32_t depth, std::int64_t time);
  void drop_failed_agents(Run& run, std::string_view key, std::size_t depth, std::int64_t time);
  [[nodiscard]] const Span& parent_of(const Run& run, std::string_view key) const;
  [[nodiscard]] Span make_child(const Run& run, std::string_view key, std::string name, std::int64_t time);
  [[nodiscard]] std::string shown(std::string text) const;
  [[nodiscard]] std::string message_of(std::string_view message) const;

  SpanSink& sink_;
  Clock& clock_;
  SpanIds ids_;
  const RunSpansOptions options_;
  std::unordered_map<std::uint32_t, Run> runs_;  ///< by RunId
};

}  // namespace tenon::telemetry
