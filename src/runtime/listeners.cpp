#include "runtime/listeners.h"

#include <algorithm>

namespace tenon::runtime {

ReadRecords Listeners::reads_records() const {
  ReadRecords most = ReadRecords::None;
  for (const Listener* const listener : listeners_) most = std::max(most, listener->reads_records());
  return most;
}

void Listeners::on_run_started(RunId run, const RunIdentity& identity) {
  for (Listener* const listener : listeners_) listener->on_run_started(run, identity);
}

void Listeners::on_run_released(RunId run) {
  for (Listener* const listener : listeners_) listener->on_run_released(run);
}

void Listeners::on_outcome_dropped(RunId run, std::string_view key) {
  for (Listener* const listener : listeners_) listener->on_outcome_dropped(run, key);
}

void Listeners::on_recorded(const RecordBatch& batch) {
  for (Listener* const listener : listeners_) listener->on_recorded(batch);
}

void Listeners::on_generation_started(const SentGeneration& generation) {
  for (Listener* const listener : listeners_) listener->on_generation_started(generation);
}

void Listeners::on_text(RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
                        std::string_view piece) {
  for (Listener* const listener : listeners_) listener->on_text(run, key, attempt, transport_attempt, piece);
}

void Listeners::on_generation_finished(RunId run, std::string_view key, std::uint32_t attempt,
                                       const inference::GenerationOutcome& outcome) {
  for (Listener* const listener : listeners_) listener->on_generation_finished(run, key, attempt, outcome);
}

void Listeners::on_extern_called(const StartedCall& call) {
  for (Listener* const listener : listeners_) listener->on_extern_called(call);
}

void Listeners::on_extern_returned(const EndedCall& call) {
  for (Listener* const listener : listeners_) listener->on_extern_returned(call);
}

void Listeners::on_run_ended(RunId run, const EndedRun& ended) {
  for (Listener* const listener : listeners_) listener->on_run_ended(run, ended);
}

void Listeners::on_stepped(RunId run) {
  for (Listener* const listener : listeners_) listener->on_stepped(run);
}

}  // namespace tenon::runtime
