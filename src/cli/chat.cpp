#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "cli/chat_view.h"
#include "cli/commands.h"
#include "cli/extern_binding.h"
#include "cli/local_runtime.h"
#include "cli/manifest_file.h"
#include "cli/model_choice.h"
#include "cli/newer_program.h"
#include "cli/program_file.h"
#include "cli/run_report.h"
#include "cli/run_setup.h"
#include "cli/secret_key.h"
#include "cli/stopping.h"
#include "cli/store_file.h"
#include "cli/stored_run.h"
#include "diagnostics/nearest.h"

namespace tenon::cli {
namespace {

/// The agent of that name, or the program's only one. Returns nothing after printing what is wrong.
std::optional<std::uint32_t> find_agent(const bytecode::Program& program, const std::string& name,
                                        const Environment& environment) {
  std::vector<std::string_view> names;
  for (std::uint32_t at = 0; at < program.agents.size(); ++at) {
    if (program.agents[at].name == name) return at;
    names.push_back(program.agents[at].name);
  }
  if (name.empty() && names.size() == 1) return 0;
  std::string message = names.empty()  ? "the program has no agent"
                        : name.empty() ? "the program has several agents; choose one with `--agent NAME`"
                                       : fmt::format("cannot find agent `{}` in the program", name);
  if (const auto nearest = diagnostics::find_nearest(name, names))
    message += fmt::format("; did you mean `{}`?", *nearest);
  fail(message, environment);
  return std::nullopt;
}

/// Answers the questions of the run from the terminal. Returns false at the end of the input.
bool answer_questions(runtime::Runtime& runtime, runtime::RunId run, const std::function<void()>& continue_run,
                      const Environment& environment) {
  for (;;) {
    const std::vector<runtime::PendingInput> questions = runtime.questions(run);
    if (questions.empty()) return true;
    const runtime::PendingInput& question = questions.front();
    const auto line = read_answer(question, environment);
    if (!line && environment.interrupted->load()) return true;
    if (!line) {
      environment.write_error("\n");
      return false;
    }
    if (auto taken = runtime.answer(run, question.wait, *line); !taken) {
      fail(taken.error().message, environment);
      if (!taken.error().is_over()) continue;
    }
    continue_run();
    if (environment.interrupted->load()) return true;
  }
}

/// Prints the command that continues the conversation, if it is recorded.
void print_continuation(const runtime::Runtime& runtime, runtime::RunId run, const std::string& store,
                        const Environment& environment) {
  if (const journal::RunName* const name = runtime.name(run)) {
    environment.write_error(fmt::format("  continue with: tenon chat --run {} --store {}\n", name->text, store));
  }
}

/// Prints the turn's answer on stdout, or on stderr why there is none.
void show_turn(const runtime::Runtime& runtime, runtime::RunId run, ChatView* view, const Environment& environment) {
  const auto& outcome = runtime.turn_outcome(run);
  const auto* const value = outcome ? std::get_if<vm::Value>(&*outcome) : nullptr;
  if (view != nullptr && value != nullptr && value->tag() == vm::Tag::String) return view->finish(value->as_text());
  if (view != nullptr) view->abandon();
  static_cast<void>(report_turn(runtime, run, environment));
}

/// Ctrl-C ends a turn, SIGTERM the command.
bool is_terminated(const Environment& environment) {
  return environment.interrupted->load() && environment.stop_signal->load() == SIGTERM;
}

/// Runs turn after turn until the input ends. `view`: shows the agent's texts while they are written; may be null.
/// `store`: its path, empty without one. `grace`: for effects in progress when the process is asked to stop.
int converse(runtime::Runtime& runtime, runtime::RunId run, ChatView* view, const std::string& store,
             std::chrono::seconds grace, const Environment& environment) {
  bool was_interrupted = false;  // since the last line
  const auto continue_run = [&] {
    const auto allowed = [&] { return is_terminated(environment) && !store.empty() ? grace : std::chrono::seconds{0}; };
    run_until_stopped(runtime, grace, allowed, environment);
  };
  const auto leave = [&] {
    print_continuation(runtime, run, store, environment);
    return exit_code_of_stop(environment);
  };
  // A turn that was in progress when the conversation was left comes first.
  bool has_turn = runtime.conversation(run)->is_in_turn();
  runtime.retry_services(run);
  continue_run();
  for (;; has_turn = runtime.conversation(run)->is_in_turn()) {
    if (!has_turn) {
      if (environment.error_is_terminal) environment.write_error("> ");
      const auto line = environment.read_line();
      if (is_terminated(environment)) return leave();
      if (!line && environment.interrupted->exchange(false)) {
        environment.write_error("\n");
        if (std::exchange(was_interrupted, true)) return leave();
        environment.write_error("tenon: press Ctrl-C again, or Ctrl-D, to exit\n");
        continue;
      }
      if (!line || runtime.end(run)) return exit_done;
      was_interrupted = false;
      if (line->empty()) continue;
      if (auto taken = runtime.prompt(run, *line); !taken) {
        fail(taken.error().message, environment);
        continue;
      }
      continue_run();
    }
    if (!environment.interrupted->load() && !answer_questions(runtime, run, continue_run, environment)) {
      return exit_waits;
    }
    const bool leaves = is_terminated(environment);
    if (leaves && !store.empty()) {
      if (!runtime.conversation(run)->is_in_turn()) show_turn(runtime, run, view, environment);
      return leave();
    }
    if (environment.interrupted->exchange(false)) {
      was_interrupted = true;
      // Its blocks of `finally` run first; another Ctrl-C ends these, too.
      runtime.cancel_turn(run, "interrupted");
      runtime.run(environment.interrupted);
      if (leaves) return leave();
      if (environment.interrupted->exchange(false)) runtime.cancel_turn(run, "interrupted");
      if (!runtime.conversation(run)->is_in_turn() || runtime.questions(run).empty()) {
        runtime.run();
      } else {
        continue;
      }
    }
    if (runtime.end(run)) return report_run(runtime, run, store, environment);
    const bool waits = runtime.wakes_at(run) || !runtime.retries(run).empty();
    if (waits && runtime.conversation(run)->is_in_turn()) {
      if (!runtime.retries(run).empty()) return report_run(runtime, run, store, environment);
      environment.write_error("tenon: the agent waits for a timer\n");
      return exit_waits;
    }
    show_turn(runtime, run, view, environment);
  }
}

/// What a conversation starts or continues with.
struct Beginning {
  std::shared_ptr<const runtime::ProgramImage> image;
  std::uint32_t agent = 0;               ///< of a new one
  runtime::RunOptions options;           ///< of a new one
  std::optional<std::uint32_t> threads;  ///< of externs, from the manifest
  runtime::Runtime::SameModel same_model = runtime::Runtime::SameModel::Yes;
  NewerProgram newer;  ///< that a conversation of the store is upgraded to, if any
};

/// Prepares a new conversation with an agent of the file. Returns exit_done, or another exit code after printing why
/// there can be none.
int begin_new(ChatCommand& command, const Environment& environment, Beginning& beginning) {
  const auto manifest = read_manifest(command.file, environment);
  if (!manifest) return exit_failed;
  RunCommand settings;
  settings.model = command.model;
  settings.externs = command.externs;
  settings.prompts = command.prompts;
  settings.repairs = command.repairs;
  settings.budgets = command.budgets;
  settings.retry = command.retry;
  if (*manifest) apply_manifest(**manifest, settings);
  if (settings.model.spec.empty()) settings.model.spec = "builtin";
  if (settings.prompts.empty()) settings.prompts = "default";
  command.model = settings.model;
  const auto program = load_program(command.file, environment);
  if (!program) return exit_failed;
  const auto agent = find_agent(program->program(), command.agent, environment);
  if (!agent) return exit_usage;
  beginning.agent = *agent;
  auto templates = load_prompt_templates(settings.prompts, environment);
  if (!templates) return exit_usage;
  const auto externs = bind_or_report(command.externs, *manifest, *program, environment);
  if (!externs) return exit_failed;
  beginning.image = std::make_shared<const runtime::ProgramImage>(program, std::move(*templates), externs);
  if (*manifest) beginning.threads = (*manifest)->threads;
  beginning.options = run_options(settings, *manifest);
  return exit_done;
}

/// Prepares a conversation of the store, with the program and the prompt templates that it started with.
int begin_stored(ChatCommand& command, journal::Store& store, const Environment& environment, Beginning& beginning) {
  auto stored = read_stored_run(store, {command.run}, environment);
  if (!stored) return exit_failed;
  std::shared_ptr<const tools::ExternTable> externs;
  if (command.file.empty()) {
    const auto& libraries = command.externs.empty() ? stored->started.settings.libraries : command.externs;
    externs = bind_or_report(libraries, std::nullopt, *stored->program.loaded, environment);
    if (!externs) return exit_failed;
  } else {
    auto newer = load_newer(command.file, command.prompts, command.externs, *stored, environment);
    if (!newer) return exit_failed;
    beginning.newer = std::move(*newer);
  }
  if (!complete_choice(command.model, stored->started.settings)) beginning.same_model = runtime::Runtime::SameModel::No;
  beginning.image = std::make_shared<const runtime::ProgramImage>(stored->program.loaded,
                                                                  std::move(stored->program.templates), externs);
  if (beginning.newer.image && beginning.newer.image->hash() == beginning.image->hash()) {
    beginning.image = std::exchange(beginning.newer.image, nullptr);
  }
  return exit_done;
}

}  // namespace

int chat(const ChatCommand& given, const Environment& environment) {
  ChatCommand command = given;
  const bool is_new = command.run.empty();
  std::unique_ptr<journal::StoreConnection> store;
  const auto open = [&] {
    const StoreUse use = is_new ? StoreUse::Change : StoreUse::ChangeExisting;
    if (!command.store.path.empty()) store = open_store(command.store, use, environment);
    return store != nullptr || command.store.path.empty();
  };
  if (!is_new && !open()) return exit_failed;
  Beginning beginning;
  const int begun = is_new ? begin_new(command, environment, beginning)
                           : begin_stored(command, store->journals(), environment, beginning);
  if (begun != exit_done) return begun;
  const std::shared_ptr<const runtime::ProgramImage>& image = beginning.image;
  const runtime::ProgramImage& shown_image = beginning.newer.image ? *beginning.newer.image : *image;
  auto trace = Trace::open({command.trace, command.show_prompts}, *shown_image.loaded(), environment);
  if (!trace) return fail(trace.error(), environment);
  auto model = open_model(command.model, watched_by(environment, shown_image.program()), environment);
  if (!model) return model.error();
  if (is_new && !open()) return exit_failed;
  // A person is present: the process waits for timers.
  auto telemetry = Telemetry::open(command.model.spec, environment);
  if (!telemetry) return exit_usage;
  LocalRuntime local({.model = std::move(*model),
                      .store = std::move(store),
                      .store_path = command.store.path,
                      .reports = reports_folder(command.store.reports, command.store.path, environment),
                      .trace = std::move(*trace),
                      .telemetry = std::move(telemetry),
                      .threads = beginning.threads,
                      .options = {.patience = std::chrono::hours(1), .asks_at_once = true},
                      .shown = environment.output_is_terminal ? ShownAnswers::AsWritten : ShownAnswers::AsEmitted},
                     environment);
  if (is_new && !prepare_secrets(*image, local.secrets(), environment)) return exit_failed;
  runtime::Runtime& runtime = local.runtime();
  runtime::RunId run;
  if (!is_new) {
    const auto resumed = runtime.resume({command.run}, images_with(image), beginning.same_model);
    if (!resumed) return fail(resumed.error().message, environment);
    run = *resumed;
    if (runtime.conversation(run) == nullptr) {
      return fail(fmt::format("run {} is not a conversation", command.run), environment);
    }
    if (runtime.end(run)) return report_run(runtime, run, command.store.path, environment);
    if (beginning.newer.image) {
      if (auto taken = runtime.upgrade_program(run, beginning.newer.image, beginning.newer.libraries); !taken) {
        return fail(taken.error().message, environment);
      }
    }
  } else {
    run = runtime.start_conversation(image, beginning.agent, std::move(beginning.options), local.make_name());
  }
  const int code = converse(runtime, run, local.view(), command.store.path, std::chrono::seconds(command.grace_seconds),
                            environment);
  local.end_trace();
  return code;
}

}  // namespace tenon::cli
