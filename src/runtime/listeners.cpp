#include "runtime/listeners.h"

namespace tenon::runtime {

void Listeners::on_run_started(RunId run, const RunIdentity& identity) {
  for (Listener* const listener : listeners_) listener->on_run_started(run, identity);
}

void Listeners::on_turn_started(RunId run, std::uint64_t turn) {
  for (Listener* const listener : listeners_) listener->on_turn_started(run, turn);
}

void Listeners::on_run_released(RunId run) {
  for (Listener* const listener : listeners_) listener->on_run_released(run);
}

void Listeners::on_agent_step(const EffectPlace& place, effects::EffectKind kind, std::string_view agent) {
  for (Listener* const listener : listeners_) listener->on_agent_step(place, kind, agent);
}

void Listeners::on_program_event(RunId run, const ProgramEvent& notice) {
  for (Listener* const listener : listeners_) listener->on_program_event(run, notice);
}

void Listeners::on_generation_started(const EffectPlace& place, std::uint32_t attempt,
                                      const inference::GenerationRequest& request, vm::LabelId label) {
  for (Listener* const listener : listeners_) listener->on_generation_started(place, attempt, request, label);
}

void Listeners::on_text(RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
                        std::string_view piece) {
  for (Listener* const listener : listeners_) listener->on_text(run, key, attempt, transport_attempt, piece);
}

void Listeners::on_generation_finished(const EffectPlace& place, std::uint32_t attempt,
                                       const inference::GenerationOutcome& outcome) {
  for (Listener* const listener : listeners_) listener->on_generation_finished(place, attempt, outcome);
}

void Listeners::on_extern_called(const EffectPlace& place, std::uint32_t index, std::span<const vm::Value> arguments,
                                 vm::LabelId label) {
  for (Listener* const listener : listeners_) listener->on_extern_called(place, index, arguments, label);
}

void Listeners::on_extern_returned(const EffectPlace& place, std::uint32_t index, const vm::Value& value,
                                   std::string_view failure) {
  for (Listener* const listener : listeners_) listener->on_extern_returned(place, index, value, failure);
}

void Listeners::on_service_unavailable(const EffectPlace& place, const Outage& outage,
                                       std::optional<std::int64_t> next_at) {
  for (Listener* const listener : listeners_) listener->on_service_unavailable(place, outage, next_at);
}

void Listeners::on_run_ended(RunId run, const vm::Machine* machine, const RunEnd& end) {
  for (Listener* const listener : listeners_) listener->on_run_ended(run, machine, end);
}

void Listeners::on_turn_ended(RunId run, const TurnOutcome& outcome) {
  for (Listener* const listener : listeners_) listener->on_turn_ended(run, outcome);
}

void Listeners::on_recorded(RunId run, std::uint64_t first, std::span<const effects::Record> records) {
  for (Listener* const listener : listeners_) listener->on_recorded(run, first, records);
}

}  // namespace tenon::runtime
