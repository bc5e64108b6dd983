#include "cli/trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/counted.h"
#include "json/reader.h"
#include "vm/values/render.h"

namespace tenon::cli {
namespace {

/// An answer that takes less time has no progress line.
constexpr std::chrono::milliseconds progress_after{700};
constexpr std::chrono::milliseconds progress_every{200};

Json json_value(const vm::Value& value, const types::TypeTable& types) {
  std::string text;
  if (const auto written = vm::to_json(value, types, text); !written) return vm::describe(written.error());
  auto json = parse_json(text, own_json_limits);
  return json ? std::move(*json) : Json(json.error().message);
}

Json json_usage(const inference::Usage& usage) {
  Json tokens = Json::object({{"prompt", usage.prompt},
                              {"computed", usage.computed},
                              {"reused", usage.reused},
                              {"generated", usage.generated},
                              {"forced", usage.forced},
                              {"attempts", usage.attempts},
                              {"ms", usage.milliseconds}});
  if (usage.is_estimated) tokens["estimated"] = true;
  return tokens;
}

/// The line about tokens and time after an answer or an error.
std::string shown_usage(const inference::Usage& usage) {
  if (usage.prompt == 0 && usage.generated == 0) return fmt::format("   {:.0f} ms", usage.milliseconds);
  if (!usage.is_reuse_known) {
    return fmt::format("   {}{}; {} generated; {:.0f} ms", usage.is_estimated ? "estimated: " : "",
                       counted(usage.prompt, "prompt token"), usage.generated, usage.milliseconds);
  }
  return fmt::format("   {}: {} computed, {} reused; {} generated, {} of them forced; {:.0f} ms",
                     counted(usage.prompt, "prompt token"), usage.computed, usage.reused, usage.generated, usage.forced,
                     usage.milliseconds);
}

Json json_stack(const vm::LoadedProgram& program, const vm::CallStack& calls) {
  Json stack = Json::array();
  for (const vm::CallStackEntry& entry : calls.entries) {
    stack.push_back(Json::object(
        {{"function", program.program().functions[entry.function].name}, {"place", program.describe(entry.place)}}));
  }
  return stack;
}

/// What happened at the endpoint, which is named after it.
std::string_view describe(inference::ModelErrorKind kind) {
  using Kind = inference::ModelErrorKind;
  switch (kind) {
    case Kind::ContextFull:
      return "the prompt does not fit into the context of the model";
    case Kind::Rejected:
    case Kind::Misconfigured:
      return "the request was rejected by the model";
    case Kind::Overloaded:
      return "the request was not processed by the model";
    case Kind::BadReply:
      return "invalid reply from the model";
    case Kind::Unreachable:
    case Kind::TimedOut:
    case Kind::Cancelled:
    case Kind::ScriptEnded:
      break;
  }
  return "no answer from the model";
}

/// Opens a file to be written. `/dev/stdout` is the command's own output, wherever that is.
Descriptor open_output_file(const std::string& path, const Environment& environment) {
  if (path == "/dev/stdout" || path == "/dev/fd/1" || path == "/proc/self/fd/1") {
    return Descriptor(::fcntl(environment.output_descriptor, F_DUPFD_CLOEXEC, 0));
  }
  return Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
}

/// The host that did not answer, and what the transport says about it.
std::string shown_endpoint(const inference::ModelError& error) {
  return error.endpoint + (error.detail.empty() ? "" : fmt::format(" ({})", error.detail));
}

}  // namespace

Result<std::unique_ptr<Trace>, std::string> Trace::open(const TraceChoice& choice, const vm::LoadedProgram& program,
                                                        const Environment& environment) {
  std::unique_ptr<Trace> trace(new Trace(program, environment));
  trace->shows_prompts_ = choice.show_prompts;
  trace->shows_emitted_ =
      choice.show_emitted && std::ranges::any_of(program.program().externs, [](const bytecode::Extern& one) {
        return one.builtin_effect == types::BuiltinEffect::Emitted;
      });
  trace->path_ = choice.file;
  if (!choice.file.empty()) {
    trace->file_ = open_output_file(choice.file, environment);
    if (!trace->file_.is_open()) {
      return failure(fmt::format("cannot write `{}`: {}", choice.file, std::generic_category().message(errno)));
    }
  }
  return trace;
}

void Trace::write_line(const std::string& line) {
  if (!file_.is_open()) return;
  if (write_all(file_, line + "\n")) return;
  warn(fmt::format("cannot write `{}`: {}; the trace ends here", path_, std::generic_category().message(errno)),
       environment_);
  file_.reset();
}

void Trace::on_generation_started(const runtime::SentGeneration& generation) {
  ++generation_;
  pieces_ = 0;
  generation_start_ = environment_.system.clock.monotonic();
  progress_shown_ = generation_start_;
  if (!shows_prompts_ && !file_.is_open()) return;
  const runtime::PerformedEffect& effect = generation.effect;
  const inference::GenerationRequest request = generation.sent();
  if (shows_prompts_) {
    std::string text = fmt::format("── {} ── {}{}\n", request.label, effect.program.describe(effect.place()),
                                   generation.attempt > 0 ? fmt::format(" (repair {})", generation.attempt) : "");
    for (const inference::Message& message : request.messages) {
      text += fmt::format("[{}]\n{}\n", role_name(message.role), message.text);
    }
    environment_.write_error(text);
  }
  if (!file_.is_open()) return;
  Json messages = Json::array();
  for (const inference::Message& message : request.messages) {
    messages.push_back(Json::object({{"role", role_name(message.role)}, {"content", message.text}}));
  }
  Json event = Json::object({{"type", "generation_started"},
                             {"run", effect.run.index},
                             {"key", effect.key},
                             {"attempt", generation.attempt},
                             {"function", request.label},
                             {"place", effect.program.describe(effect.place())},
                             {"label", effect.label()},
                             {"messages", std::move(messages)}});
  if (request.schema) event["schema"] = parse_own_json(request.schema->json_schema);
  event["calls"] = json_stack(effect.program, effect.calls());
  write_line(event.dump());
}

void Trace::show_progress(std::size_t pieces) {
  const auto now = environment_.system.clock.monotonic();
  if (now - generation_start_ < progress_after || now - progress_shown_ < progress_every) return;
  progress_shown_ = now;
  has_progress_ = true;
  const double seconds = std::chrono::duration<double>(now - generation_start_).count();
  environment_.write_styled(
      fmt::format("\r\x1b[2K{}, {:.1f} tokens/s", counted(pieces, "token"), static_cast<double>(pieces) / seconds));
}

void Trace::on_text(runtime::RunId, std::string_view, std::uint32_t, std::uint32_t, std::string_view) {
  ++pieces_;
  if (environment_.error_is_terminal) show_progress(pieces_);
}

void Trace::end() {
  if (has_progress_) environment_.write_styled("\r\x1b[2K");
  has_progress_ = false;
}

void Trace::on_generation_finished(runtime::RunId run, std::string_view key, std::uint32_t attempt,
                                   const inference::GenerationOutcome& outcome) {
  end();
  const auto* answer = std::get_if<inference::Answer>(&outcome);
  const auto* error = std::get_if<inference::ModelError>(&outcome);
  const inference::Usage& usage = answer != nullptr ? answer->usage : error->usage;
  if (shows_prompts_) {
    std::string text =
        answer != nullptr ? fmt::format("[answer]\n{}\n", answer->text) : fmt::format("[error] {}\n", error->message);
    if (answer != nullptr && !answer->thoughts.empty())
      text = fmt::format("[thoughts]\n{}\n{}", answer->thoughts, text);
    if (error != nullptr && !error->endpoint.empty()) text += fmt::format("  at {}\n", shown_endpoint(*error));
    environment_.write_error(text + shown_usage(usage) + "\n\n");
  }
  const bool is_failure = error != nullptr && error->kind != inference::ModelErrorKind::Cancelled;
  if (is_failure && !shows_prompts_ && !error->endpoint.empty()) {
    environment_.write_error(fmt::format("tenon: {} at {}\n", describe(error->kind), shown_endpoint(*error)));
  }
  if (!file_.is_open()) return;
  Json event = Json::object({{"type", "generation_finished"}, {"run", run.index}, {"key", key}, {"attempt", attempt}});
  if (answer != nullptr) {
    event["model"] = answer->model;
    event["finish"] = finish_name(answer->finish);
    event["answer"] = answer->text;
    if (!answer->thoughts.empty()) event["thoughts"] = answer->thoughts;
  } else {
    event["error"] = error->message;
    if (!error->endpoint.empty()) event["endpoint"] = error->endpoint;
  }
  event["tokens"] = json_usage(usage);
  write_line(event.dump());
}

void Trace::on_extern_called(const runtime::StartedCall& call) {
  if (!file_.is_open()) return;
  const runtime::PerformedEffect& effect = call.effect;
  const vm::LoadedProgram& program = effect.program;
  Json values = Json::array();
  for (const vm::Value& argument : call.arguments) values.push_back(json_value(argument, program.types()));
  Json event = Json::object({{"type", "extern_called"},
                             {"run", effect.run.index},
                             {"key", effect.key},
                             {"function", program.program().externs[call.index].name},
                             {"place", program.describe(effect.place())},
                             {"label", effect.label()},
                             {"arguments", std::move(values)}});
  if (!call.allowed.empty()) {
    Json& allowed = event["allowed"] = Json::array();
    for (const std::string_view reason : call.allowed) allowed.push_back(reason);
  }
  event["calls"] = json_stack(program, effect.calls());
  write_line(event.dump());
}

void Trace::on_extern_returned(const runtime::EndedCall& call) {
  if (!file_.is_open()) return;
  Json event = Json::object({{"type", "extern_returned"},
                             {"run", call.run.index},
                             {"key", call.key},
                             {"function", call.program.program().externs[call.index].name}});
  if (call.failure.empty()) {
    event["value"] = json_value(call.value, call.program.types());
  } else {
    event["failure"] = call.failure;
  }
  write_line(event.dump());
}

void Trace::on_recorded(const runtime::RecordBatch& batch) {
  for (const effects::Record& record : batch.records) {
    const auto* const attempted = std::get_if<effects::Attempted>(&record.body);
    if (attempted != nullptr && attempted->what == effects::Attempted::What::Unavailable) {
      write_unavailable(batch.run, *attempted);
    } else if (const auto* const refused = std::get_if<effects::FlowRefused>(&record.body)) {
      write_refusal(batch.run, *refused);
    } else if (const auto reported = runtime::find_program_event(batch, record)) {
      write_program_event(batch.run, *reported);
    }
  }
}

void Trace::write_program_event(runtime::RunId run, const runtime::ProgramEvent& reported) {
  end();
  // An agent that another one has called emits to that one only.
  if (shows_emitted_ && reported.kind == effects::EffectKind::Emitted && reported.scope.depth == 0) {
    environment_.write_error(reported.text + "\n");
  }
  if (!file_.is_open()) return;
  Json event = Json::object({{"type", effects::effect_name(reported.kind)},
                             {"run", run.index},
                             {"key", reported.key},
                             {"agent", reported.scope.agent},
                             {"depth", reported.scope.depth}});
  if (reported.kind == effects::EffectKind::AnswerRefused) {
    event["generation"] = reported.generation;
    event["function"] = reported.function;
    event["reasons"] = reported.text;
  } else {
    event[reported.kind == effects::EffectKind::Emitted ? "text" : "path"] = reported.text;
  }
  write_line(event.dump());
}

void Trace::write_refusal(runtime::RunId run, const effects::FlowRefused& refused) {
  if (!file_.is_open()) return;
  Json sources = Json::array();
  for (const std::string& source : refused.sources) sources.push_back(source);
  Json event = Json::object({{"type", "flow_refused"},
                             {"run", run.index},
                             {"agent", refused.scope.agent},
                             {"depth", refused.scope.depth},
                             {"function", refused.subject},
                             {"place", refused.place},
                             {"what", refused.what},
                             {"sources", std::move(sources)}});
  if (refused.times > 1) event["times"] = refused.times;
  write_line(event.dump());
}

void Trace::write_unavailable(runtime::RunId run, const effects::Attempted& attempted) {
  end();
  const char* const service = attempted.is_tool ? "tool" : "model";
  if (environment_.error_is_terminal || shows_prompts_) {
    environment_.write_error(fmt::format("tenon: {} unavailable: {}\n", service, attempted.reason));
  }
  if (!file_.is_open()) return;
  Json event = Json::object({{"type", "service_unavailable"},
                             {"run", run.index},
                             {"key", attempted.key},
                             {"service", service},
                             {"name", attempted.service},
                             {"message", attempted.reason},
                             {"attempt", attempted.attempt}});
  if (attempted.next_at) event["next_at"] = *attempted.next_at;
  write_line(event.dump());
}

void Trace::on_run_ended(runtime::RunId run, const runtime::EndedRun& ended) {
  end();
  if (!file_.is_open()) return;
  const runtime::RunEnd& run_end = ended.end;
  Json event = Json::object({{"type", "run_ended"}, {"run", run.index}});
  if (ended.instructions) event["instructions"] = *ended.instructions;
  if (const auto* value = std::get_if<vm::Value>(&run_end)) {
    event["value"] = json_value(*value, program_.types());
    event["label"] = ended.label;
  } else if (const auto* failed = std::get_if<runtime::RunFailed>(&run_end)) {
    const vm::FailureReport& report = failed->report;
    Json stack = Json::array();
    for (const vm::CallStackEntry& entry : report.call_stack.entries) {
      stack.push_back(Json::object({{"function", program_.program().functions[entry.function].name},
                                    {"place", program_.describe(entry.place)}}));
    }
    event["failure"] = Json::object({{"kind", types::failure_kind_name(report.kind)},
                                     {"message", report.message},
                                     {"place", report.place},
                                     {"blame", report.blame},
                                     {"calls", std::move(stack)}});
  } else if (const auto* damaged = std::get_if<runtime::RunDamaged>(&run_end)) {
    event["damaged"] = damaged->message;
  } else if (const auto* cancelled = std::get_if<runtime::RunCancelled>(&run_end)) {
    event["cancelled"] = cancelled->reason;
  } else {
    event["detached"] = std::get<runtime::RunDetached>(run_end).message;
  }
  write_line(event.dump());
}

}  // namespace tenon::cli
