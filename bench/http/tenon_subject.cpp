#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "bench/http/subject.h"
#include "inference/openai_http/openai_model.h"
#include "runtime/runtime.h"

namespace tenon::bench {
namespace {

/// The functions of calls.tn, run by the runtime in this process.
class TenonSubject final : public Subject {
 public:
  TenonSubject(const std::string& base_url, const std::string& program_path)
      : program_(load_program(program_path)),
        image_(std::make_shared<const runtime::ProgramImage>(program_, inference::prompting::PromptTemplates::builtin(),
                                                             nullptr)),
        model_(open_bench_model(base_url)) {}

  void run_sequence(std::size_t count, const StartWatch& start_watch) override {
    run_all("once", 1, {});
    start_watch();
    run_all("sequence", 1, count);
  }

  void run_loop(std::size_t rounds, const StartWatch& start_watch) override {
    run_all("once", 1, {});
    start_watch();
    run_all("tool_loop", 1, rounds);
  }

  void run_many(std::size_t agents, std::size_t calls, const StartWatch& start_watch) override {
    run_all("once", 1, {});
    start_watch();
    run_all("sequence", agents, calls);
  }

 private:
  /// Starts `runs` runs of a function at once; exits if one of them does not return `true`.
  void run_all(std::string_view name, std::size_t runs, std::optional<std::size_t> argument) {
    const auto& functions = program_->program().functions;
    const auto function = std::find_if(functions.begin(), functions.end(),
                                       [&](const bytecode::Function& candidate) { return candidate.name == name; });
    if (function == functions.end()) stop("the program has no function " + std::string(name));
    runtime::Runtime runtime({.model = *model_, .clock = clock_}, {});
    std::vector<runtime::RunId> ids;
    for (std::size_t i = 0; i < runs; ++i) {
      std::vector<vm::Argument> arguments = {{vm::Value::empty_context(), std::nullopt}};
      if (argument) {
        auto value = image_->reader().read_argument(function->parameters[1], std::to_string(*argument));
        if (!value) stop("the argument is not of its parameter's type");
        arguments.push_back({std::move(*value), std::nullopt});
      }
      ids.push_back(
          runtime.start(image_, static_cast<std::uint32_t>(function - functions.begin()), std::move(arguments), {}));
    }
    runtime.run();
    for (const runtime::RunId id : ids) {
      const auto& end = runtime.end(id);
      if (const auto* failed = end ? std::get_if<runtime::RunFailed>(&*end) : nullptr) {
        stop(runtime::describe_failure(*program_, failed->report));
      }
      const auto* value = end ? std::get_if<vm::Value>(&*end) : nullptr;
      if (value == nullptr || !value->as_boolean()) stop("a run did not end with true");
    }
  }

  RealClock clock_;
  std::shared_ptr<const vm::LoadedProgram> program_;
  std::shared_ptr<const runtime::ProgramImage> image_;
  std::unique_ptr<inference::Model> model_;
};

}  // namespace

std::unique_ptr<Subject> make_tenon_subject(const std::string& base_url, const std::string& program_path) {
  return std::make_unique<TenonSubject>(base_url, program_path);
}

}  // namespace tenon::bench
