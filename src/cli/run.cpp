#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/extern_binding.h"
#include "cli/given_value.h"
#include "cli/local_runtime.h"
#include "cli/manifest_file.h"
#include "cli/model_choice.h"
#include "cli/program_file.h"
#include "cli/run_report.h"
#include "cli/run_setup.h"
#include "cli/secret_key.h"
#include "cli/stopping.h"
#include "cli/store_file.h"
#include "diagnostics/nearest.h"
#include "diagnostics/render.h"
#include "project/manifest.h"

namespace tenon::cli {
namespace {

/// A program contains only those instances of a generic function that it calls.
bool is_generic(const std::string& file, const std::string& name, const Environment& environment) {
  const types::Checked checked = types::check(file, environment.files, types::Strictness::Relaxed);
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
  std::vector<std::string_view> names;
  for (const bytecode::Function& function : program.functions) names.push_back(function.name);
  std::string message = fmt::format("cannot find function `{}` in the program", name);
  if (const auto nearest = diagnostics::find_nearest(name, names))
    message += fmt::format("; did you mean `{}`?", *nearest);
  if (name == "main") message += "; choose a function with `--fn NAME`";
  return message;
}

/// Why an argument of the command line belongs to no parameter.
std::string unused_argument(const types::TypeTable& table, const bytecode::Function& function,
                            const std::string& name) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < function.parameters.size(); ++at) {
    const bool is_context = table.base(function.parameters[at]) == types::TypeTable::context;
    if (is_context && function.parameter_names[at] == name) {
      return fmt::format("`--arg {}` cannot be given: `{}` gets a new, empty Context", name, function.name);
    }
    if (!is_context) names.push_back(function.parameter_names[at]);
  }
  std::string message = fmt::format("`{}` has no parameter `{}`", function.name, name);
  if (const auto nearest = diagnostics::find_nearest(name, names))
    message += fmt::format("; did you mean `{}`?", *nearest);
  return message;
}

/// The arguments in the order of the parameters. Returns nothing after printing what is wrong.
std::optional<std::vector<vm::Argument>> read_arguments(const RunCommand& command, const vm::LoadedProgram& program,
                                                        const bytecode::Function& function,
                                                        const Environment& environment) {
  const inference::answers::ValueReader reader(program.types());
  std::vector<vm::Argument> arguments;
  bool fits = true;
  std::vector<bool> used(command.arguments.size(), false);
  for (std::size_t at = 0; at < function.parameters.size(); ++at) {
    const std::string& name = function.parameter_names[at];
    const types::TypeId type = function.parameters[at];
    if (program.types().base(type) == types::TypeTable::context) {
      arguments.push_back({vm::Value::empty_context(), std::nullopt});
      continue;
    }
    const auto given = std::find_if(command.arguments.begin(), command.arguments.end(),
                                    [&](const auto& pair) { return pair.first == name; });
    if (given == command.arguments.end()) {
      const std::string expected = program.types().describe(type);
      fail(fmt::format("missing argument of `{}`: add `--arg {}=…` ({})", function.name, name, expected), environment);
      fits = false;
      continue;
    }
    used[static_cast<std::size_t>(given - command.arguments.begin())] = true;
    auto value = reader.read_argument(type, given->second);
    if (!value) {
      for (const auto& mismatch : value.error()) {
        fail(fmt::format("invalid value for `--arg {}`: {}", name, inference::answers::describe(mismatch, "the value")),
             environment);
      }
      fits = false;
      continue;
    }
    arguments.push_back({std::move(*value), vm::Source{vm::SourceKind::Argument, name}});
  }
  for (std::size_t at = 0; at < used.size(); ++at) {
    if (used[at]) continue;
    fail(unused_argument(program.types(), function, command.arguments[at].first), environment);
    fits = false;
  }
  if (!fits) return std::nullopt;
  return arguments;
}

/// Time limit of the `finally` blocks of an interrupted run. A second Ctrl-C ends the process at once.
constexpr std::chrono::seconds cleanup_max{10};

void clean_up(runtime::Runtime& runtime, runtime::RunId run, Clock& clock) {
  constexpr std::chrono::milliseconds wait{20};
  const auto deadline = clock.monotonic() + cleanup_max;
  runtime.cancel(run, "interrupted");
  while (!runtime.end(run) && clock.monotonic() < deadline) {
    if (!runtime.poll(wait)) clock.wait(wait);
  }
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
    std::string value = environment.variable(variable.c_str());
    if (value.empty()) {
      return fail(fmt::format("`--arg-env {}`: the environment variable {} is not set or empty", name, variable),
                  environment, exit_usage);
    }
    command.arguments.emplace_back(name, std::move(value));
  }
  return std::nullopt;
}

}  // namespace

int run(const RunCommand& given, const Environment& environment) {
  RunCommand command = given;
  if (const auto code = read_given_arguments(command, environment)) return *code;
  const auto manifest = read_manifest(command.file, environment);
  if (!manifest) return exit_failed;
  if (*manifest) apply_manifest(**manifest, command);
  if (command.model.spec.empty()) command.model.spec = "builtin";
  if (command.prompts.empty()) command.prompts = "default";
  const auto program = load_program(command.file, environment);
  if (!program) return exit_failed;
  const auto index = runtime::find_function(program->program(), command.function);
  if (!index) {
    return fail(unknown_function(program->program(), command.function, command.file, environment), environment,
                exit_usage);
  }
  const bytecode::Function& function = program->program().functions[*index];
  auto arguments = read_arguments(command, *program, function, environment);
  if (!arguments) return exit_usage;
  auto templates = load_prompt_templates(command.prompts, environment);
  if (!templates) return exit_usage;
  const auto externs = bind_or_report(command.externs, *manifest, *program, environment);
  if (!externs) return exit_failed;
  const auto image = std::make_shared<const runtime::ProgramImage>(program, std::move(*templates), externs);
  auto trace = Trace::open({command.trace, command.show_prompts}, *program, environment);
  if (!trace) return fail(trace.error(), environment);
  auto model = open_model(command.model, watched_by(environment, program->program()), environment);
  if (!model) return model.error();
  std::unique_ptr<journal::StoreConnection> store;
  if (!command.store.path.empty()) {
    store = open_store(command.store, StoreUse::Change, environment);
    if (!store) return exit_failed;
  }
  auto telemetry = Telemetry::open(command.model.spec, environment);
  if (!telemetry) return exit_usage;
  LocalRuntime local({.model = std::move(*model),
                      .store = std::move(store),
                      .store_path = command.store.path,
                      .reports = reports_folder(command.store.reports, command.store.path, environment),
                      .trace = std::move(*trace),
                      .telemetry = std::move(telemetry),
                      .threads = *manifest ? (*manifest)->threads : std::nullopt},
                     environment);
  if (!prepare_secrets(*image, local.secrets(), environment)) return exit_failed;
  runtime::Runtime& runtime = local.runtime();
  const runtime::RunId id =
      runtime.start(image, *index, std::move(*arguments), run_options(command, *manifest), local.make_name());
  const std::chrono::seconds grace(command.grace_seconds);
  const bool is_recorded = !command.store.path.empty();
  run_until_stopped(
      runtime, grace, [&] { return is_recorded ? grace : std::chrono::seconds{0}; }, environment);
  // A run that is recorded is left to `tenon resume`.
  if (environment.interrupted->load() && !is_recorded) clean_up(runtime, id, environment.clock);
  local.end_trace();
  return report_run(runtime, id, command.store.path, environment);
}

}  // namespace tenon::cli
