#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "effects/secret_vault.h"
#include "journal/inline_store.h"
#include "runtime/events.h"
#include "runtime/host/host_counts.h"
#include "runtime/host/requests/inbox_reader.h"
#include "runtime/host/requests/pending_replies.h"
#include "runtime/host/requests/request_forwarder.h"
#include "runtime/host/requests/request_gate.h"
#include "runtime/host/requests/request_router.h"
#include "runtime/host/requests/run_requests.h"
#include "runtime/host/requests/store_notes.h"
#include "runtime/host/resident_runs.h"
#include "runtime/host/run_loader.h"
#include "runtime/other_requests.h"
#include "runtime/runtime.h"

namespace tenon::runtime {

/// Takes the commands that other processes leave for the runs of a process that continues runs by name, such as a
/// terminal's: answers, prompts and cancellations, performed as a host performs them. The process drives the runtime,
/// which polls this. Used by the runtime's thread.
class VisitorInbox final : public Listener, public OtherRequests {
 public:
  /// All outlive this.
  struct Parts {
    journal::StoreConnection& store;
    journal::Committer& committer;  ///< of that connection
    inference::Model& model;
    Clock& clock;
    effects::SecretVault* secrets = nullptr;
    std::function<void()> wake;  ///< on any thread: the runtime is to be polled soon
  };
  explicit VisitorInbox(Parts parts) : parts_(std::move(parts)), store_(parts_.store, parts_.committer) {}
  VisitorInbox(const VisitorInbox&) = delete;
  VisitorInbox& operator=(const VisitorInbox&) = delete;

  /// Takes commands from now on. The runtime notifies this as its listener, and is polled no more once it ends.
  void begin(Runtime& runtime);
  /// Replies to commands whose effect is not durable that they were not performed. Takes none any more.
  void end();
  /// Is also called when there may be something to poll for, on any thread; an empty one ends that.
  void on_notice(std::function<void()> notify);

  void poll() override;
  [[nodiscard]] bool has_work() const override;

 private:
  [[nodiscard]] ReadRecords reads_records() const override { return ReadRecords::None; }
  void on_run_started(RunId run, const RunIdentity& identity) override;
  void on_run_released(RunId run) override;
  void on_outcome_dropped(RunId run, std::string_view key) override;
  void on_recorded(const RecordBatch& batch) override;
  void on_run_ended(RunId run, const EndedRun& ended) override;

  void make_performers(Runtime& runtime);
  void take(const journal::Command& command);
  void refuse(const journal::Command& command, const HostFailure& why);
  void perform_all();
  void notice();

  const Parts parts_;
  const ImageSource images_ = {};  ///< no run is loaded here
  const NewestProgram newest_ = {};
  const AgentPools pools_ = {};
  HostCounts counts_;
  journal::InlineStore store_;
  PendingReplies pending_;
  std::vector<std::function<void()>> later_;  ///< in the next poll
  std::mutex notify_mutex_;
  std::function<void()> notify_;
  std::unique_ptr<ResidentRuns> residents_;
  std::unique_ptr<StoreNotes> notes_;
  std::unique_ptr<RunLoader> loader_;
  std::unique_ptr<RequestGate> gate_;
  std::unique_ptr<RunRequests> performing_;
  std::unique_ptr<RequestForwarder> forwarder_;
  std::unique_ptr<RequestRouter> router_;
  std::unique_ptr<InboxReader> inbox_;
};

}  // namespace tenon::runtime
