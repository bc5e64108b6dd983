#pragma once

#include <utility>
#include <vector>

#include "runtime/events.h"

namespace tenon::runtime {

/// Tells several listeners of the same, in their order; who derives from it comes before them, and may keep something
/// from them. They outlive it.
class Listeners : public Listener {
 public:
  explicit Listeners(std::vector<Listener*> listeners) : listeners_(std::move(listeners)) {}

  void on_run_started(RunId run, const RunIdentity& identity) override;
  void on_turn_started(RunId run, std::uint64_t turn) override;
  void on_run_released(RunId run) override;
  void on_agent_step(const EffectPlace& place, effects::EffectKind kind, std::string_view agent) override;
  void on_program_event(RunId run, const ProgramEvent& notice) override;
  void on_generation_started(const EffectPlace& place, std::uint32_t attempt,
                             const inference::GenerationRequest& request, vm::LabelId label) override;
  void on_text(RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
               std::string_view piece) override;
  void on_generation_finished(const EffectPlace& place, std::uint32_t attempt,
                              const inference::GenerationOutcome& outcome) override;
  void on_extern_called(const EffectPlace& place, std::uint32_t index, std::span<const vm::Value> arguments,
                        vm::LabelId label) override;
  void on_extern_returned(const EffectPlace& place, std::uint32_t index, const vm::Value& value,
                          std::string_view failure) override;
  void on_service_unavailable(const EffectPlace& place, const Outage& outage,
                              std::optional<std::int64_t> next_at) override;
  void on_run_ended(RunId run, const vm::Machine* machine, const RunEnd& end) override;
  void on_turn_ended(RunId run, const TurnOutcome& outcome) override;
  void on_recorded(RunId run, std::uint64_t first, std::span<const effects::Record> records) override;

 private:
  const std::vector<Listener*> listeners_;
};

}  // namespace tenon::runtime
