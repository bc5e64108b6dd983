#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "cli/extern_binding.h"
#include "cli/local_runtime.h"
#include "cli/manifest_file.h"
#include "cli/model_choice.h"
#include "cli/program_file.h"
#include "cli/run_report.h"
#include "cli/store_file.h"
#include "cli/stored_run.h"
#include "types/suggest.h"

namespace tenon::cli {
namespace {

/// The agent of that name, or the program's only one; what is wrong is printed.
std::optional<std::uint32_t> find_agent(const bytecode::Program& program, const std::string& name,
                                        const Environment& environment) {
  std::vector<std::string_view> names;
  for (std::uint32_t at = 0; at < program.agents.size(); ++at) {
    if (program.agents[at].name == name) return at;
    names.push_back(program.agents[at].name);
  }
  if (name.empty() && names.size() == 1) return 0;
  std::string message = names.empty()  ? "the program has no agent"
                        : name.empty() ? "the program has several agents; name one with --agent"
                                       : fmt::format("the program has no agent `{}`", name);
  if (const auto nearest = types::find_nearest(name, names)) message += fmt::format("; did you mean `{}`?", *nearest);
  environment.write_error(fmt::format("tenon: {}\n", message));
  return std::nullopt;
}

/// Answers what the run asks, from the terminal; false at the end of the input.
bool answer_questions(runtime::Runtime& runtime, runtime::RunId run, const Environment& environment) {
  for (;;) {
    const std::vector<runtime::Question> questions = runtime.questions(run);
    if (questions.empty()) return true;
    const runtime::Question& question = questions.front();
    environment.write_error(fmt::format("{} ({}): ", question.text, question.type));
    const auto line = environment.read_line();
    if (!line) {
      environment.write_error("\n");
      return false;
    }
    if (auto taken = runtime.answer(run, question.wait, *line); !taken) {
      environment.write_error(fmt::format("tenon: {}\n", taken.error().message));
      continue;
    }
    runtime.run(environment.interrupted);
    if (environment.interrupted->load()) return true;
  }
}

/// Turn after turn, until the input ends.
int converse(runtime::Runtime& runtime, runtime::RunId run, const Environment& environment) {
  // What waited when the conversation was left comes first.
  runtime.run(environment.interrupted);
  for (;;) {
    const bool in_turn = runtime.conversation(run)->is_in_turn();
    if (!in_turn) {
      if (environment.error_is_terminal) environment.write_error("> ");
      const auto line = environment.read_line();
      if (!line || runtime.end(run)) return exit_done;
      if (line->empty()) continue;
      if (auto taken = runtime.prompt(run, *line); !taken) {
        environment.write_error(fmt::format("tenon: {}\n", taken.error().message));
        continue;
      }
      runtime.run(environment.interrupted);
    }
    if (!environment.interrupted->load() && !answer_questions(runtime, run, environment)) return exit_waits;
    if (environment.interrupted->exchange(false)) {
      runtime.cancel_turn(run, "interrupted");
      runtime.run();
    }
    if (const auto wakes = runtime.wakes_at(run); wakes && runtime.conversation(run)->is_in_turn()) {
      environment.write_error("tenon: the agent waits for time to pass\n");
      return exit_waits;
    }
    static_cast<void>(report_turn(runtime, run, environment));
  }
}

/// What a conversation begins or goes on with.
struct Beginning {
  std::shared_ptr<const runtime::ProgramImage> image;
  std::uint32_t agent = 0;               ///< of a new one
  runtime::RunOptions options;           ///< of a new one
  std::optional<std::uint32_t> threads;  ///< of externs, as the manifest says
  runtime::Runtime::SameModel same_model = runtime::Runtime::SameModel::Yes;
};

/// A new conversation with an agent of the file. Gives an exit code when there can be none, which is printed.
int begin_new(ChatCommand& command, const Environment& environment, Beginning& beginning) {
  const auto manifest = read_manifest(command.file, environment);
  if (!manifest) return exit_usage;
  if (*manifest && command.model.spec.empty()) command.model.spec = (*manifest)->model.value_or("");
  if (command.model.spec.empty()) command.model.spec = "builtin";
  if (command.prompts.empty() && *manifest) command.prompts = (*manifest)->wording.value_or("");
  if (command.prompts.empty()) command.prompts = "default";
  const auto program = load_program(command.file, environment);
  if (!program) return exit_failed;
  const auto agent = find_agent(program->program(), command.agent, environment);
  if (!agent) return exit_usage;
  beginning.agent = *agent;
  auto templates = load_wordings(command.prompts, environment);
  if (!templates) return exit_usage;
  const auto externs = bind_or_tell(command.externs, *manifest, *program, environment);
  if (!externs) return exit_failed;
  beginning.image = std::make_shared<const runtime::ProgramImage>(program, std::move(*templates), externs);
  if (*manifest) beginning.threads = (*manifest)->threads;
  runtime::RunOptions& options = beginning.options;
  options.model = command.model.spec;
  options.prompts = command.prompts;
  options.libraries = library_paths(command.externs, *manifest);
  options.sampling = {command.model.temperature, command.model.seed, command.model.tokens_max};
  options.generation_timeout = std::chrono::milliseconds(command.model.timeout_ms);
  return exit_done;
}

/// A conversation of the store: with the program and the wordings that it began with.
int begin_stored(ChatCommand& command, journal::Store& store, const Environment& environment, Beginning& beginning) {
  auto stored = read_stored_run(store, {command.run}, environment);
  if (!stored) return exit_failed;
  const auto& libraries = command.externs.empty() ? stored->started.settings.libraries : command.externs;
  const auto externs = bind_or_tell(libraries, std::nullopt, *stored->program.loaded, environment);
  if (!externs) return exit_failed;
  const bool is_same = command.model.spec.empty() || command.model.spec == stored->started.settings.model;
  if (!is_same) beginning.same_model = runtime::Runtime::SameModel::No;
  if (command.model.spec.empty()) command.model.spec = stored->started.settings.model;
  beginning.image = std::make_shared<const runtime::ProgramImage>(stored->program.loaded,
                                                                  std::move(stored->program.templates), externs);
  return exit_done;
}

}  // namespace

int chat(const ChatCommand& given, const Environment& environment) {
  ChatCommand command = given;
  const bool is_new = command.run.empty();
  std::unique_ptr<journal::SqliteStore> store;
  const auto open = [&] {
    const StoreUse use = is_new ? StoreUse::Change : StoreUse::ChangeExisting;
    if (!command.store.path.empty()) store = open_store(command.store, use, environment);
    return store != nullptr || command.store.path.empty();
  };
  if (!is_new && !open()) return exit_failed;
  Beginning beginning;
  const int begun =
      is_new ? begin_new(command, environment, beginning) : begin_stored(command, *store, environment, beginning);
  if (begun != exit_done) return begun;
  const std::shared_ptr<const runtime::ProgramImage>& image = beginning.image;
  auto trace = Trace::open({command.trace, command.show_prompts}, *image->loaded(), environment);
  if (!trace) {
    environment.write_error(fmt::format("tenon: {}\n", trace.error()));
    return exit_failed;
  }
  auto model = open_model(command.model, environment.error_is_terminal ? Watched::Yes : Watched::No, environment);
  if (!model) return model.error();
  if (is_new && !open()) return exit_failed;
  // Somebody sits here: timers are waited for.
  auto telemetry = Telemetry::open(command.model.spec, environment);
  if (!telemetry) return exit_usage;
  LocalRuntime local({.model = std::move(*model),
                      .store = std::move(store),
                      .trace = std::move(*trace),
                      .telemetry = std::move(telemetry),
                      .threads = beginning.threads,
                      .options = {.patience = std::chrono::hours(1)}},
                     environment);
  runtime::Runtime& runtime = local.runtime();
  runtime::RunId run;
  if (!is_new) {
    const auto resumed = runtime.resume(
        {command.run}, [&](const Hash&, std::string_view) { return image; }, beginning.same_model);
    if (!resumed) {
      environment.write_error(fmt::format("tenon: {}\n", resumed.error().message));
      return exit_failed;
    }
    run = *resumed;
    if (runtime.conversation(run) == nullptr) {
      environment.write_error(fmt::format("tenon: run {} is no conversation\n", command.run));
      return exit_failed;
    }
    if (runtime.end(run)) return report_run(runtime, run, command.store.path, environment);
  } else {
    run = runtime.converse(image, beginning.agent, std::move(beginning.options), local.make_name());
  }
  const int code = converse(runtime, run, environment);
  local.end_trace();
  return code;
}

}  // namespace tenon::cli
