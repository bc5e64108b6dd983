// A program judges the entailments: stdlib/entailment.tn, which runs like any other, with repairs and typed answers.

#include "cli/plan_judging.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/ensure.h"
#include "cli/engine_report.h"
#include "cli/run_report.h"
#include "cli/terminal_engine.h"
#include "engine/program.h"
#include "json/reader.h"
#include "runtime/program_image.h"
#include "types/standard_library.h"
#include "vm/values/render.h"

namespace tenon::cli {
namespace {

constexpr std::string_view judging_module = "entailment";
constexpr std::string_view judging_function = "entail_each";
/// Questions in one call of the module's function.
constexpr std::size_t questions_per_call = 8;

std::string questions_json(std::span<const types::EntailmentQuestion> questions) {
  Json list = Json::array();
  for (const types::EntailmentQuestion& question : questions) {
    list.push_back(Json::object({{"definitions", Json::array_of(question.definitions)},
                                 {"given", Json::array_of(question.given)},
                                 {"of", question.type},
                                 {"wanted", question.wanted}}));
  }
  return list.dump();
}

}  // namespace

Judged judge_entailments(const std::vector<types::EntailmentQuestion>& questions, const ModelChoice& choice,
                         bool show_prompts, const Environment& environment) {
  const engine::System& system = environment.system;
  const auto source = types::find_standard_module(judging_module);
  ENSURE(source.has_value());
  const auto compiled = engine::compile({fmt::format("std/{}.tn", judging_module), std::string(*source)}, system);
  ENSURE(compiled.has_value());
  auto trace = Trace::open({"", show_prompts}, *compiled->loaded, environment);
  if (!trace) return {{}, fail(trace.error(), environment)};
  engine::Program program;
  program.settings.model = choice;
  engine::complete(program.settings, std::nullopt);
  program.image = engine::make_image(compiled->loaded, inference::prompting::PromptTemplates::builtin());
  program.options = engine::run_options(program.settings, std::nullopt);
  const auto index = runtime::find_function(program.code(), judging_function);
  ENSURE(index.has_value());
  const bytecode::Function& function = program.code().functions[*index];

  engine::EngineOptions options;
  options.model_choice = choice;
  options.spans = engine::SpanExport::Off;
  auto local = TerminalEngine::open(std::move(options), std::move(*trace), ShownAnswers::WhenWhole, environment);
  if (!local) return {{}, report(local.error(), environment)};
  runtime::Runtime& runtime = (*local)->runtime();
  Judged judged;
  // One run per call, so that earlier verdicts are kept if a later call fails.
  for (std::size_t from = 0; from < questions.size(); from += questions_per_call) {
    const auto batch = std::span(questions).subspan(from, std::min(questions_per_call, questions.size() - from));
    auto argument = program.image->reader().read_argument(function.parameters[0], questions_json(batch));
    ENSURE(argument.has_value());
    std::vector<vm::Argument> arguments;
    arguments.push_back({std::move(*argument), std::nullopt});
    const auto run = (*local)->engine().start(program, *index, std::move(arguments));
    ENSURE(run.has_value());
    runtime.run(environment.interrupted);
    const auto& end = runtime.end(*run);
    const auto* const value = end ? std::get_if<vm::Value>(&*end) : nullptr;
    if (value == nullptr) {
      (*local)->end_trace();
      judged.exit = report_run(runtime, *run, "", environment);
      return judged;
    }
    std::string text;
    ENSURE(vm::to_json(*value, program.code().types, text).has_value());
    const Json::Array answers = parse_own_json(text).items_or_none();
    ENSURE(answers.size() == batch.size());
    for (std::size_t at = 0; at < batch.size(); ++at) {
      judged.verdicts.push_back({batch[at], types::find_relation(answers[at].get("relation").as_string()).value(),
                                 answers[at].get("reason").as_string(), choice.spec});
    }
  }
  (*local)->end_trace();
  return judged;
}

}  // namespace tenon::cli
