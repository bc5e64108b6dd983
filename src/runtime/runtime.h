#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "inference/answers/value_reader.h"
#include "inference/model.h"
#include "inference/prompting/answer_dialogue.h"
#include "inference/prompting/site_prompts.h"
#include "runtime/events.h"
#include "tools/extern_caller.h"
#include "tools/native/extern_table.h"
#include "vm/machine.h"

namespace tenon::runtime {

struct RuntimeOptions {
  vm::MachineOptions budgets;
  inference::Sampling sampling;
  std::uint32_t repairs_max = inference::prompting::default_repairs_max;
  std::chrono::milliseconds generation_timeout{120'000};
  /// What the values of all runs may take together, measured as the process's heap since the runtime was made, and
  /// looked at between slices. The run that stands at such a point fails.
  std::uint64_t memory_bytes_max = std::uint64_t{512} << 20U;
  /// Instructions that a run may execute before the others get their turn.
  std::uint64_t slice_instructions = 500'000;
};

/// What a runtime works with; all of it outlives the runtime.
struct World {
  inference::Model& model;
  /// The program's externs, bound, and what calls them; both or none. Without them calls of externs fail.
  std::shared_ptr<const tools::ExternTable> extern_table;
  tools::ExternCaller* extern_caller = nullptr;
  Clock& clock;
  Listener* listener = nullptr;  ///< none: nobody is told
};

/// Runs of one program on one thread: thousands at once, each waiting for its model and its externs while the others go
/// on.
class Runtime final : private inference::GenerationSink, private tools::ExternSink {
 public:
  Runtime(std::shared_ptr<const vm::LoadedProgram> program, const inference::prompting::SitePrompts& prompts,
          World world, RuntimeOptions options);
  ~Runtime() override;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Arguments as the function's parameters want them.
  RunId start(std::uint32_t function, std::vector<vm::Argument> arguments);
  /// Goes on until every run has ended. `stop`, when given, is looked at between steps: once it is set, what is under
  /// way is cancelled and the runs that have not ended are left as they are.
  void run(const std::atomic<bool>* stop = nullptr);

  /// Nothing while the run goes on.
  [[nodiscard]] const std::optional<RunEnd>& end(RunId run) const { return runs_[run.index].end; }
  [[nodiscard]] const vm::Machine& machine(RunId run) const { return *runs_[run.index].machine; }
  [[nodiscard]] std::size_t effects_under_way() const { return generations_.size() + calls_.size(); }

 private:
  struct Run {
    std::unique_ptr<vm::Machine> machine;
    std::optional<RunEnd> end;
    bool is_queued = false;
  };
  struct Generation {
    RunId run;
    vm::Request request;
    inference::prompting::AnswerDialogue dialogue;
    vm::Usage usage;
  };
  struct ExternCall {
    RunId run;
    vm::Request request;
    std::chrono::nanoseconds started{};
  };

  void step(RunId run);
  void perform(RunId run, vm::Request request);
  void ask_model(inference::GenerationId id);
  void resume(RunId run, vm::RequestId request, vm::Outcome outcome);
  void enqueue(RunId run);
  void end_run(RunId run, RunEnd end);
  [[nodiscard]] bool is_memory_spent() const;
  void cancel_request(RunId run, vm::RequestId request);
  void cancel_all();
  EffectPlace place_of(RunId run, const vm::Request& request) const;

  void on_text(inference::GenerationId generation, std::uint32_t attempt, std::string_view piece) override;
  void on_finished(inference::GenerationId generation, inference::GenerationOutcome outcome) override;
  void on_returned(tools::CallId call, tools::ExternOutcome outcome) override;

  std::shared_ptr<const vm::LoadedProgram> program_;
  const inference::prompting::SitePrompts& prompts_;
  inference::answers::ValueReader reader_;
  World world_;
  RuntimeOptions options_;
  std::vector<Run> runs_;
  std::deque<RunId> ready_;
  std::unordered_map<inference::GenerationId, Generation> generations_;
  std::unordered_map<tools::CallId, ExternCall> calls_;
  std::uint64_t next_effect_ = 1;
  std::uint64_t heap_bytes_at_start_ = 0;
};

/// For people: `error: …` lines with the place, the call stack and what to do. Files as paths.
[[nodiscard]] std::string describe_failure(const vm::LoadedProgram& program, const vm::FailureReport& report);

}  // namespace tenon::runtime
