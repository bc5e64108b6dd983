#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/waker.h"
#include "journal/async_store.h"
#include "json/json.h"
#include "runtime/host/host_counts.h"
#include "runtime/host/host_listener.h"
#include "runtime/host/host_observer.h"
#include "runtime/host/lease_follower.h"
#include "runtime/host/requests/host_input.h"
#include "runtime/host/requests/host_reply.h"
#include "runtime/host/requests/inbox_reader.h"
#include "runtime/host/requests/pending_replies.h"
#include "runtime/host/requests/request_forwarder.h"
#include "runtime/host/requests/request_gate.h"
#include "runtime/host/requests/request_queue.h"
#include "runtime/host/requests/request_router.h"
#include "runtime/host/requests/run_action.h"
#include "runtime/host/requests/run_requests.h"
#include "runtime/host/requests/store_notes.h"
#include "runtime/host/resident_runs.h"
#include "runtime/host/run_loader.h"
#include "runtime/host/run_schedule.h"
#include "runtime/runtime.h"

namespace tenon::runtime {

struct HostOptions {
  /// A Host continues runs; a Gateway leaves everything to the hosts of its store.
  journal::OwnerRole role = journal::OwnerRole::Host;
  RuntimeOptions runtime{.memory_bytes_max = std::uint64_t{4} << 30U,
                         .lone_call = tools::Placement::Pool,
                         .commits_inline_when_alone = false};
  /// Runs that only wait and are kept in memory all the same, so that the next answer finds them there.
  std::size_t idle_runs_max = 1'000;
  /// Requests in the queue; further ones are refused.
  std::size_t requests_max = 10'000;
  /// For how long the answer to a request that may be sent again is known.
  std::chrono::milliseconds replies_kept{24 * 60 * 60 * 1'000};
};

/// Owns a Runtime and drives it with a store: takes requests from other threads, commands that other processes left in
/// the store's inbox, and continues the runs for which the store says that it is time. Runs are loaded when they are
/// addressed or due, and leave the memory when they only wait. The host's thread never waits for the disk, and a reply
/// means durable.
class Host final {
 public:
  /// All of it outlives the host.
  struct Parts {
    journal::AsyncStore& store;
    inference::Model& model;
    tools::ExternCaller* extern_caller = nullptr;
    Clock& clock;
    std::function<double()> random_unit;
    ImageSource images;
    HostObserver& observer;
    effects::SecretVault* secrets = nullptr;  ///< as RuntimeDependencies::secrets; the host's thread uses it
    StartResolver resolve = {};               ///< of starts that other processes ask for; none: they are refused
    NewestProgram newest = {};                ///< upgrades conversations with its agent; none: no conversation is
    Listener* listener = nullptr;             ///< receives what the runtime does, on the host's thread
  };
  Host(Parts parts, HostOptions options);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  /// Who drives the host: a thread of its own, or the caller with `run_once`.
  enum class DrivenBy : bool { OwnThread, Caller };
  /// Resumes the runs that were interrupted, and takes requests from now on.
  void begin(DrivenBy driver = DrivenBy::OwnThread);
  /// Requests that wait are refused, and effects in progress get `grace` to end (Runtime::drain). The runs continue
  /// when the store is opened again. With `DrivenBy::Caller` on the thread that calls `run_once`.
  void end(std::chrono::milliseconds grace = std::chrono::milliseconds{0});

  /// With `DrivenBy::Caller`, always on the same thread: does what there is to do. Without anything to do it waits, at
  /// most `wait`. False after `end`.
  bool run_once(std::chrono::milliseconds wait);
  /// Becomes readable when `run_once` has something to do that came from another thread: a request, or the end of work
  /// with the store. It says nothing about timers (`time_to_next`), nor about generations and calls in progress
  /// (HostCounts::effects_under_way): while there are some, `run_once` itself has to wait.
  [[nodiscard]] int wake_descriptor() const { return waker_.descriptor(); }
  /// With `DrivenBy::Caller`: `run_once` has something to do by then. The longest time: not before it is woken.
  [[nodiscard]] std::chrono::milliseconds time_to_next();

