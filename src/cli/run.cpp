#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/extern_binding.h"
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

/// Of a generic function a program has only what is called of it.
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
    return fmt::format("`{}` is generic: name a function that calls it with types", name);
  }
  std::vector<std::string_view> names;
  for (const bytecode::Function& function : program.functions) names.push_back(function.name);
  std::string message = fmt::format("the program has no function `{}`", name);
  if (const auto nearest = diagnostics::find_nearest(name, names))
    message += fmt::format("; did you mean `{}`?", *nearest);
  if (name == "main") message += "; name another one with --fn";
  return message;
}

/// Why an argument that is given goes nowhere.
std::string unused_argument(const types::TypeTable& table, const bytecode::Function& function,
                            const std::string& name) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < function.parameters.size(); ++at) {
    const bool is_context = table.base(function.parameters[at]) == types::TypeTable::context;
    if (is_context && function.parameter_names[at] == name) {
      return fmt::format("--arg {}: `{}` gets a new, empty Context for `{}`, and none can be given", name,
                         function.name, name);
    }
    if (!is_context) names.push_back(function.parameter_names[at]);
  }
  std::string message = fmt::format("`{}` has no parameter `{}`", function.name, name);
  if (const auto nearest = diagnostics::find_nearest(name, names))
    message += fmt::format("; did you mean `{}`?", *nearest);
  return message;
}

/// The arguments in the order of the parameters; what is wrong goes to stderr.
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
      environment.write_error(
          fmt::format("tenon: `{}` needs --arg {}=… ({})\n", function.name, name, program.types().describe(type)));
      fits = false;
      continue;
    }
    used[static_cast<std::size_t>(given - command.arguments.begin())] = true;
    auto value = reader.read_argument(type, given->second);
    if (!value) {
      for (const auto& mismatch : value.error()) {
        environment.write_error(
            fmt::format("tenon: --arg {}: {}\n", name, inference::answers::describe(mismatch, "the value")));
      }
      fits = false;
      continue;
    }
    arguments.push_back({std::move(*value), vm::Source{vm::SourceKind::Argument, name}});
  }
  for (std::size_t at = 0; at < used.size(); ++at) {
    if (used[at]) continue;
    environment.write_error(
        fmt::format("tenon: {}\n", unused_argument(program.types(), function, command.arguments[at].first)));
    fits = false;
  }
  if (!fits) return std::nullopt;
  return arguments;
}

/// What an interrupted run may take at most for its `finally` blocks; a second Ctrl-C ends the process at once.
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

}  // namespace

int run(const RunCommand& given, const Environment& environment) {
  RunCommand command = given;
  for (const auto& [name, variable] : command.variables) {
    std::string value = environment.variable(variable.c_str());
    if (value.empty()) {
      environment.write_error(
          fmt::format("tenon: --arg-env {}: the variable {} is not set, or empty\n", name, variable));
      return exit_usage;
    }
    command.arguments.emplace_back(name, std::move(value));
  }
  const auto manifest = read_manifest(command.file, environment);
  if (!manifest) return exit_usage;
  if (*manifest) apply_manifest(**manifest, command);
  if (command.model.spec.empty()) command.model.spec = "builtin";
  if (command.prompts.empty()) command.prompts = "default";
  const auto program = load_program(command.file, environment);
  if (!program) return exit_failed;
  const auto index = runtime::find_function(program->program(), command.function);
  if (!index) {
    environment.write_error(
        fmt::format("tenon: {}\n", unknown_function(program->program(), command.function, command.file, environment)));
    return exit_usage;
  }
  const bytecode::Function& function = program->program().functions[*index];
  auto arguments = read_arguments(command, *program, function, environment);
  if (!arguments) return exit_usage;
  auto templates = load_prompt_templates(command.prompts, environment);
  if (!templates) return exit_usage;
  const auto externs = bind_or_tell(command.externs, *manifest, *program, environment);
  if (!externs) return exit_failed;
  const auto image = std::make_shared<const runtime::ProgramImage>(program, std::move(*templates), externs);
  auto trace = Trace::open({command.trace, command.show_prompts}, *program, environment);
  if (!trace) {
    environment.write_error(fmt::format("tenon: {}\n", trace.error()));
    return exit_failed;
  }
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
