#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "journal/committer.h"
#include "journal/open_store.h"
#include "json/json.h"
#include "runtime/host_reply.h"
#include "runtime/runtime.h"
#include "runtime/store_notes.h"

namespace tenon::runtime {

struct HostOptions {
  RuntimeOptions runtime{.memory_bytes_max = std::uint64_t{4} << 30U, .lone_call = tools::Placement::Pool};
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
    Json,   ///< a text type wants a JSON string; for any other type a string stands also for the JSON that it holds
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

/// A provisional piece of an answer.
struct TextProgress {
  std::string_view generation;  ///< the request's key
  std::uint32_t attempt = 0;    ///< counts from 0 within the generation; a higher one voids those before
  std::uint64_t offset = 0;     ///< bytes of the attempt before it
  std::string_view piece;
  bool is_answer = false;   ///< a piece of what the run says (vm/streamed_output.h)
  std::uint32_t depth = 0;  ///< agents above the one whose answer it is
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

/// Counters for monitoring; any thread.
struct HostCounts {
  std::atomic<std::uint64_t> runs_started{0}, runs_ended{0}, runs_loaded{0}, runs_released{0}, answers_taken{0},
      records{0}, commands_taken{0}, resident{0}, effects_under_way{0};
};

/// The program with which conversations with the agent of that name are to go on, and its libraries for the record; no
/// image when there is none.
struct NewestImage {
  std::shared_ptr<const ProgramImage> image;
  std::vector<std::string> libraries;
};
using NewestProgram = std::function<NewestImage(std::string_view agent)>;

/// A thread that owns a Runtime and a Store, and another one that commits to it: takes requests from other threads,
/// commands that other processes left in the store's inbox, and goes on with what the store says is to be done. Runs
/// are read from the store when they are addressed or due, and leave the memory when they only wait. A reply means
/// durable.
class Host final : private Listener {
 public:
  struct Parts {
    std::unique_ptr<journal::StoreConnection> store;
    std::unique_ptr<journal::StoreConnection>
        reader;  ///< the same store, opened for reading: no read waits for a commit
    inference::Model& model;
    tools::ExternCaller* extern_caller = nullptr;
    Clock& clock;
    std::function<double()> random_unit;
    ImageSource images;
    HostObserver& observer;
    effects::SecretVault* secrets = nullptr;  ///< as RuntimeDependencies::secrets; the host's thread uses it
    NewestProgram newest = {};                ///< takes over conversations with its agent; none: nothing does
    Listener* listener = nullptr;             ///< receives what the runtime does, on the host's thread
  };
  Host(Parts parts, HostOptions options);
  ~Host() override;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  /// Resumes the runs that were cut off, and takes requests from now on.
  void begin();
  /// Ends the thread: requests that wait are refused, and effects in progress get `grace` to end (Runtime::drain). The
  /// runs continue when the store is opened again.
  void end(std::chrono::milliseconds grace = std::chrono::milliseconds{0});

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
  struct Writing {
    std::uint32_t attempts = 0;  ///< begun
    std::pair<std::uint32_t, std::uint32_t> newest{};
    std::uint64_t offset = 0;
    bool is_answer = false;
    std::string agent;
    std::uint32_t depth = 0;
  };
  struct Hosted {
    journal::RunName name;
    std::uint64_t idle_since = 0;  ///< key in idle_; 0: not there
    bool is_touched = false;
    std::map<std::string, Writing, std::less<>> writing;  ///< by generation
    std::string shown_wait;                               ///< the question that a person was shown last
  };
  /// A reply that waits until what it says is durable.
  struct Pending {
    enum class Until : std::uint8_t { Started, Prompted, Answered, Retried, Ended };
    Until until = Until::Started;
    Accepted accepted;
    std::string request_key;
    OnReply reply;
  };

