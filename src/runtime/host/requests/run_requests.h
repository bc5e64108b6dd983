#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "journal/async_store.h"
#include "json/json.h"
#include "runtime/host/host_counts.h"
#include "runtime/host/requests/host_input.h"
#include "runtime/host/requests/host_reply.h"
#include "runtime/host/requests/pending_replies.h"
#include "runtime/host/requests/run_action.h"
#include "runtime/host/requests/store_notes.h"
#include "runtime/host/resident_runs.h"
#include "runtime/host/run_loader.h"
#include "runtime/runtime.h"

namespace tenon::runtime {

/// Performs a host's requests on its runs, and replies when what was done is durable. Used by the host's thread.
class RunRequests {
 public:
  struct Parts {
    journal::AsyncStore& store;
    Runtime& runtime;
    StoreNotes& notes;
    ResidentRuns& residents;
    RunLoader& loader;
    PendingReplies& pending;
    HostCounts& counts;
    const NewestProgram& newest;
    std::function<std::int64_t()> now_ms;                         ///< since 1970
    std::function<bool()> is_stopped;                             ///< requests are refused
    std::function<void(std::function<void()> work)> later;        ///< does it in the host's next step
    std::function<void(const journal::RunName& run)> on_changed;  ///< as HostObserver has it
  };
  explicit RunRequests(Parts parts) : parts_(std::move(parts)) {}
  RunRequests(const RunRequests&) = delete;
  RunRequests& operator=(const RunRequests&) = delete;

  /// Does what is not `StartRun` with a run, which is loaded for that. `Elsewhere`: another owner of the store has it,
  /// and nothing was done.
  void perform(const journal::RunName& run, RunAction action, const RequestKey& key, const OnReply& reply);
  /// The same if the run has exactly this number of records, and nothing in progress; otherwise `Raced`.
  void perform_if(const journal::RunName& run, std::uint64_t records, RunAction action, const RequestKey& key,
                  const OnReply& reply);
  /// Starts a run with this name. `notes`: are kept with the run, and contain its name.
  void begin_run(const journal::RunName& name, RunStart start, const RequestKey& key, std::vector<journal::Note> notes,
                 const OnReply& reply);
  /// Adds a run of this name.
  void add_run(const journal::RunName& name, const MakeRun& make, const RequestKey& key, const OnReply& reply);
  /// Ends a run that cannot be loaded: what its program does at its end is not done.
  void cancel_unloaded(const journal::RunName& run, const std::string& reason, const RequestKey& key,
                       const OnReply& reply);

 private:
  using UseRun = std::function<void(RunId run)>;
  void with_run(const journal::RunName& run, const OnReply& reply, UseRun use);
  /// Answers to several questions that are taken one after the other.
  struct AnswerList {
    journal::RunName run;
    std::vector<GivenAnswer> answers;
    RequestKey key;
    std::uint64_t after = 0;  ///< of the first answer that was taken
  };
  void store_run(std::shared_ptr<const journal::Append> append, const Accepted& accepted, const OnReply& reply);
  void answer_next(std::shared_ptr<AnswerList> list, std::size_t at, const OnReply& reply);
  /// An empty `wait`: the only question that the run has asked.
  void give_answer(RunId run, const std::string& wait, const Input& input, const RequestKey& key, const OnReply& reply);
  void answer_only_question(RunId run, const Input& input, const RequestKey& key, const OnReply& reply);
  void retry_services(RunId run, const RequestKey& key, const OnReply& reply);
  void cancel_run(const journal::RunName& run, const CancelRun& cancel, const RequestKey& key, const OnReply& reply);
  void prompt_run(RunId run, const Json& input, const RequestKey& key, const OnReply& reply);
  void say_in(RunId run, const SayInConversation& say, const RequestKey& key, const OnReply& reply);
  void cancel_resident(RunId run, CancelScope scope, const std::string& reason, const RequestKey& key,
                       const OnReply& reply);
  [[nodiscard]] bool refuse_detached(RunId run, const OnReply& reply);
  [[nodiscard]] Result<void, HostFailure> upgrade_program(RunId run);
  [[nodiscard]] Result<void, HostFailure> begin_turn(RunId run, const Json& input);
  [[nodiscard]] std::vector<journal::Note> notes_of(const RequestKey& key, const Accepted& accepted) const;
  void await(RunId run, PendingReply pending);

  const Parts parts_;
};

}  // namespace tenon::runtime
