#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/listeners.h"

namespace tenon::library {

/// The prompts of a run that are kept: the newest ones, and so many bytes of them.
inline constexpr std::size_t prompts_kept_max = 1'000;
inline constexpr std::size_t prompt_bytes_kept_max = std::size_t{16} << 20U;

/// Keeps what the models of some runs were sent and have answered. Used by the thread that has the engine.
class PromptLog final : public runtime::Listener {
 public:
  void watch(runtime::RunId run) { runs_[run.index]; }
  /// A JSON list (tenon_run_prompts); nothing was kept of a run that is not watched.
  [[nodiscard]] std::string list(runtime::RunId run) const;

  [[nodiscard]] runtime::ReadRecords reads_records() const override { return runtime::ReadRecords::None; }
  void on_run_released(runtime::RunId run) override { runs_.erase(run.index); }
  void on_generation_started(const runtime::SentGeneration& generation) override;
  void on_generation_finished(runtime::RunId run, std::string_view key, std::uint32_t attempt,
                              const inference::GenerationOutcome& outcome) override;

 private:
  struct Prompt {
    std::string key;
    std::uint32_t attempt = 0;
    std::string sent;      ///< the members of an object, without its braces
    std::string answered;  ///< more members; empty while there is no answer
  };
  struct Kept {
    std::deque<Prompt> prompts;
    std::size_t bytes = 0;
  };

  std::unordered_map<std::uint32_t, Kept> runs_;  ///< by RunId::index
};

}  // namespace tenon::library
