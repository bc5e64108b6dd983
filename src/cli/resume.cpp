#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/extern_binding.h"
#include "cli/given_value.h"
#include "cli/local_runtime.h"
#include "cli/model_choice.h"
#include "cli/newer_program.h"
#include "cli/run_report.h"
#include "cli/secret_key.h"
#include "cli/stopping.h"
#include "cli/store_file.h"
#include "cli/stored_run.h"
#include "runtime/recovery.h"

namespace tenon::cli {
namespace {

/// Answers the question of `--input`. Returns an exit code if the answer is not accepted.
std::optional<int> give_answer(runtime::Runtime& runtime, runtime::RunId run, const ResumeCommand& command,
                               const Environment& environment) {
  std::string wait = command.wait;
  const runtime::Conversation* const conversation = runtime.conversation(run);
  const bool waits_for_prompt = conversation != nullptr && !conversation->is_in_turn();
  if (waits_for_prompt && (command.input || !wait.empty())) {
    static_cast<void>(report_run(runtime, run, command.store.path, environment));
    return exit_usage;
  }
  if (!command.input) {
    if (wait.empty()) return std::nullopt;
    return fail("`--wait` requires `--input VALUE`", environment, exit_usage);
  }
  if (wait.empty()) {
    const std::vector<runtime::PendingInput> questions = runtime.questions(run);
    if (questions.size() != 1) {
      fail(questions.empty() ? "the run has no open question"
                             : "the run has several open questions; choose one with `--wait`",
           environment);
      if (!questions.empty()) static_cast<void>(report_run(runtime, run, command.store.path, environment));
      return exit_usage;
    }
    wait = questions.front().wait;
  }
  if (auto taken = runtime.answer(run, wait, *command.input); !taken) {
    if (taken.error().kind == runtime::AnswerRefusal::Kind::TooLate) {
      warn(taken.error().message, environment);
      return std::nullopt;  // the run continues without the answer
    }
    fail(taken.error().message, environment);
    static_cast<void>(report_run(runtime, run, command.store.path, environment));
    return exit_usage;
  }
  return std::nullopt;
}

}  // namespace

int resume(const ResumeCommand& given, const Environment& environment, std::uint64_t* known_taken) {
  ResumeCommand command = given;
  if (command.input) {
    auto content = read_given_value(*command.input, environment);
    if (!content) return fail("`--input`: " + content.error(), environment);
    command.input = std::move(*content);
  }
  const journal::RunName name{command.run};
  auto [store, is_in_use] = open_owned_store(command.store, environment);
  if (is_in_use && command.input) {
    return send_to_owner(command.store, name, {runtime::InboxCommand::Verb::Resume, command.wait, *command.input, ""},
                         environment);
  }
  if (is_in_use && waits_for_service(command.store, name, environment)) {
    return send_to_owner(command.store, name, {runtime::InboxCommand::Verb::Retry, "", "", ""}, environment);
  }
  if (is_in_use) {
    return fail(fmt::format("another process owns {} and continues its runs; send it an answer with `--input`",
                            command.store.path),
                environment);
  }
  if (!store) return exit_failed;
  auto stored = read_stored_run(store->journals(), name, environment);
  if (!stored) return exit_failed;

  const std::vector<std::string>& libraries =
      command.externs.empty() ? stored->started.settings.libraries : command.externs;
  std::optional<NewerProgram> newer;
  if (!command.program.empty()) {
    newer = load_newer(command.program, command.prompts, command.externs, *stored, environment);
    if (!newer) return exit_failed;
  }
  // The old program of an upgraded conversation calls no externs any more, and a run that has ended performs nothing.
  const bool calls_externs = !newer && !stored->is_over;
  const auto externs =
      calls_externs ? bind_or_report(libraries, std::nullopt, *stored->program.loaded, environment) : nullptr;
  if (calls_externs && !externs) return exit_failed;
  ModelChoice choice = command.model;
  const bool is_same_model = complete_choice(choice, stored->started.settings);
  auto model = stored->is_over
                   ? open_no_model()
                   : open_model(choice, watched_by(environment, stored->program.loaded->program()), environment);
  if (!model) return model.error();
  auto image = std::make_shared<const runtime::ProgramImage>(stored->program.loaded,
                                                             std::move(stored->program.templates), externs);
  if (newer && newer->image->hash() == image->hash()) image = newer->image;
  auto trace = Trace::open({command.trace, command.show_prompts}, *image->loaded(), environment);
  if (!trace) return fail(trace.error(), environment);
  auto telemetry = Telemetry::open(choice.spec, environment);
  if (!telemetry) return exit_usage;
  LocalRuntime local({.model = std::move(*model),
                      .store = std::move(store),
                      .store_path = command.store.path,
                      .reports = reports_folder(command.store.reports, command.store.path, environment),
                      .trace = std::move(*trace),
                      .telemetry = std::move(telemetry)},
                     environment);
  runtime::Runtime& runtime = local.runtime();
  const auto id = runtime.resume(name, images_with(image),
                                 is_same_model ? runtime::Runtime::SameModel::Yes : runtime::Runtime::SameModel::No);
  if (!id) return fail(id.error().message, environment);
  const bool was_in_turn = runtime.conversation(*id) != nullptr && runtime.conversation(*id)->is_in_turn();
  if (runtime.end(*id)) {
    if (command.input) {
      notify(fmt::format("run {} has already ended; the answer was not used", name.text), environment);
    }
  } else {
    if (newer) {
      if (auto taken = runtime.upgrade_program(*id, newer->image, newer->libraries); !taken) {
        return fail(taken.error().message, environment);
      }
    } else if (const auto code = give_answer(runtime, *id, command, environment)) {
      return *code;
    }
    runtime.retry_services(*id);
    run_until_stopped(runtime, std::chrono::seconds(command.grace_seconds), environment);
  }
  if (known_taken != nullptr) *known_taken = runtime.known_taken(*id);
  local.end_trace();
  const runtime::Conversation* const conversation = runtime.conversation(*id);
  if (was_in_turn && !runtime.end(*id) && !conversation->is_in_turn()) return report_turn(runtime, *id, environment);
  return report_run(runtime, *id, command.store.path, environment);
}

int cancel(const CancelCommand& command, const Environment& environment) {
  const journal::RunName name{command.run};
  auto [store, is_in_use] = open_owned_store(command.store, environment);
  if (is_in_use) {
    return send_to_owner(command.store, name, {runtime::InboxCommand::Verb::Cancel, "", "", command.reason},
                         environment);
  }
  if (!store) return exit_failed;
  auto head = store->journals().head(name);
  if (!head) return fail(head.error().message, environment);
  if (journal::has_ended(head->summary.state)) {
    return fail(fmt::format("run {} has already ended ({})", name.text, journal::name_of(head->summary.state)),
                environment);
  }
  const std::string reason = command.reason.empty() ? "cancelled by the operator" : command.reason;
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(environment.clock.wall().time_since_epoch()).count();
  // A run that cannot be read can still be cancelled.
  const auto begun = runtime::request_stored_cancel(store->journals(), name, reason, now, images_without_externs());
  if (begun && *begun) {
    environment.write_error(
        fmt::format("tenon: run {} is cancelled, but its `finally` blocks have not run yet\n"
                    "  run them with: tenon resume {} --store {}\n"
                    "  or cancel the run again to skip them\n",
                    name.text, name.text, command.store.path));
    return exit_waits;
  }
  if (const auto cancelled = runtime::cancel_stored(store->journals(), name, reason, now); !cancelled) {
    return fail(cancelled.error().message, environment);
  }
  return exit_done;
}

}  // namespace tenon::cli
