#include <fmt/format.h>

#include <algorithm>

#include "base/shell_word.h"
#include "bytecode/agents.h"
#include "cli/commands.h"
#include "cli/compiled_file.h"
#include "cli/engine_report.h"
#include "cli/given_value.h"
#include "cli/run_report.h"
#include "cli/shown_store.h"
#include "cli/stopping.h"
#include "cli/terminal_engine.h"
#include "engine/program.h"
#include "runtime/arguments.h"

namespace tenon::cli {
namespace {

/// A program contains only those instances of a generic function that it calls.
bool is_generic(const std::string& file, const std::string& name, const Environment& environment) {
  const types::Checked checked = types::check(file, environment.system.files, types::Strictness::Relaxed);
  return std::any_of(checked.program.functions.begin(), checked.program.functions.end(),
                     [&](const types::FunctionDeclaration& function) {
                       return function.name == name && !function.type_parameters.empty();
                     });
}

std::string unknown_function(const bytecode::Program& program, const std::string& name, const std::string& file,
                             const Environment& environment) {
  if (is_generic(file, name, environment)) {
    return fmt::format("`{}` is generic; choose a function that calls it with types", name);
  }
  const std::vector<std::string_view> agents = bytecode::agent_names(program);
  const std::string chat = "tenon chat " + make_shell_word(file);
  if (std::ranges::count(agents, name) > 0) {
    return fmt::format("`{}` is an agent; talk to it with `{} --agent {}`", name, chat, name);
  }
  std::string message = runtime::describe_unknown_function(program, name);
  if (name != "main") return message;
  message += "; choose a function with `--fn NAME`";
  if (agents.size() == 1) message += fmt::format(", or talk to the agent `{}` with `{}`", agents[0], chat);
  if (agents.size() > 1) {
    message += fmt::format(", or talk to an agent with `{} --agent NAME`: {}", chat, fmt::join(agents, ", "));
  }
  return message;
}

std::string describe(const runtime::ArgumentProblem& problem, const std::string& function) {
  using Kind = runtime::ArgumentProblem::Kind;
  switch (problem.kind) {
    case Kind::Missing:
      return fmt::format("missing argument of `{}`: add `--arg {}=…` ({})", function, problem.name, problem.detail);
    case Kind::Invalid:
      return fmt::format("invalid value for `--arg {}`: {}", problem.name, problem.detail);
    case Kind::Context:
      return fmt::format("`--arg {}` cannot be given: `{}` gets a new, empty Context", problem.name, function);
    case Kind::Unknown:
      break;
  }
  return problem.detail;
}

/// Time limit of the `finally` blocks of an interrupted run, after the calls in progress that are made at most once. A
/// second Ctrl-C ends the process at once.
constexpr std::chrono::seconds cleanup_max{10};

void clean_up(runtime::Runtime& runtime, runtime::RunId run, const Environment& environment) {
  constexpr std::chrono::milliseconds wait{20};
  Clock& clock = environment.system.clock;
  auto deadline = clock.monotonic() + cleanup_max;
  OnceCallWatch calls(runtime, run, "the process", environment);
  calls.look();
  runtime.cancel(run, "interrupted");
  while (!runtime.end(run) && clock.monotonic() < deadline) {
    // Only then does the clean-up begin.
    if (calls.look()) deadline = clock.monotonic() + cleanup_max;
    if (!runtime.poll(wait)) clock.wait(wait);
  }
  calls.report_unknown();
  if (!runtime.end(run)) runtime.cancel(run, "interrupted");
  static_cast<void>(runtime.poll(wait));
}

/// Replaces the values of `--arg` that name files, and adds those of `--arg-env`. Returns an exit code if one cannot be
/// read.
std::optional<int> read_given_arguments(RunCommand& command, const Environment& environment) {
  for (auto& [name, value] : command.arguments) {
    auto content = read_given_value(value, environment);
    if (!content) return fail(fmt::format("`--arg {}`: {}", name, content.error()), environment);
    value = std::move(*content);
  }
  for (const auto& [name, variable] : command.variables) {
    std::string value = environment.system.variable(variable.c_str());
    if (value.empty()) {
      return fail(fmt::format("`--arg-env {}`: environment variable {} is unset or empty", name, variable), environment,
                  exit_usage);
    }
    command.arguments.emplace_back(name, std::move(value));
  }
  return std::nullopt;
}

}  // namespace

int run(const RunCommand& given, const Environment& environment) {
  RunCommand command = given;
  if (const auto code = read_given_arguments(command, environment)) return *code;
  auto compiled = compile_file(command.file, environment);
  if (!compiled) return compiled.error();
  const std::shared_ptr<const vm::LoadedProgram> loaded = compiled->program.loaded;
  const auto index = runtime::find_function(loaded->program(), command.function);
  if (!index) {
    return fail(unknown_function(loaded->program(), command.function, command.file, environment), environment,
                exit_usage);
  }
  const bytecode::Function& function = loaded->program().functions[*index];
  auto arguments = runtime::read_arguments(*loaded, function, command.arguments);
  if (!arguments) {
    for (const auto& problem : arguments.error()) fail(describe(problem, function.name), environment);
    return exit_usage;
  }
  auto program = engine::prepare(std::move(compiled->program), command, compiled->manifest, environment.system);
  if (!program) return report(program.error(), environment);
  auto trace = Trace::open({command.trace, command.show_prompts, true}, *loaded, environment);
  if (!trace) return fail(trace.error(), environment);
  engine::EngineOptions options;
  options.model_choice = program->settings.model;
  options.watched = watched_by(environment, loaded->program());
  options.store_choice = command.store;
  options.extern_threads = program->threads;
  if (command.waits_for_timers) options.runtime.patience = any_timer;
  auto local = TerminalEngine::open(std::move(options), std::move(*trace), ShownAnswers::WhenWhole, environment);
  if (!local) return report(local.error(), environment);
  const auto id = (*local)->engine().start(*program, *index, std::move(*arguments));
  if (!id) return report(id.error(), environment);
  runtime::Runtime& runtime = (*local)->runtime();
  const bool is_recorded = !command.store.path.empty();
  // A run that is recorded is left to `tenon resume`; what another one has in progress is ended by its clean-up.
  const std::chrono::seconds grace(is_recorded ? command.grace_seconds : 0);
  run_until_stopped(
      runtime, grace, [&] { return is_recorded ? std::optional(grace) : std::nullopt; }, environment);
  if (environment.interrupted->load() && !is_recorded) clean_up(runtime, *id, environment);
  (*local)->end_trace();
  const int code = report_run(runtime, *id, shown_store(command.store), environment);
  if (code == exit_done && !is_recorded) {
    for (const std::string& unused : (*local)->engine().unused_answers()) {
      warn(fmt::format("the scripted model was not asked for {}", unused), environment);
    }
  }
  return code;
}

}  // namespace tenon::cli
