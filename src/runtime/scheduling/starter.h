#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/effects/released_timers.h"
#include "runtime/recovery/loaded_run.h"
#include "runtime/recovery/recovery.h"
#include "runtime/runtime_options.h"
#include "runtime/scheduling/scheduler.h"

namespace tenon::runtime {

/// Begins runs and conversations, and resumes those of the store.
class Starter {
 public:
  /// All outlive this.
  Starter(RunTable& runs, Recorder& recorder, RunSecrets& secrets, Requests& requests, Questions& questions,
          ReleasedTimers& released_timers, Scheduler& scheduler, CommitGate& gate,
          const RuntimeDependencies& dependencies, const RuntimeOptions& options)
      : runs_(runs),
        recorder_(recorder),
        secrets_(secrets),
        requests_(requests),
        questions_(questions),
        released_timers_(released_timers),
        scheduler_(scheduler),
        gate_(gate),
        dependencies_(dependencies),
        options_(options) {}

  // As those of Runtime.
  RunId start(std::shared_ptr<const ProgramImage> image, std::uint32_t function, std::vector<vm::Argument> arguments,
              RunOptions options, std::optional<journal::RunName> name);
  RunId start_conversation(std::shared_ptr<const ProgramImage> image, std::uint32_t agent, RunOptions options,
                           std::optional<journal::RunName> name);
  [[nodiscard]] Result<RunId, RecoveryError> resume(const journal::RunName& name, const ImageSource& images,
                                                    SameModel same);
  [[nodiscard]] Result<RunId, RecoveryError> resume(LoadedRun& loaded, const ImageSource& images);
  [[nodiscard]] Result<void, PromptRefusal> prompt(RunId run, std::string_view input);
  [[nodiscard]] Result<void, PromptRefusal> upgrade_program(RunId run, std::shared_ptr<const ProgramImage> image,
                                                            std::vector<std::string> libraries);

 private:
  [[nodiscard]] RunJournal make_journal(std::optional<journal::RunName> name) const;
  void notify_started(RunId run, bool is_resumed) const;
  [[nodiscard]] RunId add_recovered(const LoadedRun& loaded, RecoveredRun& recovered);
  void continue_requests(RunId run);
  void refresh_summary(RunId run, const journal::RunSummary& stored);

  RunTable& runs_;
  Recorder& recorder_;
  RunSecrets& secrets_;
  Requests& requests_;
  Questions& questions_;
  ReleasedTimers& released_timers_;
  Scheduler& scheduler_;
  CommitGate& gate_;
  const RuntimeDependencies& dependencies_;
  const RuntimeOptions& options_;
};

}  // namespace tenon::runtime
