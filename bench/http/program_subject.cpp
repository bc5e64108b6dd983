// Whole programs: compiled, run by the runtime, their prompts rendered and their answers parsed.
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/file_system.h"
#include "bench/http/subject.h"
#include "bytecode/compile.h"
#include "inference/openai_http/openai_model.h"
#include "runtime/runtime.h"
#include "types/check.h"

namespace tenon::bench {
namespace {

constexpr std::string_view program_text = R"tn(
struct Out { ok: Boolean }

fn ask(ctx: Context) -> Out { "Is the following statement true? Water is wet."! }

fn sequence(ctx: Context, count: i32) -> i32 {
    let right = 0
    for _ in 0..count { if ask(ctx).ok { right += 1 } }
    right
}

fn round(ctx: Context) -> Out { "What is next?"! }

fn tool_loop(ctx: Context, count: i32) -> i32 {
    "Is the following statement true? Water is wet."!
    let right = 0
    for number in 0..count {
        if round(ctx).ok { right += 1 }
        "add({\"a\":{{ number }},\"b\":1})"!
        "The result is {{ number + 1 }}."!
    }
    right
}
)tn";

class OneFile final : public FileSystem {
 public:
  Result<std::string, FileError> read_file(const std::string&, std::size_t) override { return std::string(program_text); }
};

class ProgramSubject final : public Subject {
 public:
  explicit ProgramSubject(const std::string& base_url) {
    OneFile files;
    types::Checked checked = types::check("bench.tn", files, types::Strictness::Relaxed);
    if (checked.diagnostics.has_errors()) stop("the program does not compile");
    auto loaded = vm::LoadedProgram::load(std::make_shared<const bytecode::Program>(bytecode::compile(checked.program, checked.diagnostics)));
    if (!loaded) stop(loaded.error().message);
    program_ = *loaded;
    prompts_ = std::make_unique<inference::prompting::SitePrompts>(program_->program(), inference::prompting::PromptTemplates::builtin("slides"));
    inference::OpenAiOptions options;
    options.base_url = base_url;
    options.api_key = inference::Secret{"bench"};
    options.model = "mock";
    auto model = inference::OpenAiModel::open(std::move(options), {.random_unit = [] { return 0.5; },
                                                                   .wall_clock = [] { return std::chrono::system_clock::now(); }});
    if (!model) stop(model.error().message);
    model_ = std::move(*model);
  }

  void run_sequence(std::size_t count, const StartWatch& start_watch) override { measure("sequence", 1, count, start_watch); }
  void run_loop(std::size_t rounds, const StartWatch& start_watch) override { measure("tool_loop", 1, rounds, start_watch); }
  void run_many(std::size_t agents, std::size_t calls, const StartWatch& start_watch) override {
    measure("sequence", agents, calls, start_watch);
  }

 private:
  void measure(std::string_view function, std::size_t runs, std::size_t calls, const StartWatch& start_watch) {
    run(function, 1, 1);
    start_watch();
    if (calls > 0) run(function, runs, calls);
  }

  void run(std::string_view function, std::size_t runs, std::size_t calls) {
    runtime::RuntimeOptions options;
    options.budgets.model_calls_max = calls;
    runtime::Runtime runtime(program_, *prompts_, {*model_, nullptr, nullptr, clock_, nullptr}, options);
    std::uint32_t index = 0;
    while (program_->program().functions[index].name != function) ++index;
    for (std::size_t at = 0; at < runs; ++at) {
      runtime.start(index, {{vm::Value::empty_context(), std::nullopt}, {vm::Value::integer(static_cast<std::int64_t>(calls)), std::nullopt}});
    }
    runtime.run();
    for (std::uint32_t at = 0; at < runs; ++at) {
      const auto& end = runtime.end(runtime::RunId{at});
      if (const auto* failed = std::get_if<runtime::RunFailed>(&*end)) stop(failed->report.message);
      const auto* value = std::get_if<vm::Value>(&*end);
      if (value == nullptr || value->as_integer() != static_cast<std::int64_t>(calls)) stop("a wrong result");
    }
  }

  RealClock clock_;
  std::shared_ptr<const vm::LoadedProgram> program_;
  std::unique_ptr<inference::prompting::SitePrompts> prompts_;
  std::unique_ptr<inference::Model> model_;
};

}  // namespace

std::unique_ptr<Subject> make_program_subject(const std::string& base_url) { return std::make_unique<ProgramSubject>(base_url); }

}  // namespace tenon::bench
