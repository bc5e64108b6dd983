#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "effects/effect.h"
#include "effects/record.h"
#include "runtime/program_image.h"
#include "runtime/recording/open_blocks.h"
#include "vm/machine.h"

namespace tenon::runtime {

/// A model or a tool cannot be reached.
struct Outage {
  std::string service;         ///< the model's name, or the extern's
  bool is_tool = false;        ///< it is an extern
  std::string reason;          ///< of the newest attempt, for people
  std::uint32_t attempts = 0;  ///< that have failed
  std::int64_t since = 0;      ///< when the first one failed, milliseconds since 1970
  /// The same by the monotonic clock of this process, once it is known.
  std::optional<std::chrono::nanoseconds> began = std::nullopt;
  /// The service asks not to be tried again before this many milliseconds.
  std::int64_t retry_after_ms = 0;
  bool is_waiting = false;  ///< until OpenRequest::wake_at, or to be resumed; otherwise an attempt is in progress
};

/// A request that has no outcome yet.
struct OpenRequest {
  vm::Request request;
  effects::DescribedRequest described;  ///< as RunCore::Recording says
  std::optional<std::int64_t> wake_at;  ///< milliseconds since 1970, as it is recorded
  /// The same by the monotonic clock of this process, once it is known: nothing changes it when the wall clock is set.
  std::optional<std::chrono::nanoseconds> due;
  bool is_recorded = false;
  bool is_started = false;  ///< a call of an extern: this process has begun it
  /// A call whose branch was cancelled: it is waited for, and its outcome only recorded.
  bool is_outlived = false;
  std::vector<effects::Attempted>
      attempts;                         ///< recorded ones, in order: the dialogue with the model resumes after them
  std::optional<std::string> question;  ///< a person is asked before the call of an extern continues
  std::uint32_t asked = 0;              ///< questions about the call, with that one
  bool is_in_doubt = false;             ///< the question is what became of a call (waits/resolution.h)
  std::optional<effects::StoredText> input;  ///< the newest answer, with which it is called again
  std::uint32_t pauses = 0;                  ///< answers that it got
  std::vector<std::string> records;          ///< bytes of its records, which a snapshot repeats
  /// The same, after these: of attempts whose records a later attempt may replace.
  std::vector<std::string> passing_records;
  std::optional<Outage> outage;

  /// Keeps a record of this request that was written at `time`, milliseconds since 1970.
  void follow(const effects::Attempted& attempted, std::int64_t time, std::string record_bytes);
  /// The service was reached.
  void end_outage();
  /// The wait ends at this time, as a record has it; without one nothing ends it.
  void set_wake(std::optional<std::int64_t> time);
  /// The wait begins now, and ends at this time.
  void begin_wait(std::optional<std::int64_t> time, const Moment& now);
  /// When the wait ends, by the monotonic clock. A time that another process has recorded is compared with the wall
  /// clock, once. The request has a time.
  [[nodiscard]] std::chrono::nanoseconds due_at(const Moment& now);
};

/// The key of the generation whose answer an AnswerRefused is about; empty if the program does not pass it.
[[nodiscard]] std::string refused_answer(const vm::Request& refusal);
/// Whether a person's answer is waited for.
[[nodiscard]] bool asks_person(const OpenRequest& open);
/// Whether the request waits for a person, for time to pass or for a service, and nothing is in progress.
[[nodiscard]] bool is_waiting(const OpenRequest& open);
/// Whether the request is a call that is made at most once.
[[nodiscard]] bool is_once(const OpenRequest& open, const bytecode::Program& program);

/// Why a journal does not match its program.
struct ReplayError {
  std::uint64_t record = 0;    ///< its number; 0: no record's
  std::string message;         ///< for people, several lines; names both requests where they differ
  bool is_of_process = false;  ///< as ImageError has it
};

/// A machine with the requests that wait, live or fed from a journal. Outcomes go in one at a time, each when all the
/// machine's branches wait, so that the same outcomes in the same order make the same run, however long each took.
class RunCore {
 public:
  /// How the requests are described: by their kind alone, as records in memory have them (only `emit`, or all), or as
  /// those in a store.
  enum class Recording : std::uint8_t { Off, Emitted, InMemory, On };

