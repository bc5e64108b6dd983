#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "journal/async_store.h"
#include "json/json.h"
#include "runtime/host_counts.h"
#include "runtime/host_reply.h"
#include "runtime/inbox_reader.h"
#include "runtime/pending_replies.h"
#include "runtime/request_queue.h"
#include "runtime/resident_runs.h"
#include "runtime/run_loader.h"
#include "runtime/run_schedule.h"
#include "runtime/runtime.h"
#include "runtime/store_notes.h"
#include "runtime/text_pieces.h"
#include "runtime/waker.h"

namespace tenon::runtime {

struct HostOptions {
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

/// What a run is started with: a function with its arguments, or an agent with what is said to it first.
struct RunStart {
  std::shared_ptr<const ProgramImage> image;
  std::uint32_t function = 0;          ///< an index into Program::functions
  std::optional<std::uint32_t> agent;  ///< an index into Program::agents: then there is no function
  /// Of a function. Called on the host's thread, to which values belong.
  std::function<Result<std::vector<vm::Argument>, std::string>()> arguments;
  std::optional<Json> input;  ///< of an agent; nothing: it waits for a prompt
  RunOptions options;
};

/// What is to end.
enum class CancelScope : std::uint8_t {
  Turn,  ///< of a conversation the current turn, of a function the run
  Run,
};

/// A client's input, as an answer or as a prompt.
struct Input {
  enum class Form : std::uint8_t {
    Json,   ///< a text type wants a JSON string; for any other type a string is also taken for the JSON that it holds
    Typed,  ///< a text, as it is typed at a terminal: text types raw, the rest as JSON
  };
  Form form = Form::Json;
  Json json;
};

/// Which question a message answers when a conversation asks several things, and none of them was shown.
enum class SeveralQuestions : std::uint8_t {
  Refuse,
  Oldest,
};

/// What a client says of one of a conversation's questions.
struct GivenAnswer {
  std::string wait;
  std::optional<Json> input;  ///< nothing: there will be no answer, and the turn is cancelled
};

/// Receives what has become durable, on the host's thread. Views are valid during the call.
class HostObserver {
 public:
  virtual ~HostObserver() = default;
  virtual void on_recorded(const journal::RunName& run, std::string_view agent, std::uint64_t first,
                           std::span<const effects::Record> records) = 0;
  /// `agent`: whose answer is being written.
  virtual void on_text(const journal::RunName& run, std::string_view agent, const TextProgress& text) = 0;
  /// The store has records that `on_recorded` was not called for.
  virtual void on_changed(const journal::RunName& run) = 0;
  /// A problem that is not the answer to a request, for people.
  virtual void on_problem(std::string_view message) = 0;
  /// The store is broken: no run continues until it is opened again.
  virtual void on_broken(std::string_view message) = 0;
};

/// The program that continues conversations with the agent of that name, and its libraries for the record; no image
/// when there is none.
struct NewestImage {
  std::shared_ptr<const ProgramImage> image;
  std::vector<std::string> libraries;
};
using NewestProgram = std::function<NewestImage(std::string_view agent)>;

/// Owns a Runtime and drives it with a store: takes requests from other threads, commands that other processes left in
/// the store's inbox, and continues the runs for which the store says that it is time. Runs are loaded when they are
/// addressed or due, and leave the memory when they only wait. The host's thread never waits for the disk, and a reply
/// means durable.
class Host final : private Listener {
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
    NewestProgram newest = {};                ///< upgrades conversations with its agent; none: no conversation is
    Listener* listener = nullptr;             ///< receives what the runtime does, on the host's thread
  };
  Host(Parts parts, HostOptions options);
  ~Host() override;
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
  /// With `DrivenBy::Caller`: `run_once` has something to do by then.
  [[nodiscard]] std::chrono::milliseconds time_to_next();

  // Any thread.
  void start(RunStart start, RequestKey key, OnReply reply);
  /// `wait` may be empty when the run asks one thing. `input`: as Input::Form::Json; without one, the models and tools
  /// that the run waits for are tried at once.
  void resume(journal::RunName run, std::string wait, std::optional<Json> input, RequestKey key, OnReply reply);
  void cancel(journal::RunName run, CancelScope scope, std::string reason, RequestKey key, OnReply reply);
  /// Begins a conversation's next turn.
  void prompt(journal::RunName run, Json input, RequestKey key, OnReply reply);
  /// Says something in the conversation that a client knows under `name`: answers the question that was shown, or any
  /// when none was, or begins the next turn. A question that was shown and is not open any more is a conflict while
  /// another one is. When there is no conversation of that name, or the name is empty, `start` begins one.
  void say(std::string name, RunStart start, std::string text, SeveralQuestions several, RequestKey key, OnReply reply);
  /// A person sees this question of the run's, and will answer it; empty: none alone. Known while the run is in memory.
  void note_shown(journal::RunName run, std::string wait);
  /// Answers questions of the conversation that a client knows under `name`, one after the other; the first one that
  /// is not taken ends that, and the message says how many were taken before it.
  void answer(std::string name, std::vector<GivenAnswer> answers, RequestKey key, OnReply reply);
  /// The same as `say` in a conversation that is known by its run.
  void say(journal::RunName run, std::string text, SeveralQuestions several, RequestKey key, OnReply reply);

