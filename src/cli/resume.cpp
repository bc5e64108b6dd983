#include <fmt/format.h>

#include <functional>

#include "cli/commands.h"
#include "cli/engine_report.h"
#include "cli/given_value.h"
#include "cli/run_report.h"
#include "cli/shown_store.h"
#include "cli/stopping.h"
#include "cli/store_wait.h"
#include "cli/terminal_engine.h"
#include "engine/stored_program.h"
#include "journal/inbox.h"
#include "runtime/recovery/recovery.h"

namespace tenon::cli {
namespace {

/// Whether several processes can continue runs of the store.
bool is_shared(const engine::StoreChoice& store) {
  return !journal::file_of_store(store.path);
}

StoreWait store_wait_of(const ResumeCommand& command, const Environment& environment) {
  const bool has_file = !is_shared(command.store);
  return {command.store_wait, has_file ? StoreWait::file_interval : StoreWait::database_interval, environment};
}

/// Answers the question of `--input`. Returns an exit code if the answer is not accepted.
std::optional<int> give_answer(runtime::Runtime& runtime, runtime::RunId run, const ResumeCommand& command,
                               const Environment& environment) {
  std::string wait = command.wait;
  const runtime::Conversation* const conversation = runtime.conversation(run);
  const bool waits_for_prompt = conversation != nullptr && !conversation->is_in_turn();
  if (waits_for_prompt && (command.input || !wait.empty())) {
    static_cast<void>(report_run(runtime, run, shown_store(command.store), environment));
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
      if (!questions.empty()) static_cast<void>(report_run(runtime, run, shown_store(command.store), environment));
      return exit_usage;
    }
    if (runtime.has_asked_several(run)) {
      fail("the run has asked other questions before: name the one that is answered with `--wait`", environment);
      static_cast<void>(report_run(runtime, run, shown_store(command.store), environment));
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
    static_cast<void>(report_run(runtime, run, shown_store(command.store), environment));
    return exit_usage;
  }
  return std::nullopt;
}

using journal::CommandTaker;

/// How often the process that has a run may end before it takes a command.
constexpr int attempts_max = 100;

/// What has become of what another process was to do.
struct Passed {
  std::optional<int> code = {};  ///< the exit code, after printing the reply or what is wrong
  /// Without a code: the process has ended before it took the command. It is to be seen anew who continues the run.
  bool is_undone = false;
};

/// Sends a command to the process that takes it. Without an exit code if all processes that could take it lack
/// something, which is printed, or if there is none any more.
Passed send(const engine::StoreChoice& store, const journal::RunName& run, runtime::InboxCommand command,
            CommandTaker taker, const Environment& environment) {
  using Fate = engine::SentCommand::Fate;
  const auto sent = engine::send_to_owner(store, run, std::move(command), environment.system);
  if (!sent) return {report(sent.error(), environment)};
  if (sent->fate == Fate::NoTaker) return {.is_undone = true};
  if (sent->fate == Fate::Lacking) {
    warn(fmt::format("no other process can continue the run: {}", sent->lack), environment);
    return {};
  }
  const std::string_view who = taker == CommandTaker::Host ? "a server of the store"
                               : is_shared(store)          ? "the process that owns the run"
                                                           : "the process that owns the store";
  notify(fmt::format("run {}: accepted by {}, which continues the run", run.text, who), environment);
  return {exit_done};
}

/// Sends what `tenon resume` asks for, if it is something that another process can do with the run.
Passed pass_on(const ResumeCommand& command, const journal::RunName& run, CommandTaker taker,
               const Environment& environment) {
  if (command.input) {
    const runtime::Input input{runtime::Input::Form::Typed, Json(*command.input)};
    return send(command.store, run, {.action = runtime::AnswerQuestion{command.wait, input}}, taker, environment);
  }
  const auto waits = engine::waits_for_service(command.store, run, environment.system);
  if (!waits) report(waits.error(), environment);
  if (!waits || !*waits) return {};
  return send(command.store, run, {.action = runtime::RetryServices{}}, taker, environment);
}

/// What `tenon resume` can do with a run that another process continues. `in_use`: the error that says which one.
/// Without an exit code only if it has not been done.
Passed resume_with_owner(const ResumeCommand& command, const journal::RunName& run, const std::string& in_use,
                         const Environment& environment) {
  const Passed passed = pass_on(command, run, CommandTaker::Owner, environment);
  if (passed.code || passed.is_undone) return passed;
  if (command.input) return {exit_failed};
  const std::string_view continues = is_shared(command.store) ? "" : ", which continues its runs";
  return {fail(fmt::format("{}{}; send it an answer with `--input`", in_use, continues), environment)};
}

/// Whether an option says how this process is to continue the run.
bool is_for_this_process(const ResumeCommand& command) {
  return !command.model.spec.empty() || !command.model.judge.empty() || !command.externs.empty() ||
         !command.program.empty() || command.waits_for_timers || command.store_wait.is_wanted;
}

/// Leaves the run to the processes of a shared store that can continue it. This one then needs neither the model nor
/// the libraries of the run. Returns nothing if it is to continue the run itself; `store` is closed otherwise.
Passed leave_to_others(const ResumeCommand& command, const journal::RunName& run,
                       std::unique_ptr<journal::StoreConnection>& store, const Environment& environment) {
  if (command.store_wait.is_wanted) return {};
  const auto taker = store->inbox().taker_of(run);
  if (!taker) return {fail(taker.error().message, environment)};
  switch (*taker) {
    case CommandTaker::None:
      return {};
    case CommandTaker::Owner:
    case CommandTaker::Visitor:
      store.reset();  // the store is used by others while this process waits for the reply
      return resume_with_owner(
          command, run,
          fmt::format("{}: run {}: another process continues it", journal::name_of_store(command.store.path), run.text),
          environment);
    case CommandTaker::Host:
      break;
  }
  if (is_for_this_process(command)) return {};
  return pass_on(command, run, CommandTaker::Host, environment);
}

/// Continues the run until it waits or ends. Returns an exit code if it cannot be continued.
std::optional<int> continue_run(runtime::Runtime& runtime, runtime::RunId run, const ResumeCommand& command,
                                const engine::NewerProgram& newer, const Environment& environment) {
  if (runtime.end(run)) {
    if (command.input) {
      notify(fmt::format("run {} has already ended; the answer was not used", command.run), environment);
    }
    return std::nullopt;
  }
  if (newer.image) {
    if (auto taken = runtime.upgrade_program(run, newer.image, newer.libraries); !taken) {
      return fail(taken.error().message, environment);
    }
  } else if (const auto code = give_answer(runtime, run, command, environment)) {
    return code;
  }
  runtime.retry_services(run);
  run_until_stopped(runtime, std::chrono::seconds(command.grace_seconds), environment);
  return std::nullopt;
}

}  // namespace

/// Continues a run that has ended because its budget was spent, as a run of its own that takes all its outcomes.
static int resume_with_budget(const ResumeCommand& command, const Environment& environment) {
  return fork({.run = command.run,
               .store = command.store,
               .budgets = command.budgets,
               .model = command.model,
               .externs = command.externs,
               .trace = command.trace,
               .show_prompts = command.show_prompts,
               .forkable = engine::ForkableRuns::BudgetSpent},
              environment);
}

/// Continues the run in this process. `known_taken`: as of `continue_fork`.
static Passed resume_here(const ResumeCommand& command, std::unique_ptr<journal::StoreConnection> store,
                          StoreWait& wait, std::uint64_t& known_taken, const Environment& environment) {
  const engine::System& system = environment.system;
  const journal::RunName name{command.run};
  engine::EngineOptions options;
  options.store_choice = command.store;
  options.store = std::move(store);
  auto stored = engine::read_stored_run(options.store->journals(), name);
  if (!stored) return {report(stored.error(), environment)};

  const auto program = engine::load_stored_program(
      *stored, {.externs = {command.externs}, .newer = command.program, .prompts = command.prompts}, system);
  if (!program) return {report(program.error(), environment)};
  report(program->newer.warnings, environment);
  options.model_choice = command.model;
  const bool is_same_model = engine::complete_choice(options.model_choice, stored->started.settings);
  options.model = stored->is_over              ? engine::open_no_model()
                  : command.model.spec.empty() ? engine::open_missing_model(options.model_choice)
                                               : nullptr;
  options.watched = watched_by(environment, stored->program.loaded->program());
  if (command.waits_for_timers) options.runtime.patience = any_timer;
  auto trace = Trace::open({command.trace, command.show_prompts, true}, *program->image->loaded(), environment);
  if (!trace) return {fail(trace.error(), environment)};
  auto local = TerminalEngine::open(std::move(options), std::move(*trace), ShownAnswers::WhenWhole, environment);
  if (!local) return {report(local.error(), environment)};
  const auto claim = [&] {
    return (*local)->engine().resume(name, engine::images_with(program->image),
                                     is_same_model ? runtime::SameModel::Yes : runtime::SameModel::No);
  };
  auto id = claim();
  while (!id && id.error().kind == engine::EngineError::Kind::InUse && wait.may_try_again(id.error().message)) {
    id = claim();
  }
  if (wait.was_stopped()) return {exit_code_of_stop(environment)};
  if (!id && id.error().kind == engine::EngineError::Kind::InUse) {
    local->reset();  // the store is used by others while this process waits for the reply
    return resume_with_owner(command, name, id.error().message, environment);
  }
  if (!id) return {report(id.error(), environment)};
  runtime::Runtime& runtime = (*local)->runtime();
  const runtime::Conversation* const conversation = runtime.conversation(*id);
  const bool was_in_turn = conversation != nullptr && conversation->is_in_turn();
  if (const auto code = continue_run(runtime, *id, command, program->newer, environment)) return {*code};
  known_taken = runtime.known_taken(*id);
  (*local)->end_trace();
  if (was_in_turn && !runtime.end(*id) && !runtime.conversation(*id)->is_in_turn()) {
    return {report_turn(runtime, *id, environment)};
  }
  return {report_run(runtime, *id, shown_store(command.store), environment)};
}

/// Continues the run here, or has the process do it that has it.
static Passed try_to_resume(const ResumeCommand& command, StoreWait& wait, std::uint64_t& known_taken,
                            const Environment& environment) {
  const engine::System& system = environment.system;
  const journal::RunName name{command.run};
  auto store = engine::open_store(command.store, engine::StoreUse::ChangeExisting, system);
  while (!store && store.error().kind == engine::EngineError::Kind::InUse) {
    if (wait.may_try_again(store.error().message)) {
      store = engine::open_store(command.store, engine::StoreUse::ChangeExisting, system);
    } else if (wait.was_stopped()) {
      return {exit_code_of_stop(environment)};
    } else {
      return resume_with_owner(command, name, store.error().message, environment);
    }
  }
  if (!store) return {report(store.error(), environment)};
  const Passed passed = leave_to_others(command, name, *store, environment);
  if (passed.code || passed.is_undone) return passed;
  return resume_here(command, std::move(*store), wait, known_taken, environment);
}

/// Tries again while the process that was to do it has ended before it did, such as another command for the same run.
static int until_done(const std::function<Passed()>& attempt, const Environment& environment) {
  for (int attempts = 1; attempts <= attempts_max; ++attempts) {
    if (const Passed passed = attempt(); passed.code) return *passed.code;
    if (environment.interrupted->load()) return exit_code_of_stop(environment);
  }
  return fail("the processes that were to continue the run have ended, one after the other; try again", environment);
}

int resume(const ResumeCommand& given, const Environment& environment) {
  if (given.budgets != bytecode::Bounds{}) return resume_with_budget(given, environment);
  ResumeCommand command = given;
  if (command.input) {
    auto content = read_given_value(*command.input, environment);
    if (!content) return fail("`--input`: " + content.error(), environment);
    command.input = std::move(*content);
  }
  StoreWait wait = store_wait_of(command, environment);
  std::uint64_t known_taken = 0;
  return until_done([&] { return try_to_resume(command, wait, known_taken, environment); }, environment);
}

int continue_fork(const ResumeCommand& command, std::unique_ptr<journal::StoreConnection> store,
                  std::uint64_t& known_taken, const Environment& environment) {
  StoreWait wait = store_wait_of(command, environment);
  const Passed first = resume_here(command, std::move(store), wait, known_taken, environment);
  if (first.code) return *first.code;
  return until_done([&] { return try_to_resume(command, wait, known_taken, environment); }, environment);
}

/// Cancels the run in whichever process has it.
static Passed try_to_cancel(const CancelCommand& command, const Environment& environment) {
  const journal::RunName name{command.run};
  const auto send_cancel = [&](CommandTaker taker) {
    const runtime::CancelRun cancel{runtime::CancelScope::Run, command.reason};
    return send(command.store, name, {.action = cancel}, taker, environment);
  };
  const auto send_to_owner = [&] {
    const Passed passed = send_cancel(CommandTaker::Owner);
    return passed.code || passed.is_undone ? passed : Passed{exit_failed};
  };
  auto store = engine::open_store(command.store, engine::StoreUse::ChangeExisting, environment.system);
  if (!store && store.error().kind == engine::EngineError::Kind::InUse) return send_to_owner();
  if (!store) return {report(store.error(), environment)};
  // A server that lives also runs the blocks of `finally`.
  const auto taker = (*store)->inbox().taker_of(name);
  if (!taker) return {fail(taker.error().message, environment)};
  if (*taker != CommandTaker::None) {
    const Passed passed = send_cancel(*taker);
    if (passed.code || passed.is_undone) return passed;
  }
  journal::Store& journals = (*store)->journals();
  auto head = journals.head(name);
  if (!head) return {fail(head.error().message, environment)};
  if (journal::has_ended(head->summary.state)) {
    return {fail(fmt::format("run {} has already ended ({})", name.text, journal::name_of(head->summary.state)),
                 environment)};
  }
  const std::string reason = command.reason.empty() ? "cancelled by the operator" : command.reason;
  const std::int64_t now = wall_ms(environment.system.clock);
  // A run that cannot be read can still be cancelled.
  const auto begun = runtime::request_stored_cancel(journals, name, reason, now, engine::images_without_externs());
  if (!begun && begun.error().store == journal::StoreError::Kind::Owned) {
    store->reset();
    return send_to_owner();
  }
  if (begun && *begun) {
    environment.write_error(
        fmt::format("tenon: run {} is cancelled, but its `finally` or `shield` blocks have not ended yet\n"
                    "  run them with: tenon resume {} --store {}\n"
                    "  or cancel the run again to skip them\n",
                    name.text, name.text, shown_store(command.store)));
    return {exit_waits};
  }
  const auto cancelled = runtime::cancel_stored(journals, name, reason, now);
  if (!cancelled && cancelled.error().store == journal::StoreError::Kind::Owned) {
    store->reset();
    return send_to_owner();
  }
  if (!cancelled) return {fail(cancelled.error().message, environment)};
  return {exit_done};
}

int cancel(const CancelCommand& command, const Environment& environment) {
  return until_done([&] { return try_to_cancel(command, environment); }, environment);
}

}  // namespace tenon::cli
