#pragma once

#include <memory>
#include <string>

#include "base/descriptor.h"
#include "base/result.h"
#include "cli/environment.h"
#include "runtime/events.h"
#include "vm/loaded_program.h"

namespace tenon::cli {

struct TraceChoice {
  std::string file;  ///< of `--trace`; empty: none
  bool show_prompts = false;
  bool show_emitted = false;  ///< the texts of `emit`
};

/// Shows and records what a run does: `--trace` (one JSON object per line, see docs/guides/trace.md), `--show-prompts`,
/// the texts of `emit` and, on a terminal, the progress of long answers.
class Trace final : public runtime::Listener {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Trace>, std::string> open(const TraceChoice& choice,
                                                                        const vm::LoadedProgram& program,
                                                                        const Environment& environment);

  /// Removes the progress line from the terminal.
  void end();

  [[nodiscard]] runtime::ReadRecords reads_records() const override {
    if (file_.is_open()) return runtime::ReadRecords::All;
    return shows_emitted_ ? runtime::ReadRecords::Emitted : runtime::ReadRecords::None;
  }
  void on_recorded(const runtime::RecordBatch& batch) override;
  void on_generation_started(const runtime::SentGeneration& generation) override;
  void on_text(runtime::RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
               std::string_view piece) override;
  void on_generation_finished(runtime::RunId run, std::string_view key, std::uint32_t attempt,
                              const inference::GenerationOutcome& outcome) override;
  void on_extern_called(const runtime::StartedCall& call) override;
  void on_extern_returned(const runtime::EndedCall& call) override;
  void on_run_ended(runtime::RunId run, const runtime::EndedRun& ended) override;

 private:
  Trace(const vm::LoadedProgram& program, const Environment& environment)
      : program_(program), environment_(environment) {}
  void write_line(const std::string& line);
  void show_progress(std::size_t pieces);
  void write_program_event(runtime::RunId run, const runtime::ProgramEvent& reported);
  void write_refusal(runtime::RunId run, const effects::FlowRefused& refused);
  void write_unavailable(runtime::RunId run, const effects::Attempted& attempted);

  const vm::LoadedProgram& program_;
  const Environment& environment_;
  Descriptor file_;
  std::string path_;
  bool shows_prompts_ = false;
  bool shows_emitted_ = false;
  std::uint64_t generation_ = 0;
  std::size_t pieces_ = 0;
  std::chrono::nanoseconds generation_start_{};
  std::chrono::nanoseconds progress_shown_{};
  bool has_progress_ = false;
};

}  // namespace tenon::cli
