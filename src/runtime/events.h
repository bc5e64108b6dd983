#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/sha256.h"
#include "effects/record.h"
#include "inference/model.h"
#include "journal/store.h"
#include "runtime/recording/read_records.h"
#include "runtime/run_core.h"
#include "vm/failure.h"
#include "vm/loaded_program.h"
#include "vm/values/value.h"

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
  std::optional<journal::StoreError::Kind> error = {};  ///< of the store
  std::optional<journal::AppendRefusal> refusal = {};   ///< by the store; OldEpoch: another owner continues the run
  std::size_t bytes = 0;                                ///< that the run's append would have added; with `error`
};
using RunEnd = std::variant<vm::Value, RunFailed, RunDamaged, RunCancelled, RunDetached>;
/// How a turn of a conversation has ended.
using TurnOutcome = std::variant<vm::Value, RunFailed, RunCancelled>;

/// What a run is, for listeners. Views are valid during the call.
struct RunIdentity {
  std::string_view name;   ///< empty: it has no store
  std::string_view title;  ///< the function's or the agent's
  bool is_conversation = false;
  bool is_resumed = false;         ///< it continues where its journal ends
  std::uint64_t turn = 0;          ///< of a conversation: the newest one; 0: none yet
  std::vector<std::string> waits;  ///< requests that wait for an answer, by key
};

/// Records of a run that follow one another. Views are valid during the call.
struct RecordBatch {
  RunId run;
  const vm::LoadedProgram& program;  ///< of the run
  std::uint64_t first = 0;           ///< the number of the first record, counted from 1
  std::span<const effects::Record> records;
  const std::map<Hash, std::string>& texts;  ///< that the records name by hash

  /// A text of one of the records; empty for a text of another batch.
  [[nodiscard]] std::string_view text_of(const effects::StoredText& text) const;
};

/// An event that the program itself reports.
struct ProgramEvent {
  effects::EffectKind kind = effects::EffectKind::Emitted;  ///< BlockEntered, BlockLeft, Emitted or AnswerRefused
  std::string key;
  effects::AgentScope scope;
  std::string text;        ///< the emitted text; the path of the block; the reasons why an answer is refused
  std::string function;    ///< AnswerRefused: whose contract is violated
  std::string generation;  ///< AnswerRefused: the key of the generation that gave the answer
};
/// The program event of a record of the batch; nothing for other records.
[[nodiscard]] std::optional<ProgramEvent> find_program_event(const RecordBatch& batch, const effects::Record& record);

/// An effect that this process performs, and where the program requests it. Views are valid during the call.
class PerformedEffect {
 public:
  RunId run;
  std::string_view key;              ///< of the request, the same when it is performed again
  const vm::LoadedProgram& program;  ///< of the run
  effects::AgentScopeView scope;

  PerformedEffect(RunId id, const RunCore& core, const vm::Request& request);

  // Most listeners need none of these.
  [[nodiscard]] bytecode::Place place() const;
  [[nodiscard]] vm::CallStack calls() const;
  [[nodiscard]] std::string label() const;  ///< the origins of what is sent: vm::LabelTable::describe

 private:
  const vm::Machine& machine_;
  const vm::Request& request_;
};

/// A request that is sent to the model.
struct SentGeneration {
  PerformedEffect effect;
  std::uint32_t attempt = 0;        ///< counts from 0; the higher ones are repairs
  bool is_streamed_output = false;  ///< its answer is plain text and output of the run (vm/execution/streamed_output.h)
  const inference::GenerationRequest& request;
  const inference::Model& model;

  /// As the backend sends it.
  [[nodiscard]] inference::GenerationRequest sent() const { return model.sent_form(request).value_or(request); }
};

/// A call of an extern that is made.
struct StartedCall {
  PerformedEffect effect;
  std::uint32_t index = 0;  ///< into Program::externs
  std::span<const vm::Value> arguments;
  std::vector<std::string> sources = {};       ///< of a call that acts: what it depends on (runtime/label_sources.h)
  std::vector<std::string_view> allowed = {};  ///< of the same: why it may be made (vm::reasons_for_call)
};

/// The end of such a call. Another one may follow, for example after a person's answer.
struct EndedCall {
  RunId run;
  std::string_view key;
  const vm::LoadedProgram& program;
  std::uint32_t index = 0;   ///< into Program::externs
  const vm::Value& value;    ///< without a failure
  std::string_view failure;  ///< empty if there is a value
};

/// A run that does not continue in this process.
struct EndedRun {
  const RunEnd& end;
  std::optional<std::uint64_t> instructions;  ///< executed; nothing for a conversation without a turn
  std::string label;                          ///< the origins of the value: vm::LabelTable::describe
};

/// Receives what a runtime does, on the runtime's thread. Everything that a run does is in its records, which a runtime
/// delivers with a store, once they are durable, and without one. The other functions report what only this process
/// does: the requests that it sends and their replies, which are repeated if a run is resumed.
class Listener {
 public:
  virtual ~Listener() = default;
  /// Of which records `on_recorded` is to be called for runs without a store: they are made for it alone. Asked when a
  /// run starts.
  [[nodiscard]] virtual ReadRecords reads_records() const { return ReadRecords::All; }
  /// A run has this place from now on: it begins, or is resumed.
  virtual void on_run_started(RunId /*run*/, const RunIdentity& /*identity*/) {}
  /// The run's place is free again; whether or not the run has ended.
  virtual void on_run_released(RunId /*run*/) {}
  /// The outcome of a request has arrived and is not recorded: the branch that waited for it has been cancelled.
  virtual void on_outcome_dropped(RunId /*run*/, std::string_view /*key*/) {}
  /// Called before the effects that the records request are performed.
  virtual void on_recorded(const RecordBatch& /*batch*/) {}
  virtual void on_generation_started(const SentGeneration& /*generation*/) {}
  /// A provisional piece of the answer to `on_generation_started` of the same key and attempt; a higher
  /// `transport_attempt` voids what came before.
  virtual void on_text(RunId /*run*/, std::string_view /*key*/, std::uint32_t /*attempt*/,
                       std::uint32_t /*transport_attempt*/, std::string_view /*piece*/) {}
  virtual void on_generation_finished(RunId /*run*/, std::string_view /*key*/, std::uint32_t /*attempt*/,
                                      const inference::GenerationOutcome& /*outcome*/) {}
  virtual void on_extern_called(const StartedCall& /*call*/) {}
  virtual void on_extern_returned(const EndedCall& /*call*/) {}
  virtual void on_run_ended(RunId /*run*/, const EndedRun& /*ended*/) {}
  /// The run has taken a step, and what it did is durable: it continues, waits for effects or for people, or has ended.
  virtual void on_stepped(RunId /*run*/) {}
};

}  // namespace tenon::runtime
