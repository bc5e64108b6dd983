#pragma once

#include <utility>
#include <vector>

#include "runtime/events.h"

namespace tenon::runtime {

/// Notifies several listeners, in their order. A class that derives from it is notified before them, and may withhold
/// events from them. They outlive it.
class Listeners : public Listener {
 public:
  explicit Listeners(std::vector<Listener*> listeners) : listeners_(std::move(listeners)) {}

  [[nodiscard]] ReadRecords reads_records() const override;
  void on_run_started(RunId run, const RunIdentity& identity) override;
  void on_run_released(RunId run) override;
  void on_outcome_dropped(RunId run, std::string_view key) override;
  void on_recorded(const RecordBatch& batch) override;
  void on_generation_started(const SentGeneration& generation) override;
  void on_text(RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
               std::string_view piece) override;
  void on_generation_finished(RunId run, std::string_view key, std::uint32_t attempt,
                              const inference::GenerationOutcome& outcome) override;
  void on_extern_called(const StartedCall& call) override;
  void on_extern_returned(const EndedCall& call) override;
  void on_run_ended(RunId run, const EndedRun& ended) override;
  void on_stepped(RunId run) override;

 private:
  const std::vector<Listener*> listeners_;
};

}  // namespace tenon::runtime
