// A program judges the entailments: stdlib/entailment.tn, which runs like any other, with repairs and typed answers.

#include "cli/plan_judging.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "base/ensure.h"
#include "cli/local_runtime.h"
#include "cli/model_choice.h"
#include "cli/program_file.h"
#include "cli/run_report.h"
#include "cli/run_setup.h"
#include "runtime/program_image.h"
#include "types/standard_library.h"
#include "vm/render.h"

namespace tenon::cli {
namespace {

constexpr std::string_view judging_module = "entailment";
constexpr std::string_view judging_function = "entail_each";
/// Questions in one call of the module's function.
constexpr std::size_t questions_per_call = 8;

/// A file system with one embedded file.
class LibraryFile final : public FileSystem {
 public:
  [[nodiscard]] Result<std::string, FileError> read_file(const std::string& path, std::size_t) override {
    const auto text = types::find_standard_module(judging_module);
    if (path != name() || !text) return failure(FileError{"No such file or directory", true, 0});
    return std::string(*text);
  }
  [[nodiscard]] static std::string name() { return fmt::format("std/{}.tn", judging_module); }
};

std::string questions_json(std::span<const types::EntailmentQuestion> questions) {
  nlohmann::json list = nlohmann::json::array();
  for (const types::EntailmentQuestion& question : questions) {
    list.push_back({{"of", question.type}, {"given", question.given}, {"wanted", question.wanted}});
  }
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Judged judge_entailments(const std::vector<types::EntailmentQuestion>& questions, const ModelChoice& choice,
                         bool show_prompts, const Environment& environment) {
  LibraryFile file;
  const Environment library{.files = file,
                            .clock = environment.clock,
                            .variable = environment.variable,
                            .variables = environment.variables,
                            .write_output = environment.write_output,
                            .write_error = environment.write_error,
                            .write_styled = environment.write_styled,
                            .read_input = environment.read_input,
                            .read_line = environment.read_line,
                            .random_unit = environment.random_unit};
  const auto program = load_program(LibraryFile::name(), library);
  ENSURE(program != nullptr);
  auto templates = load_prompt_templates("default", environment);
  if (!templates) return {{}, exit_usage};
  auto model = open_model(choice, Watched::No, environment);
  if (!model) return {{}, model.error()};
  auto trace = Trace::open({"", show_prompts}, *program, environment);
  if (!trace) return {{}, fail(trace.error(), environment)};
  const auto image = std::make_shared<const runtime::ProgramImage>(program, std::move(*templates), nullptr);
  const auto index = runtime::find_function(program->program(), judging_function);
  ENSURE(index.has_value());
  const bytecode::Function& function = program->program().functions[*index];

  LocalRuntime local({.model = std::move(*model), .store = nullptr, .trace = std::move(*trace)}, environment);
  RunCommand settings;
  settings.model = choice;
  settings.prompts = "default";
  runtime::Runtime& runtime = local.runtime();
  Judged judged;
  // One run per call, so that earlier verdicts are kept if a later call fails.
  for (std::size_t from = 0; from < questions.size(); from += questions_per_call) {
    const auto batch = std::span(questions).subspan(from, std::min(questions_per_call, questions.size() - from));
    auto argument = image->reader().read_argument(function.parameters[0], questions_json(batch));
    ENSURE(argument.has_value());
    std::vector<vm::Argument> arguments;
    arguments.push_back({std::move(*argument), std::nullopt});
    const runtime::RunId run = runtime.start(image, *index, std::move(arguments), run_options(settings, std::nullopt));
    runtime.run(environment.interrupted);
    const auto& end = runtime.end(run);
    const auto* const value = end ? std::get_if<vm::Value>(&*end) : nullptr;
    if (value == nullptr) {
      local.end_trace();
      judged.exit = report_run(runtime, run, "", environment);
      return judged;
    }
    std::string text;
    ENSURE(vm::to_json(*value, program->types(), text).has_value());
    const nlohmann::json answers = nlohmann::json::parse(text);
    ENSURE(answers.size() == batch.size());
    for (std::size_t at = 0; at < batch.size(); ++at) {
      judged.verdicts.push_back({batch[at], types::find_relation(answers[at].at("relation").get<std::string>()).value(),
                                 answers[at].at("reason").get<std::string>(), choice.spec});
    }
  }
  local.end_trace();
  return judged;
}

}  // namespace tenon::cli