  /// Calls `use` on the host's thread with the store's notes, or with the reason why they cannot be used now. It may
  /// not wait.
  void use_notes(std::function<void(Result<StoreNotes*, HostFailure>)> use);

  [[nodiscard]] const HostCounts& counts() const { return counts_; }

 private:
  void wake() const;
  void post(std::function<void()> request, const OnReply& reply);
  void finish(std::chrono::milliseconds grace);
  void finish_store();
  void retry_detached();
  void note_broken(std::string_view message);
  [[nodiscard]] std::int64_t now_ms() const;

  // host_requests.cpp
  /// A request that is looked up before it is performed.
  struct Request {
    RequestKey key;
    OnReply reply;
    std::string conversation = {};  ///< a client's name for one; empty: none
    journal::RunName run = {};      ///< that `key.find_refusal` looks at
    std::uint32_t lookups = 0;      ///< that were made in vain, because the run changed meanwhile
    /// Performs it. `known`: the run of the conversation.
    std::function<void(const std::optional<journal::RunName>& known, const OnReply& reply)> perform;
  };
  void admit(Request request);
  void look_up(std::shared_ptr<Request> request);
  void check_refusal(std::shared_ptr<Request> request, std::uint64_t records,
                     const std::optional<HostFailure>& refusal);
  void begin_run(RunStart start, const RequestKey& key, std::vector<journal::Note> notes, const OnReply& reply);
  void begin_conversation(const std::string& note, RunStart start, const RequestKey& key, const OnReply& reply);
  void keep_notes(RunId run, const RequestKey& key, const Accepted& accepted);
  /// Calls `use` with the run in memory, or `reply` with the reason why it is not.
  void with_run(const journal::RunName& run, const OnReply& reply, std::function<void(RunId run)> use);
  void give_answer(RunId run, std::string wait, const Input& input, const RequestKey& key, const OnReply& reply);
  void retry_services(RunId run, const RequestKey& key, const OnReply& reply);
  void cancel_run(const journal::RunName& run, CancelScope scope, const std::string& reason, const RequestKey& key,
                  const OnReply& reply);
  void cancel_resident(RunId run, CancelScope scope, const std::string& reason, const RequestKey& key,
                       const OnReply& reply);
  void cancel_damaged(const journal::RunName& run, const std::string& reason, const RequestKey& key,
                      const OnReply& reply);
  void prompt_run(RunId run, const Json& input, const RequestKey& key, const OnReply& reply);
  [[nodiscard]] Result<void, HostFailure> upgrade_program(RunId run);
  [[nodiscard]] Result<void, HostFailure> begin_turn(RunId run, const Json& input);
  void say_in(RunId run, const std::string& text, SeveralQuestions several, const RequestKey& key,
              const OnReply& reply);
  /// Answers to several questions that are taken one after the other.
  struct AnswerList {
    journal::RunName run;
    std::vector<GivenAnswer> answers;
    RequestKey key;
    std::uint64_t after = 0;  ///< of the first answer that was taken
  };
  void answer_next(std::shared_ptr<AnswerList> list, std::size_t at, const OnReply& reply);
  void take_command(const journal::Command& command);
  void await(RunId run, PendingReply pending);

  void on_generation_started(const SentGeneration& generation) override;
  void on_text(RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
               std::string_view piece) override;
  void on_run_ended(RunId run, const EndedRun& ended) override;
  void on_run_released(RunId run) override;
  void on_recorded(const RecordBatch& batch) override;

  Parts parts_;
  const HostOptions options_;
  HostCounts counts_;
  Waker waker_;
  RequestQueue requests_;

  // The host's thread alone; made by `begin`.
  std::unique_ptr<Listener> listeners_;
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<StoreNotes> notes_;
  std::unique_ptr<ResidentRuns> residents_;
  std::unique_ptr<RunLoader> loader_;
  std::unique_ptr<RunSchedule> schedule_;
  std::unique_ptr<InboxReader> inbox_;
  PendingReplies pending_;
  TextPieces pieces_;
  std::set<std::string> in_progress_;              ///< keys of requests, and names of conversations that begin
  std::map<std::string, journal::RunName> begun_;  ///< conversations that began while a request was looked up
  std::size_t lookups_ = 0;                        ///< in progress
  std::vector<std::pair<journal::RunName, RunDetached>> detached_;
  bool is_broken_ = false;
  bool is_ending_ = false;

  std::thread thread_;
};

}  // namespace tenon::runtime
