#include "bench/whole_programs.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/ensure.h"
#include "bench/load_program.h"
#include "bench/measuring.h"
#include "inference/scripted/scripted_model.h"
#include "journal/committer.h"
#include "journal/open_store.h"
#include "runtime/runtime.h"
#include "tools/native/native_caller.h"
#include "tools/native/native_library.h"

namespace tenon::bench {
namespace {

std::shared_ptr<const runtime::ProgramImage> load(const std::string& path) {
  const auto loaded = load_program(path);
  const std::vector<std::string> names = {"system:libc.so.6"};
  const auto libraries = tools::NativeLibraries::open(names);
  if (!libraries) stop("the C library cannot be opened");
  const auto externs = tools::ExternTable::bind(loaded->shared_program(), *libraries);
  if (!externs) stop("the C library has no `labs`");
  return std::make_shared<const runtime::ProgramImage>(loaded, inference::prompting::PromptTemplates::builtin(),
                                                       *externs);
}

/// Counts the outcomes that have become durable.
class StepCounter final : public runtime::Listener {
 public:
  void on_recorded(const runtime::RecordBatch& batch) override {
    for (const effects::Record& record : batch.records) steps += std::holds_alternative<effects::Finished>(record.body);
  }
  std::uint64_t steps = 0;
};

}  // namespace

nlohmann::ordered_json measure_whole_programs(const std::string& path, const WholeProgramOptions& options) {
  const auto image = load(options.program);
  auto opened = journal::open_store(
      path, {.durability = options.is_full ? journal::Durability::Full : journal::Durability::Process});
  if (!opened) stop(opened.error().message);
  inference::Script script;
  script.rules.emplace_back().answers.push_back({.text = "It is a number."});
  inference::ScriptedModel model(std::move(script));
  tools::NativeCaller caller;
  journal::ThreadCommitter committer((*opened)->journals(), [&] { caller.wake(); });
  RealClock clock;
  StepCounter counted;
  runtime::Runtime runtime({.model = model,
                            .extern_caller = &caller,
                            .clock = clock,
                            .listener = &counted,
                            .store = &(*opened)->journals(),
                            .committer = options.waits_for_commits ? nullptr : &committer},
                           {.memory_bytes_max = std::uint64_t{4} << 30U, .lone_call = tools::Placement::Pool});
  const auto function = runtime::find_function(image->program(), options.function);
  if (!function) stop("the program has no function " + options.function);
  const bytecode::Function& declared = image->program().functions[*function];
  runtime::RunOptions run_options;
  run_options.budgets.model_calls = std::nullopt;
  run_options.budgets.instructions = std::nullopt;
  const std::uint64_t steps_each = options.steps / options.runs;
  std::vector<runtime::RunId> runs;
  for (std::size_t at = 0; at < options.runs; ++at) {
    std::vector<vm::Argument> arguments;
    for (const types::TypeId type : declared.parameters) {
      if (type == types::TypeTable::context) {
        arguments.push_back({vm::Value::empty_context(), std::nullopt});
        continue;
      }
      auto value = image->reader().read_argument(type, std::to_string(steps_each));
      ENSURE(value.has_value());
      arguments.push_back({std::move(*value), std::nullopt});
    }
    runs.push_back(runtime.start(image, *function, std::move(arguments), run_options, journal::make_run_name(1)));
  }
  const double cpu_before = cpu_seconds();
  const auto begin = std::chrono::steady_clock::now();
  runtime.run();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double cpu = cpu_seconds() - cpu_before;
  for (const runtime::RunId run : runs) {
    const auto& end = runtime.end(run);
    if (!end) stop("a run has not ended");
    if (const auto* failed = std::get_if<runtime::RunFailed>(&*end)) {
      stop(runtime::describe_failure(*image->loaded(), failed->report));
    }
    if (!std::holds_alternative<vm::Value>(*end)) stop("a run has not returned");
  }
  ENSURE(counted.steps == steps_each * options.runs);
  const double rate = static_cast<double>(counted.steps) / seconds;
  std::printf("%-8s %5zu runs of `%s` at once: %8.0f steps/s over %llu steps, %.1f us of CPU a step%s\n",
              options.is_full ? "full" : "process", options.runs, options.function.c_str(), rate,
              static_cast<unsigned long long>(counted.steps), cpu * 1e6 / static_cast<double>(counted.steps),
              options.waits_for_commits ? ", waiting for each commit" : "");
  std::fflush(stdout);
  return {{"function", options.function},
          {"runs", options.runs},
          {"steps", counted.steps},
          {"steps_per_second", rate},
          {"waits_for_commits", options.waits_for_commits},
          {"cpu_us_per_step", cpu * 1e6 / static_cast<double>(counted.steps)}};
}

}  // namespace tenon::bench
