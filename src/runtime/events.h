#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "effects/record.h"
#include "inference/model.h"
#include "journal/store.h"
#include "runtime/run_core.h"
#include "vm/machine.h"

namespace tenon::runtime {

/// A run's place among those of one Runtime.
struct RunId {
  std::uint32_t index = 0;
  friend auto operator<=>(RunId, RunId) = default;
};

/// How a run has ended.
struct RunFailed {
  vm::FailureReport report;
};
struct RunDamaged {
  std::string message;
  std::string place;
};
struct RunCancelled {
  std::string reason;
};
/// The journal cannot be written: the run has not ended, but it does not continue in this process.
struct RunDetached {
  std::string message;
  std::optional<journal::StoreError::Kind> error;  ///< of the store; nothing: it was refused, or a key is missing
};
using RunEnd = std::variant<vm::Value, RunFailed, RunDamaged, RunCancelled, RunDetached>;
/// How a turn of a conversation has ended.
using TurnOutcome = std::variant<vm::Value, RunFailed, RunCancelled>;

/// Where in the program an effect is asked for.
struct EffectPlace {
  RunId run;
  std::string_view key;  ///< the request's place in the run, stable over repetitions
  const vm::Machine& machine;
  vm::RequestId request;
  bytecode::Place place;
  std::uint32_t agent = UINT32_MAX;  ///< as vm::Request has them
  std::uint32_t depth = 0;
};

/// What a run is, for listeners. Views are valid during the call.
struct RunIdentity {
  std::string_view name;   ///< empty: it is not recorded
  std::string_view title;  ///< the function's or the agent's
  bool is_conversation = false;
  bool is_resumed = false;         ///< it continues where its journal ends
  std::uint64_t turn = 0;          ///< of a conversation: the newest one; 0: none yet
  std::vector<std::string> waits;  ///< the questions that it waits for an answer to
};

/// An event that the program itself reports. Views are valid during the call.
struct ProgramEvent {
  effects::EffectKind kind = effects::EffectKind::Emitted;  ///< BlockEntered, BlockLeft, Emitted or AnswerRefused
  std::string_view key;
  std::string_view agent;          ///< whose function reports it; empty outside of an agent
  std::uint32_t depth = 0;         ///< agents called by agents around it
  std::string_view text;           ///< what is said; of a block its path; of a refused answer why
  std::string_view function = {};  ///< of a refused answer: whose contract does not hold
  std::string_view answers = {};   ///< of a refused answer: the key of the generation that gave it
};

/// Receives what a runtime does, as it happens, on the runtime's thread. Views are valid during the call.
class Listener {
 public:
  virtual ~Listener() = default;
  /// A run has this place from now on: it begins, or is resumed.
  virtual void on_run_started(RunId /*run*/, const RunIdentity& /*identity*/) {}
  /// The run's place is free again; whether or not the run has ended.
  virtual void on_run_released(RunId /*run*/) {}
  /// Of a run that is not recorded (for the others `on_recorded` has it): a turn of its conversation begins.
  virtual void on_turn_started(RunId /*run*/, std::uint64_t /*turn*/) {}
  /// The same for what happens between agents: AgentCalled, AgentReturned or HandedOff. `agent`: that is called,
  /// returns, or goes on.
  virtual void on_agent_step(const EffectPlace& /*place*/, effects::EffectKind /*kind*/, std::string_view /*agent*/) {}
  /// Once it is durable, of a run that is recorded.
  virtual void on_program_event(RunId /*run*/, const ProgramEvent& /*notice*/) {}
  /// Before a request goes to the model; `attempt` counts from 0, and the higher ones are repairs. `request` is what
  /// the model's backend sends, see inference::Model::convert_to_sent.
  virtual void on_generation_started(const EffectPlace& /*place*/, std::uint32_t /*attempt*/,
                                     const inference::GenerationRequest& /*request*/, vm::LabelId /*label*/) {}
  /// A provisional piece of the answer to `on_generation_started` of the same key and attempt; a higher
  /// `transport_attempt` voids what came before.
  virtual void on_text(RunId /*run*/, std::string_view /*key*/, std::uint32_t /*attempt*/,
                       std::uint32_t /*transport_attempt*/, std::string_view /*piece*/) {}
  virtual void on_generation_finished(const EffectPlace& /*place*/, std::uint32_t /*attempt*/,
                                      const inference::GenerationOutcome& /*outcome*/) {}
  virtual void on_extern_called(const EffectPlace& /*place*/, std::uint32_t /*index*/,
                                std::span<const vm::Value> /*arguments*/, vm::LabelId /*label*/) {}
  /// `failure` is empty when there is a value.
  virtual void on_extern_returned(const EffectPlace& /*place*/, std::uint32_t /*index*/, const vm::Value& /*value*/,
                                  std::string_view /*failure*/) {}
  /// A model or a tool cannot be reached: the run waits until `next_at` (milliseconds since 1970), or to be resumed,
  /// and then tries again.
  virtual void on_service_unavailable(const EffectPlace& /*place*/, const Outage& /*outage*/,
                                      std::optional<std::int64_t> /*next_at*/) {}
  /// `machine` is null for a conversation that ended before its first turn.
  virtual void on_run_ended(RunId /*run*/, const vm::Machine* /*machine*/, const RunEnd& /*end*/) {}
  virtual void on_turn_ended(RunId /*run*/, const TurnOutcome& /*outcome*/) {}
  /// Records that have become durable; the first one has the number `first`.
  virtual void on_recorded(RunId /*run*/, std::uint64_t /*first*/, std::span<const effects::Record> /*records*/) {}
};

}  // namespace tenon::runtime
