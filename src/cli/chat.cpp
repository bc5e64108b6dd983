#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "bytecode/agents.h"
#include "cli/chat_view.h"
#include "cli/commands.h"
#include "cli/compiled_file.h"
#include "cli/engine_report.h"
#include "cli/remote_chat.h"
#include "cli/run_report.h"
#include "cli/shown_store.h"
#include "cli/stopping.h"
#include "cli/terminal_engine.h"
#include "engine/program.h"
#include "engine/stored_program.h"
#include "journal/inbox.h"
#include "runtime/arguments.h"
#include "runtime/recovery/migration.h"

namespace tenon::cli {
namespace {

/// The agent of that name, or the program's only one. Returns nothing after printing what is wrong.
std::optional<std::uint32_t> choose_agent(const bytecode::Program& program, const std::string& name,
                                          const Environment& environment) {
  if (const auto agent = bytecode::find_agent(program, name)) return agent;
  const std::size_t count = program.agents.size();
  if (name.empty() && count == 1) return 0;
  const std::string message = count == 0 ? "the program has no agent; `tenon run` runs a function of it"
                              : name.empty()
                                  ? fmt::format("the program has several agents; choose one with `--agent NAME`: {}",
                                                fmt::join(bytecode::agent_names(program), ", "))
                                  : runtime::describe_unknown_agent(program, name);
  fail(message, environment);
  return std::nullopt;
}

/// Answers the questions of the run from the terminal, unless another process does. Returns false at the end of the
/// input.
bool answer_questions(runtime::Runtime& runtime, runtime::RunId run, const std::function<void()>& continue_run,
                      const Environment& environment) {
  for (;;) {
    const std::vector<runtime::PendingInput> questions = runtime.questions(run);
    if (questions.empty()) return true;
    const runtime::PendingInput& question = questions.front();
    const auto is_closed = [&] {
      static_cast<void>(runtime.poll(std::chrono::milliseconds{0}));
      const std::vector<runtime::PendingInput> open = runtime.questions(run);
      return std::ranges::find(open, question.wait, &runtime::PendingInput::wait) == open.end();
    };
    const auto line = read_answer(question, environment, is_closed);
    if (!line && environment.interrupted->load()) return true;
    if (!line && !is_closed()) return false;
    if (!line) {
      notify("the question was closed by another process", environment);
      continue_run();
      continue;
    }
    if (auto taken = runtime.answer(run, question.wait, *line); !taken) {
      fail(taken.error().message, environment);
      if (!taken.error().is_over()) continue;
    }
    continue_run();
    if (environment.interrupted->load()) return true;
  }
}

/// Prints the command that continues the conversation, if the store has it.
void print_continuation(const runtime::Runtime& runtime, runtime::RunId run, const std::string& store,
                        const Environment& environment) {
  if (!runtime.is_stored(run)) return;
  environment.write_error(
      fmt::format("  continue with: tenon chat --run {} --store {}\n", runtime.name(run)->text, store));
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

/// Ends a turn after the first signal. The `finally` blocks of the turn run first, after the calls in progress that are
/// made at most once; another signal ends the turn at once, and is then still set.
void interrupt_turn(runtime::Runtime& runtime, runtime::RunId run, const Environment& environment) {
  OnceCallWatch calls(runtime, run, "the turn", environment);
  calls.look();
  runtime.cancel_turn(run, "interrupted");
  while (runtime.is_cancelling(run) && !environment.interrupted->load()) {
    calls.look();
    static_cast<void>(runtime.poll(std::chrono::milliseconds{0}, environment.interrupted));
  }
  if (runtime.conversation(run)->is_in_turn()) {
    calls.look();
    runtime.run(environment.interrupted, [] { return std::nullopt; });
    calls.look();
    if (!environment.interrupted->load()) return;
    runtime.cancel_turn(run, "interrupted");
  }
  calls.report_unknown();
}

/// Waits for the next line, and prompts the agent with it, unless another process does. Returns an exit code if the
/// conversation is left instead. `leave`: prints how it continues.
std::optional<int> await_turn(runtime::Runtime& runtime, runtime::RunId run, const std::string& store,
                              bool& was_interrupted, const std::function<int()>& leave,
                              const Environment& environment) {
  const auto has_begun = [&, last = runtime.last_record(run)] {
    static_cast<void>(runtime.poll(std::chrono::milliseconds{0}));
    return runtime.end(run) || runtime.last_record(run) != last;
  };
  for (;;) {
    if (environment.error_is_terminal) environment.write_error("> ");
    const auto line = environment.read_line(has_begun);
    if (is_terminated(environment)) return leave();
    if (!line && environment.interrupted->exchange(false)) {
      environment.write_error("\n");
      if (std::exchange(was_interrupted, true)) return leave();
      environment.write_error("tenon: press Ctrl-C again, or Ctrl-D, to exit\n");
      continue;
    }
    if (!line && environment.error_is_terminal) environment.write_error("\n");
    if (runtime.end(run)) return report_run(runtime, run, store, environment);
    if (!line && has_begun()) {
      notify("another process has prompted the agent", environment);
      return std::nullopt;
    }
    if (!line && environment.error_is_terminal) print_continuation(runtime, run, store, environment);
    if (!line) return exit_done;
    was_interrupted = false;
    if (line->empty()) continue;
    const auto taken = runtime.prompt(run, *line);
    if (taken) return std::nullopt;
    fail(taken.error().message, environment);
  }
}

/// Runs turn after turn until the input ends. `view`: shows the agent's texts while they are written; may be null.
/// `store`: its path, empty without one. `grace`: for effects in progress when the process is asked to stop.
int converse(runtime::Runtime& runtime, runtime::RunId run, ChatView* view, const std::string& store,
             std::chrono::seconds grace, const Environment& environment) {
  bool was_interrupted = false;  // since the last line
  const auto continue_run = [&] {
    // What is in progress when a turn is interrupted is ended by the turn's clean-up.
    const auto allowed = [&] {
      return is_terminated(environment) && !store.empty() ? std::optional(grace) : std::nullopt;
    };
    run_until_stopped(runtime, store.empty() ? std::chrono::seconds{0} : grace, allowed, environment);
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
      if (const auto code = await_turn(runtime, run, store, was_interrupted, leave, environment)) return *code;
      continue_run();
    }
    if (!environment.interrupted->load() && !answer_questions(runtime, run, continue_run, environment)) {
      print_continuation(runtime, run, store, environment);
      return exit_waits;
    }
    const bool leaves = is_terminated(environment);
    if (leaves && !store.empty()) {
      if (!runtime.conversation(run)->is_in_turn()) show_turn(runtime, run, view, environment);
      return leave();
    }
    if (environment.interrupted->exchange(false)) {
      was_interrupted = true;
      interrupt_turn(runtime, run, environment);
      if (leaves) return leave();
      environment.interrupted->store(false);
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
  engine::Program program;
  std::uint32_t agent = 0;  ///< of a new one
  engine::ModelChoice model;
  runtime::SameModel same_model = runtime::SameModel::Yes;
  engine::NewerProgram newer;  ///< that a conversation of the store is upgraded to, if any
};

/// Prepares a new conversation with an agent of the file. Returns exit_done, or another exit code after printing why
/// there can be none.
int begin_new(const ChatCommand& command, const Environment& environment, Beginning& beginning) {
  auto compiled = compile_file(command.file, environment);
  if (!compiled) return compiled.error();
  const auto agent = choose_agent(compiled->program.loaded->program(), command.agent, environment);
  if (!agent) return exit_usage;
  beginning.agent = *agent;
  auto program = engine::prepare(std::move(compiled->program), command, compiled->manifest, environment.system);
  if (!program) return report(program.error(), environment);
  beginning.program = std::move(*program);
  beginning.model = beginning.program.settings.model;
  return exit_done;
}

/// Prepares a conversation of the store, with the program and the prompt templates that it started with.
int begin_stored(const ChatCommand& command, journal::Store& store, const Environment& environment,
                 Beginning& beginning) {
  const engine::System& system = environment.system;
  auto stored = engine::read_stored_run(store, {command.run});
  if (!stored) return report(stored.error(), environment);
  auto program = engine::load_stored_program(
      *stored, {.externs = {command.externs}, .newer = command.file, .prompts = command.prompts}, system);
  if (!program) return report(program.error(), environment);
  report(program->newer.warnings, environment);
  if (program->image != program->newer.image) beginning.newer = std::move(program->newer);
  beginning.program.image = std::move(program->image);
  beginning.model = command.model;
  if (!engine::complete_choice(beginning.model, stored->started.settings)) {
    beginning.same_model = runtime::SameModel::No;
  }
  return exit_done;
}

/// Starts the conversation, or resumes it. Returns exit_done, or another exit code after printing why there is none.
int begin(const ChatCommand& command, Beginning& beginning, TerminalEngine& local, const Environment& environment,
          runtime::RunId& run) {
  if (command.run.empty()) {
    const auto started = local.engine().start_conversation(beginning.program, beginning.agent);
    if (!started) return report(started.error(), environment);
    run = *started;
    return exit_done;
  }
  const auto resumed =
      local.engine().resume({command.run}, engine::images_with(beginning.program.image), beginning.same_model);
  if (!resumed) return report(resumed.error(), environment);
  run = *resumed;
  runtime::Runtime& runtime = local.runtime();
  if (runtime.conversation(run) == nullptr) {
    return fail(fmt::format("run {} is not a conversation", command.run), environment);
  }
  if (runtime.end(run) || !beginning.newer.image) return exit_done;
  if (auto taken = runtime.upgrade_program(run, beginning.newer.image, beginning.newer.libraries); !taken) {
    return fail(taken.error().message, environment);
  }
  return exit_done;
}

/// Whether another process has the conversation, or a server would continue it with all that it needs. Options that say
/// how this process is to continue it keep one that no one has here.
bool is_for_other(const ChatCommand& command, journal::StoreConnection& store) {
  const auto head = store.journals().head({command.run});
  const auto taker = store.inbox().taker_of({command.run});
  if (!head || !taker) return false;
  if (*taker == journal::CommandTaker::Owner || *taker == journal::CommandTaker::Visitor) return true;
  const bool has_options = !command.model.spec.empty() || !command.model.judge.empty() || !command.externs.empty() ||
                           !command.file.empty() || !command.trace.empty() || command.show_prompts;
  return *taker == journal::CommandTaker::Host && !has_options;
}

/// The same, with a line that is read before all others.
Environment with_first_line(const Environment& environment, std::string line) {
  Environment changed = environment;
  changed.read_line = [&environment,
                       first = std::optional(std::move(line))](const std::function<bool()>& stop) mutable {
    if (!first) return environment.read_line(stop);
    return std::exchange(first, std::nullopt);
  };
  return changed;
}

/// Holds the conversation in this process. `store`: of one that exists.
int chat_here(const ChatCommand& command, std::unique_ptr<journal::StoreConnection> store,
              const Environment& environment) {
  const bool is_new = command.run.empty();
  engine::EngineOptions options;
  options.store_choice = command.store;
  options.store = std::move(store);
  Beginning beginning;
  const int prepared = is_new ? begin_new(command, environment, beginning)
                              : begin_stored(command, options.store->journals(), environment, beginning);
  if (prepared != exit_done) return prepared;
  const runtime::ProgramImage& shown_image = beginning.newer.image ? *beginning.newer.image : *beginning.program.image;
  auto trace = Trace::open({command.trace, command.show_prompts}, *shown_image.loaded(), environment);
  if (!trace) return fail(trace.error(), environment);
  options.model_choice = beginning.model;
  if (!is_new) options.model = engine::open_missing_model(beginning.model);
  const bool has_model = options.model == nullptr;
  options.watched = watched_by(environment, shown_image.program());
  options.extern_threads = beginning.program.threads;
  // A person is present: the process waits for timers.
  options.runtime = {.patience = std::chrono::hours(1), .asks_at_once = true};
  auto local = TerminalEngine::open(std::move(options), std::move(*trace),
                                    environment.output_is_terminal ? ShownAnswers::AsWritten : ShownAnswers::AsEmitted,
                                    environment);
  if (!local) return report(local.error(), environment);
  runtime::RunId run;
  if (const int begun = begin(command, beginning, **local, environment, run); begun != exit_done) return begun;
  runtime::Runtime& runtime = (*local)->runtime();
  if (runtime.end(run)) return report_run(runtime, run, shown_store(command.store), environment);
  if (!has_model) {
    return fail(
        "the conversation's model was a function of the program that started it: continue it there, in Python with "
        "`tenon.resume(…, model=…)`, or choose another model with `--model`",
        environment);
  }
  const int code = converse(runtime, run, (*local)->view(), shown_store(command.store),
                            std::chrono::seconds(command.grace_seconds), environment);
  (*local)->end_trace();
  return code;
}

}  // namespace

int chat(const ChatCommand& command, const Environment& environment) {
  if (command.run.empty()) return chat_here(command, nullptr, environment);
  for (std::optional<std::string> unsaid;;) {
    const Environment here = unsaid ? with_first_line(environment, *unsaid) : environment;
    auto store = engine::open_store(command.store, engine::StoreUse::ChangeExisting, environment.system);
    if (!store) return report(store.error(), environment);
    if (!is_for_other(command, **store)) return chat_here(command, std::move(*store), here);
    store->reset();
    RemoteChatEnd end = chat_with_server(command, here);
    if (end.code) return *end.code;
    notify(fmt::format("the process that continued run {} has ended: it is continued here", command.run), environment);
    unsaid = std::move(end.unsaid);
  }
}

}  // namespace tenon::cli