  void post(std::function<void()> request, const OnReply& reply);
  void loop();
  bool take_requests();
  void take_inbox();
  void load_some();
  /// Whether the store can write again: asked before a run goes on, whose effects would be performed for nothing.
  [[nodiscard]] bool has_room(const journal::RunName& run);
  void load_due();
  void drop_idle();
  void wait_for_work();
  /// The run in memory. `Conflict` for one that has ended.
  [[nodiscard]] Result<RunId, HostFailure> load(const journal::RunName& run);
  /// Whether the request is known, in progress or refused by its key: then it has been answered.
  [[nodiscard]] bool is_repeated(const RequestKey& key, const OnReply& reply);
  void await(RunId run, Pending pending);
  void begin_run(RunStart start, const RequestKey& key, std::vector<journal::Note> notes, OnReply reply);
  /// Without an input: tries the services again.
  void give_answer(const journal::RunName& run, std::string wait, const std::optional<Input>& input,
                   const RequestKey& key, OnReply reply);
  void cancel_now(const journal::RunName& run, CancelScope scope, const std::string& reason, const RequestKey& key,
                  OnReply reply);
  void prompt_now(const journal::RunName& run, const Json& input, const RequestKey& key, OnReply reply);
  [[nodiscard]] Result<void, HostFailure> upgrade_program(RunId run);
  [[nodiscard]] Result<void, HostFailure> prompt_run(RunId run, const Json& input);
  void say_now(const journal::RunName& run, const std::string& text, SeveralQuestions several, const RequestKey& key,
               OnReply reply);
  /// Answers to several questions that are taken one after the other.
  struct AnswerList {
    journal::RunName run;
    std::vector<GivenAnswer> answers;
    RequestKey key;
    std::uint64_t after = 0;  ///< of the first answer that was taken
  };
  void answer_next(std::shared_ptr<AnswerList> list, std::size_t at, OnReply reply);
  void take_command(const journal::Command& command);
  void touch(RunId run);
  /// Reports the same problem once, until a run is loaded again.
  void report_problem(const std::string& message);
  void release(RunId run);
  void fail_pending(RunId run, const HostFailure& failure);
  [[nodiscard]] std::int64_t now_ms() const;
  [[nodiscard]] HostFailure stopping() const;

  void on_generation_started(const SentGeneration& generation) override;
  void on_text(RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
               std::string_view piece) override;
  void on_run_ended(RunId run, const EndedRun& ended) override;
  void on_recorded(const RecordBatch& batch) override;

  Parts parts_;
  const HostOptions options_;
  HostCounts counts_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> requests_;
  std::optional<std::chrono::milliseconds> ending_;  ///< once it ends: the grace for effects in progress

  // The host's thread alone.
  std::unique_ptr<journal::Committer> committer_;
  std::unique_ptr<Listener> listeners_;
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<StoreNotes> notes_;
  std::vector<Hosted> hosted_;  ///< by RunId; without a name: not in memory
  std::unordered_map<std::string, RunId> resident_;
  std::map<std::uint64_t, RunId> idle_;  ///< longest idle first
  std::uint64_t idle_counter_ = 0;
  std::vector<RunId> touched_;
  std::vector<RunId> detached_;
  std::unordered_multimap<std::uint32_t, Pending> pending_;  ///< by RunId
  std::set<std::string> under_way_;                          ///< keys of requests
  std::deque<journal::RunName> to_load_;
  std::set<std::string> script_followed_;  ///< runs whose answers a model that follows a script knows of
  std::set<std::uint64_t> commands_under_way_;
  std::optional<std::int64_t> next_due_;
  bool is_due_known_ = false;
  std::int64_t due_not_before_ = 0;
  std::int64_t load_not_before_ = 0;
  std::string reported_problem_;
  std::int64_t retry_ms_ = 0;  ///< how long the last wait for room on the disk was; 0: there is room
  bool is_broken_ = false;
  bool has_inbox_rest_ = true;
  std::atomic<bool> has_inbox_notice_{false};
  std::int64_t inbox_read_at_ = 0;
  std::unique_ptr<journal::Subscription> inbox_;

  std::thread thread_;
};

}  // namespace tenon::runtime