  RunCore(std::shared_ptr<const ProgramImage> image, std::uint32_t function, std::vector<vm::Argument> arguments,
          const bytecode::Bounds& budgets, Recording recording, std::string key_prefix = {},
          vm::LabelTable labels = {});
  /// As a snapshot has it.
  [[nodiscard]] static Result<RunCore, ReplayError> read_snapshot(std::shared_ptr<const ProgramImage> image,
                                                                  std::string_view bytes, std::string key_prefix);
  /// All branches wait.
  [[nodiscard]] std::string write_snapshot() const;

  /// The outcome of a slice.
  struct Advance {
    bool is_quiescent = false;             ///< all branches wait, or the run has ended
    std::vector<std::string> opened;       ///< keys of new requests, in the order of the program
    std::vector<vm::RequestId> cancelled;  ///< requests whose branch has ended
    std::optional<vm::Step> end;           ///< Finished, Failed or Damaged
  };
  /// Runs until all branches wait, or until the instructions are used up.
  [[nodiscard]] Advance advance(std::uint64_t instructions_max);

  /// Gives the machine an outcome while all its branches wait. The request is not open any more.
  void deliver(const std::string& key, vm::Outcome outcome);

  /// Takes a record that follows those taken before, other than an outcome. A recorded request must be the program's.
  [[nodiscard]] Result<void, ReplayError> take(std::uint64_t number, const effects::Record& record,
                                               std::string record_bytes);
  /// Takes an outcome as the run that wrote it did, and runs until all branches wait again. `value`: the text of
  /// Finished::value.
  [[nodiscard]] Result<void, ReplayError> take(std::uint64_t number, const effects::Finished& finished,
                                               std::string value);

  [[nodiscard]] const std::shared_ptr<const ProgramImage>& image() const { return image_; }
  [[nodiscard]] vm::Machine& machine() { return machine_; }
  [[nodiscard]] const vm::Machine& machine() const { return machine_; }
  /// By key.
  [[nodiscard]] std::map<std::string, OpenRequest>& open() { return open_; }
  [[nodiscard]] const std::map<std::string, OpenRequest>& open() const { return open_; }
  [[nodiscard]] OpenRequest* find(const std::string& key);
  [[nodiscard]] const std::optional<vm::Step>& end() const { return end_; }
  /// Ends the run or the turn, as `wanted` says, while all branches wait: `finally` blocks run first. False, and
  /// nothing is changed, if there are none, or if they run already.
  [[nodiscard]] bool cancel(const effects::CancelWanted& wanted);
  /// The reason for the machine's coming end; nothing if it was not cancelled.
  [[nodiscard]] const std::optional<effects::CancelWanted>& cancelled() const { return cancelled_; }
  /// The blocks that are open, if records are made.
  [[nodiscard]] OpenBlocks& blocks() { return blocks_; }
  /// Takes note of a block or an agent's turn that begins or ends. What it was, when the request is about an end.
  std::optional<OpenBlocks::Left> follow_blocks(const effects::Requested& requested, std::int64_t time);
  /// What was refused since the last outcome and is not recorded yet, oldest first. Once all branches wait.
  [[nodiscard]] std::vector<effects::FlowRefused> take_refusals();
  /// `FILE:LINE:COL` of the request.
  [[nodiscard]] std::string place_of(const vm::Request& request) const;

 private:
  RunCore(std::shared_ptr<const ProgramImage> image, vm::Machine machine, std::string key_prefix)
      : image_(std::move(image)),
        machine_(std::move(machine)),
        recording_(Recording::On),
        key_prefix_(std::move(key_prefix)) {}

  [[nodiscard]] effects::FlowRefused record_refusal(vm::Refusal refusal) const;

  std::shared_ptr<const ProgramImage> image_;
  vm::Machine machine_;
  Recording recording_;
  std::string key_prefix_;  ///< of a conversation's turn, so that no two of its requests have the same key
  std::map<std::string, OpenRequest> open_;
  std::uint64_t arguments_bytes_ = 0;  ///< of the descriptions of all open requests
  OpenBlocks blocks_;
  std::vector<vm::Refusal> refusals_;  ///< not recorded
  std::optional<effects::CancelWanted> cancelled_;
  std::optional<vm::Step> end_;
};

/// What a run was started with, as recorded.
struct StartedRun {
  std::uint32_t function = 0;
  std::vector<vm::Argument> arguments;
};
/// `arguments`: the text of Started::arguments.
[[nodiscard]] Result<StartedRun, ReplayError> read_start(const ProgramImage& image, const effects::Started& started,
                                                         std::string_view arguments);

}  // namespace tenon::runtime
