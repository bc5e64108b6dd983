#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "cli/extern_binding.h"
#include "cli/model_choice.h"
#include "cli/program_file.h"
#include "cli/trace.h"
#include "diagnostics/render.h"
#include "inference/prompting/site_prompts.h"
#include "runtime/runtime.h"
#include "tools/manifest.h"
#include "tools/native/native_caller.h"
#include "types/suggest.h"
#include "vm/render.h"

namespace tenon::cli {
namespace {

/// Of the entry file first: other modules may have functions of the same name.
std::optional<std::uint32_t> find_function(const bytecode::Program& program, const std::string& name) {
  std::optional<std::uint32_t> found;
  for (std::uint32_t at = 0; at < program.functions.size(); ++at) {
    const bytecode::Function& function = program.functions[at];
    const bool is_test =
        std::any_of(program.tests.begin(), program.tests.end(), [&](const auto& test) { return test.function == at; });
    if (function.name != name || is_test) continue;
    if (function.place.file == 0) return at;
    if (!found) found = at;
  }
  return found;
}

std::string unknown_function(const bytecode::Program& program, const std::string& name) {
  std::vector<std::string_view> names;
  for (const bytecode::Function& function : program.functions) names.push_back(function.name);
  std::string message = fmt::format("the program has no function `{}`", name);
  if (const auto nearest = types::find_nearest(name, names)) message += fmt::format("; did you mean `{}`?", *nearest);
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
  if (const auto nearest = types::find_nearest(name, names)) message += fmt::format("; did you mean `{}`?", *nearest);
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

void print_problems(const std::vector<tools::ExternProblem>& problems, const vm::LoadedProgram& program,
                    const Environment& environment) {
  const auto colour = environment.error_is_terminal ? diagnostics::Colour::On : diagnostics::Colour::Off;
  for (const tools::ExternProblem& problem : problems) {
    const std::string place = problem.place ? program.describe(*problem.place) : "tenon";
    environment.write_error(place + ": " + diagnostics::render(problem, {}, colour));
  }
}

std::optional<std::string> shown_result(const vm::Value& value, types::TypeId type, const types::TypeTable& table) {
  const types::TypeId base = table.base(type);
  if (base == types::TypeTable::unit) return std::nullopt;
  if (value.tag() == vm::Tag::String) return std::string(value.as_text()) + "\n";
  std::string json;
  if (const auto written = vm::to_json(value, table, json); !written) return "…\n";
  return json + "\n";
}

/// The project's tenon.toml; nothing when it cannot be understood, which is printed.
std::optional<std::optional<tools::Manifest>> read_manifest(const std::string& program_path,
                                                            const Environment& environment) {
  const std::string absolute = std::filesystem::absolute(program_path).lexically_normal().string();
  auto manifest = tools::find_manifest(environment.files, absolute);
  if (manifest) return std::move(*manifest);
  for (const tools::ManifestProblem& problem : manifest.error().problems) {
    environment.write_error(
        fmt::format("{}:{}:{}: error: {}\n", manifest.error().path, problem.line, problem.column, problem.message));
    for (const std::string& hint : problem.hints) environment.write_error(fmt::format("  = hint: {}\n", hint));
  }
  return std::nullopt;
}

/// What the command line does not say, the manifest does.
void apply_manifest(const tools::Manifest& manifest, RunCommand& command) {
  if (command.model.spec.empty()) command.model.spec = manifest.model.value_or("");
  command.model.request_fields = manifest.request_fields;
  if (command.prompts.empty()) command.prompts = manifest.wording.value_or("");
  const auto fill = [](std::optional<std::uint64_t>& bound, const std::optional<std::uint64_t>& other) {
    if (!bound) bound = other;
  };
  fill(command.budgets.calls, manifest.budget.model_calls);
  fill(command.budgets.tokens, manifest.budget.tokens);
  fill(command.budgets.instructions, manifest.budget.instructions);
  fill(command.budgets.depth, manifest.budget.depth);
  fill(command.budgets.milliseconds, manifest.budget.milliseconds);
  fill(command.budgets.cost_millionths, manifest.budget.cost_millionths);
}

}  // namespace

int run(const RunCommand& given, const Environment& environment) {
  RunCommand command = given;
  const auto manifest = read_manifest(command.file, environment);
  if (!manifest) return exit_usage;
  if (*manifest) apply_manifest(**manifest, command);
  if (command.model.spec.empty()) command.model.spec = "builtin";
  if (command.prompts.empty()) command.prompts = "default";
  const auto program = load_program(command.file, environment);
  if (!program) return exit_failed;
  const auto index = find_function(program->program(), command.function);
  if (!index) {
    environment.write_error(fmt::format("tenon: {}\n", unknown_function(program->program(), command.function)));
    return exit_usage;
  }
  const bytecode::Function& function = program->program().functions[*index];
  auto arguments = read_arguments(command, *program, function, environment);
  if (!arguments) return exit_usage;
  auto templates = inference::prompting::PromptTemplates::load(command.prompts, environment.files);
  if (!templates) {
    environment.write_error(
        fmt::format("tenon: {}:{}: {}\n", templates.error().file, templates.error().line, templates.error().message));
    return exit_usage;
  }
  const inference::prompting::SitePrompts prompts(program->program(), std::move(*templates));
  const auto externs = bind_externs(command.externs, *manifest, program->shared_program());
  if (!externs) {
    print_problems(externs.error(), *program, environment);
    return exit_failed;
  }
  auto trace = Trace::open(command, *program, environment);
  if (!trace) {
    environment.write_error(fmt::format("tenon: {}\n", trace.error()));
    return exit_failed;
  }
  auto model = open_model(command.model, environment.error_is_terminal ? Watched::Yes : Watched::No, environment);
  if (!model) {
    environment.write_error(fmt::format("tenon: {}\n", model.error().message));
    return model.error().is_usage ? exit_usage : exit_failed;
  }
  runtime::RuntimeOptions options;
  options.repairs_max = command.repairs;
  options.sampling = {command.model.temperature, command.model.seed, command.model.tokens_max};
  options.generation_timeout = std::chrono::milliseconds(command.model.timeout_ms);
  const Budgets& budgets = command.budgets;
  if (budgets.calls) options.budgets.model_calls_max = budgets.calls;
  if (budgets.instructions) options.budgets.instructions_max = budgets.instructions;
  if (budgets.depth) options.budgets.depth_max = budgets.depth;
  options.budgets.tokens_max = budgets.tokens;
  options.budgets.milliseconds_max = budgets.milliseconds;
  options.budgets.cost_millionths_max = budgets.cost_millionths;

  inference::Model& asked = **model;
  tools::NativeCallerOptions calling;
  calling.notify = [&asked] { asked.wake(); };
  if (*manifest && (*manifest)->threads) calling.threads = *(*manifest)->threads;
  tools::NativeCaller caller(std::move(calling));
  runtime::Runtime runtime(program, prompts, {asked, *externs, &caller, environment.clock, trace->get()}, options);
  const runtime::RunId id = runtime.start(*index, std::move(*arguments));
  runtime.run(environment.interrupted);
  (*trace)->end();
  const std::optional<runtime::RunEnd>& end = runtime.end(id);
  if (!end) {
    environment.write_error("\ntenon: interrupted\n");
    return exit_failed;
  }
  if (const auto* failed = std::get_if<runtime::RunFailed>(&*end)) {
    environment.write_error(runtime::describe_failure(*program, failed->report));
    return exit_failed;
  }
  if (const auto* damaged = std::get_if<runtime::RunDamaged>(&*end)) {
    environment.write_error(
        fmt::format("{}: the program did what no compiled program does, which is a fault of Tenon: {}\n",
                    damaged->place, damaged->message));
    return exit_failed;
  }
  if (const auto shown = shown_result(std::get<vm::Value>(*end), function.result, program->types()))
    environment.write_output(*shown);
  return exit_done;
}

}  // namespace tenon::cli