  // Any thread.
  void start(RunStart start, RequestKey key, OnReply reply);
  /// Adds a run whose first records `make` returns, such as a fork, and continues it.
  void add(MakeRun make, RequestKey key, OnReply reply);
  /// `wait` may be empty for the only question that the run has asked so far. `input`: as Input::Form::Json; without
  /// one, the models and tools that the run waits for are tried at once.
  void resume(journal::RunName run, std::string wait, std::optional<Json> input, RequestKey key, OnReply reply);
  void cancel(journal::RunName run, CancelScope scope, std::string reason, RequestKey key, OnReply reply);
  /// Begins a conversation's next turn.
  void prompt(journal::RunName run, Json input, RequestKey key, OnReply reply);
  /// Says something in the conversation that a client knows under `name`: answers the question that was shown, or any
  /// when none was, or begins the next turn. A question that was shown and is not open any more is a conflict while
  /// another one is. When there is no conversation of that name, or the name is empty, `start` begins one.
  void say(std::string name, RunStart start, std::string text, SeveralQuestions several, RequestKey key, OnReply reply);
  /// Says which of the run's questions a person was shown, so that the next `say` answers it; empty: no single one.
  /// Remembered while the run is in memory.
  void note_shown(journal::RunName run, std::string wait);
  /// Answers questions of the conversation that a client knows under `name`, one after the other; the first one that
  /// is not taken ends that, and the message says how many were taken before it.
  void answer(std::string name, std::vector<GivenAnswer> answers, RequestKey key, OnReply reply);
  /// The same as `say` in a conversation that is known by its run.
  void say(journal::RunName run, std::string text, SeveralQuestions several, RequestKey key, OnReply reply);

  /// Calls `use` on the host's thread with the store's notes, or with the reason why they cannot be used now. It may
  /// not wait.
  void use_notes(std::function<void(Result<StoreNotes*, HostFailure>)> use);

  /// Tells the observer, or other owners, once more what was written so far of the run's answers that are being
  /// written: one that follows the run has come late. It knows the parts that it has by their offsets.
  void repeat_text(journal::RunName run, HostListener::Follower follower = HostListener::Follower::Observer);

  /// Gives up at most `count` runs that only wait, those that have waited longest first: the next one that is asked
  /// for them continues them. `then` is called on the host's thread with how many they were.
  void release_waiting(std::size_t count, std::function<void(std::size_t released)> then);

  [[nodiscard]] const HostCounts& counts() const { return counts_; }

 private:
  bool step(std::chrono::milliseconds wait);
  void make_runtime();
  void abandon(std::string_view message);
  void wake() const;
  void post(std::function<void()> request, const OnReply& reply);
  void finish(std::chrono::milliseconds grace);
  std::size_t release_idle(std::size_t idle_max);
  void retry_detached();
  void note_broken(std::string_view message);

  // requests/host_requests.cpp
  void post_request(RequestGate::Request request);
  void post_action(journal::RunName run, RunAction action, RequestKey key, OnReply reply);
  [[nodiscard]] bool is_gateway() const { return options_.role == journal::OwnerRole::Gateway; }

  Parts parts_;
  const HostOptions options_;
  HostCounts counts_;
  Waker waker_;
  RequestQueue requests_;

  // The host's thread alone; made by `begin`.
  std::unique_ptr<HostListener> listener_;
  std::unique_ptr<Listener> listeners_;
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<StoreNotes> notes_;
  std::unique_ptr<ResidentRuns> residents_;
  std::unique_ptr<RunLoader> loader_;
  std::unique_ptr<RunSchedule> schedule_;
  std::unique_ptr<LeaseFollower> lease_;
  std::unique_ptr<RequestGate> gate_;
  std::unique_ptr<RunRequests> performing_;
  std::unique_ptr<RequestForwarder> forwarder_;
  std::unique_ptr<InboxReader> inbox_;
  std::unique_ptr<RequestRouter> router_;
  PendingReplies pending_;
  std::vector<std::function<void()>> later_;  ///< in the next step
  bool is_broken_ = false;
  bool is_ending_ = false;

  std::thread thread_;
  std::future<void> has_ended_;  ///< of the thread
};

}  // namespace tenon::runtime
