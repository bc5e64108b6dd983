#include "tests/simulation/owners.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "bytecode/agents.h"
#include "effects/wait_name.h"
#include "json/reader.h"
#include "runtime/host/host.h"
#include "tests/simulation/final_check.h"
#include "tests/simulation/simulation.h"
#include "tests/support/shared_database.h"
#include "tests/support/simulated_store.h"

namespace tenon::simulation {

using journal::OwnerRole;
using journal::RunName;
using std::chrono::milliseconds;
using test::SharedConnection;
using test::SharedDatabase;

namespace {

constexpr milliseconds lease{3'000};
/// How often a connection's thread renews the lease and looks at the others.
constexpr std::int64_t keep_interval_ms = 150;
constexpr std::uint64_t hosts_max = 5;
constexpr std::uint64_t disturbances_max = 12;
/// After which time a client sends a request again, to any process. Longer than a host waits for another's reply.
constexpr std::int64_t client_patience_ms = 40'000;
/// A scenario that takes longer is considered endless.
constexpr std::uint64_t rounds_max = 400'000;
constexpr std::int64_t duration_max_ms = std::int64_t{12} * 60 * 60 * 1'000;

class OwnerProcess;

/// What all processes and clients share, and what survives them.
struct Shared {
  explicit Shared(const OwnersScenario& made) : scenario(made), random(made.seed ^ 0x0e45), database(made.seed) {
    database.on_applied = [this](const journal::Append& append) {
      ledger_of(append.run.text).acknowledge(append);
      has_progress = true;
      if (append.moves_to) ++moves;
    };
  }

  Ledger& ledger_of(std::string_view run) {
    const auto found = std::ranges::find(ledgers, run, [](const auto& ledger) { return ledger->run().text; });
    return found == ledgers.end() ? *ledgers.front() : **found;
  }

  const OwnersScenario& scenario;
  Random random;
  SharedDatabase database;
  std::vector<std::unique_ptr<Ledger>> ledgers;
  bool has_progress = false;                                             ///< something was recorded
  std::function<void(const OwnerProcess& stopped)> let_others_continue;  ///< as long as it is stopped
  std::uint64_t moves = 0;
};

runtime::AgentPools pools_of(const OwnersScenario& scenario, const std::string& here) {
  std::map<std::string, std::string, std::less<>> agents;
  for (const std::string& agent : scenario.placed_agents) {
    agents.emplace(agent, runtime::AgentPools::name_of("", agent));
  }
  return {"", here, std::move(agents)};
}

/// One process: a host of a pool, or a gateway. Everything that is lost when it ends.
class OwnerProcess final : private runtime::HostObserver, private runtime::Listener {
 public:
  OwnerProcess(Shared& shared, std::uint64_t number, OwnerRole role, std::string pool)
      : shared_(shared),
        pool_(std::move(pool)),
        is_gateway_(role == OwnerRole::Gateway),
        skew_ms_(shared.scenario.is_disturbed ? shared.random.between(-2'000, 2'000) : 0),
        rate_percent_(shared.scenario.is_disturbed ? shared.random.between(98, 102) : 100),
        started_at_(shared.database.now_ms),
        clock_(started_at_ + skew_ms_),  // its time always passes: otherwise a lease would not end
        model_(shared.scenario.behaviour, number, clock_, moments_),
        externs_(shared.scenario.behaviour, number, shared.scenario.image->program(), clock_, moments_,
                 [this](std::string_view run) -> Ledger& { return begin_effect(run); }) {
    auto owner = shared.database.join(role, pool_, lease, clock_);
    auto reader = shared.database.connect();
    connection_ = owner.get();
    reader_ = reader.get();
    store_ = std::make_unique<test::SimulatedStore>(std::move(owner), std::move(reader), shared.random.next());
    runtime::HostOptions options;
    options.role = role;
    options.idle_runs_max = shared.random.below(3);
    options.runtime.pools = pools_of(shared.scenario, pool_);
    static constexpr std::uint64_t snapshot_sizes[] = {0, 300, 3'000, 65'536};
    options.runtime.snapshot_bytes_min = snapshot_sizes[shared.random.below(std::size(snapshot_sizes))];
    host_ = std::make_unique<runtime::Host>(
        runtime::Host::Parts{
            .store = *store_,
            .model = model_,
            .extern_caller = &externs_,
            .clock = clock_,
            .random_unit = [&shared] { return static_cast<double>(shared.random.below(1'000)) / 1'000; },
            .images = image_source(shared.scenario.image, nullptr),
            .observer = *this,
            .resolve = [this](const runtime::StartRun& start) { return resolve(start); },
            .listener = this},
        options);
    host_->begin(runtime::Host::DrivenBy::Caller);
  }

  /// Ends as by SIGTERM.
  void leave() {
    host_->end();
    host_.reset();
    store_.reset();
  }
  /// Ends as by `kill -9`: nothing more of it reaches the world.
  void die() {
    is_dead_ = true;
    connection_->die();
    reader_->die();
    host_.reset();
    store_.reset();
  }
  /// When it is continued, its threads run in any order: that of its host may run long before the one that keeps the
  /// lease.
  void freeze(std::int64_t until_ms) {
    frozen_until_ = until_ms;
    kept_at_ = until_ms + static_cast<std::int64_t>(shared_.random.below(keep_interval_ms));
  }
  /// It is stopped between the next record that is durable and what depends on it.
  void freeze_after_record(std::int64_t duration_ms) { freeze_after_record_ms_ = duration_ms; }
  /// It is stopped in the middle of a step, so nothing but time passes in it.
  [[nodiscard]] bool is_within_step() const { return is_within_step_; }
  [[nodiscard]] bool is_host_of(const std::string& pool) const { return !is_gateway_ && pool_ == pool; }
  [[nodiscard]] bool is_frozen() const { return frozen_until_ > shared_.database.now_ms; }
  void cut(std::int64_t until_ms) {
    cut_until_ = until_ms;
    set_cut(true);
  }
  void lose_session() { connection_->lose_session(); }

  void advance_clock() {
    const std::int64_t passed = shared_.database.now_ms - started_at_;
    clock_.advance_to(started_at_ + skew_ms_ + passed * rate_percent_ / 100);
  }
  /// What the threads of its store do by themselves.
  void keep() {
    if (cut_until_ != 0 && cut_until_ <= shared_.database.now_ms) {
      cut_until_ = 0;
      set_cut(false);
    }
    if (is_frozen() || kept_at_ + keep_interval_ms > shared_.database.now_ms) return;
    kept_at_ = shared_.database.now_ms;
    connection_->keep();
  }
  void step() { host_->run_once(milliseconds{0}); }
  [[nodiscard]] runtime::Host& host() { return *host_; }

 private:
  void set_cut(bool is_cut) {
    connection_->set_cut(is_cut);
    reader_->set_cut(is_cut);
  }

  /// An effect of the run begins in this process.
  Ledger& begin_effect(std::string_view run) {
    Ledger& ledger = shared_.ledger_of(run);
    if (is_dead_) ledger.add_problem("an effect begins after the end of its process");
    const journal::OwnerId owner = shared_.database.owner_of({std::string(run)});
    if (owner.number != 0 && owner != connection_->id()) {
      ledger.add_problem("an effect begins in a process that is not the owner of the run any more");
    }
    return ledger;
  }

  Result<runtime::RunStart, std::string> resolve(const runtime::StartRun& wanted) const {
    runtime::RunStart start;
    start.image = shared_.scenario.image;
    if (wanted.agent.empty()) {
      start.function = *runtime::find_function(start.image->program(), wanted.function);
    } else {
      start.agent = bytecode::find_agent(start.image->program(), wanted.agent);
    }
    return start;
  }

  // HostObserver
  void on_recorded(const RunName& run, std::string_view /*agent*/, std::uint64_t first,
                   std::span<const effects::Record> records) override {
    shared_.ledger_of(run.text).tell(first, records);
    if (freeze_after_record_ms_ == 0) return;
    freeze(shared_.database.now_ms + std::exchange(freeze_after_record_ms_, 0));
    is_within_step_ = true;
    shared_.let_others_continue(*this);
    is_within_step_ = false;
  }
  void on_text(const RunName& /*run*/, const runtime::TextProgress& /*text*/) override {}
  void on_changed(const RunName& /*run*/) override {}
  void on_problem(std::string_view /*message*/) override {}
  void on_broken(std::string_view message) override {
    shared_.ledgers.front()->add_problem(fmt::format("a host is broken: {}", message));
  }
  // Listener
  void on_run_started(runtime::RunId run, const runtime::RunIdentity& identity) override {
    names_.insert_or_assign(run.index, std::string(identity.name));
  }
  void on_generation_started(const runtime::SentGeneration& generation) override {
    begin_effect(names_.at(generation.effect.run.index))
        .ask_model(std::string(generation.effect.key), generation.attempt, generation.request.earlier, clock_.now_ms());
  }
  void on_run_ended(runtime::RunId run, const runtime::EndedRun& ended) override {
    const bool is_detached = std::holds_alternative<runtime::RunDetached>(ended.end);
    if (!is_detached) shared_.ledger_of(names_.at(run.index)).tell_run_end();
  }

  Shared& shared_;
  const std::string pool_;
  const bool is_gateway_;
  const std::int64_t skew_ms_;
  const std::int64_t rate_percent_;
  const std::int64_t started_at_;
  SimulatedClock clock_;
  Moments moments_;
  SimulatedModel model_;
  SimulatedExterns externs_;
  std::map<std::uint32_t, std::string> names_;  ///< of runs, by RunId
  SharedConnection* connection_ = nullptr;      ///< this and the next belong to the store
  SharedConnection* reader_ = nullptr;
  std::unique_ptr<test::SimulatedStore> store_;
  std::unique_ptr<runtime::Host> host_;
  std::int64_t frozen_until_ = 0;
  std::int64_t freeze_after_record_ms_ = 0;
  bool is_within_step_ = false;
  std::int64_t cut_until_ = 0;
  std::int64_t kept_at_ = 0;
  bool is_dead_ = false;
};

/// The client of one run: starts it, prompts it, answers its questions, and sends what was not replied to again.
class Client {
 public:
  Client(Shared& shared, Ledger& ledger) : shared_(shared), ledger_(ledger), connection_(shared.database.connect()) {}

  [[nodiscard]] bool is_done() const { return is_done_; }
  /// A line about the run and what the client waits for.
  [[nodiscard]] std::string describe() const {
    const journal::RunHead* const head = shared_.database.find_head(ledger_.run());
    if (head == nullptr) return "\nthe run was never started";
    return fmt::format("\nrun {}: {}, {} records, owner {}, wakes at {:+} ms; the client {}; {}", ledger_.run().text,
                       journal::name_of(head->summary.state), head->records,
                       shared_.database.owner_of(ledger_.run()).number,
                       head->summary.wake_at.value_or(0) - shared_.database.now_ms,
                       is_done_       ? "is done"
                       : !asked_      ? "waits"
                       : asked_->wait ? "answers " + *asked_->wait
                                      : "prompts",
                       head->summary.detail);
  }

  /// Does what there is to do, by one of the processes.
  void act(const std::vector<std::unique_ptr<OwnerProcess>>& processes) {
    if (is_done_) return;
    const journal::RunHead* const head = shared_.database.find_head(ledger_.run());
    if (head == nullptr) return start();
    if (journal::has_ended(head->summary.state)) {
      is_done_ = true;
      return;
    }
    if (asked_ && take_reply()) return;
    if (asked_) {
      if (asked_->sent_at + client_patience_ms > shared_.database.now_ms) return;
      return send(processes);  // the same request, with the same key
    }
    if (processes.empty()) return;
    find_request(*head);
    if (asked_) send(processes);
  }

 private:
  struct Request {
    std::optional<std::string> wait;  ///< none: a prompt
    Json input;
    runtime::RequestKey key;
    std::int64_t sent_at = 0;
  };

  void start() {
    if (started_at_ != 0 && started_at_ + client_patience_ms > shared_.database.now_ms) return;
    started_at_ = shared_.database.now_ms;
    runtime::StartRun start{.program = shared_.scenario.image->hash(), .arguments = Json::object()};
    (shared_.scenario.program->agent.empty() ? start.function : start.agent) =
        shared_.scenario.program->agent.empty() ? "main" : shared_.scenario.program->agent;
    const std::string bytes = runtime::encode({.action = std::move(start), .key = key_of("start")});
    const auto sent = connection_->inbox().send(
        {.run = ledger_.run(), .bytes = bytes, .starts_run = journal::NewCommand::StartsRun::Yes});
    if (!sent) ledger_.add_problem("a start cannot be sent: " + sent.error().message);
  }

  [[nodiscard]] runtime::RequestKey key_of(const std::string& name) const {
    return {.key = ledger_.run().text + "/" + name, .fingerprint = sha256(name)};
  }

  void find_request(const journal::RunHead& head) {
    const std::vector<std::string>& inputs = shared_.scenario.program->inputs;
    if (head.summary.state == journal::RunState::Idle) {
      if (prompts_ == inputs.size()) {
        is_done_ = true;
      } else {
        asked_ = Request{std::nullopt, Json(inputs[prompts_]), key_of(fmt::format("prompt {}", prompts_))};
      }
      return;
    }
    const Json details = parse_own_json(head.summary.detail);
    for (const Json& question : details.items_or_none()) {
      const std::string wait = question.text_or("wait", "");
      // Others are not answered in time.
      if (wait.empty() || question.contains("until")) continue;
      const std::string answer = make_answer_to(question, wait);
      asked_ = Request{wait, Json(answer), key_of(fmt::format("answer {} {}", wait, answers_[wait]))};
      return;
    }
  }

  [[nodiscard]] std::string make_answer_to(const Json& question, const std::string& wait) const {
    if (question.text_or("type", "").starts_with("{")) {  // a decision about an interrupted call
      const auto given = ledger_.find_given(std::string(effects::key_of_wait(wait)));
      return given ? "{\"value\": " + *given + "}" : "{\"retry\": true}";
    }
    Random random(shared_.scenario.behaviour.seed, question.text_or("question", "") + wait);
    return make_answer(question.get("schema").dump(), random);
  }

  void send(const std::vector<std::unique_ptr<OwnerProcess>>& processes) {
    asked_->sent_at = shared_.database.now_ms;
    if (processes.empty()) return;
    OwnerProcess& process = *processes[shared_.random.below(processes.size())];
    const auto reply = std::make_shared<std::optional<runtime::HostReply>>();
    replies_.push_back(reply);
    const auto on_reply = [reply](runtime::HostReply given) { reply->emplace(std::move(given)); };
    if (asked_->wait) {
      process.host().resume(ledger_.run(), *asked_->wait, asked_->input, asked_->key, on_reply);
    } else {
      process.host().prompt(ledger_.run(), asked_->input, asked_->key, on_reply);
    }
  }

  /// Any of the replies to the request, which may have been sent several times.
  bool take_reply() {
    for (const auto& reply : replies_) {
      if (!*reply) continue;
      const runtime::HostReply given = std::move(**reply);
      reply->reset();
      if (!given && given.error().kind == runtime::HostFailure::Kind::Unavailable) {
        asked_->sent_at = std::min(asked_->sent_at, shared_.database.now_ms - client_patience_ms + 1'000);
        continue;  // it is sent again
      }
      if (!given && !is_expected(given.error())) {
        ledger_.add_problem(fmt::format("a request is refused: {}", given.error().message));
      }
      if (given) {
        asked_->wait ? ++answers_[*asked_->wait] : ++prompts_;
      }
      asked_.reset();
      replies_.clear();
      return true;
    }
    return false;
  }

  /// The question may have been given up meanwhile, and a request with the same key may be in progress.
  [[nodiscard]] static bool is_expected(const runtime::HostFailure& why) {
    using Kind = runtime::HostFailure::Kind;
    return why.kind == Kind::Conflict || why.kind == Kind::Raced;
  }

  Shared& shared_;
  Ledger& ledger_;
  std::unique_ptr<SharedConnection> connection_;
  std::optional<Request> asked_;
  std::vector<std::shared_ptr<std::optional<runtime::HostReply>>> replies_;
  std::map<std::string, std::uint64_t> answers_;  ///< that were accepted, by question
  std::uint64_t prompts_ = 0;                     ///< that were accepted
  std::int64_t started_at_ = 0;
  bool is_done_ = false;
};

class OwnersSimulation {
 public:
  explicit OwnersSimulation(const OwnersScenario& scenario) : scenario_(scenario), shared_(scenario) {
    shared_.database.ignores_leases = scenario.ignores_leases;
    if (scenario.is_disturbed) {
      shared_.database.lost_notices_one_in = shared_.random.one_in(2) ? 3 : 0;
      shared_.database.lost_commits_one_in = shared_.random.one_in(2) ? 20 : 0;
    }
    for (std::uint64_t run = 0; run < scenario.runs; ++run) {
      const std::uint64_t number = scenario.behaviour.seed % 100'000'000 * 10 + run;
      shared_.ledgers.push_back(std::make_unique<Ledger>(RunName{fmt::format("01{:024}", number)}));
      clients_.push_back(std::make_unique<Client>(shared_, *shared_.ledgers.back()));
    }
    for (const std::string& agent : scenario.placed_agents) {
      pools_.push_back(runtime::AgentPools::name_of("", agent));
    }
    shared_.let_others_continue = [this](const OwnerProcess& stopped) {
      while (stopped.is_frozen() && !has_problem()) round();
    };
    for (std::uint64_t host = 0; host < scenario.hosts; ++host) add_process(OwnerRole::Host);
  }

  OwnersReport simulate() {
    const std::int64_t started_at = shared_.database.now_ms;
    std::uint64_t rounds = 0;
    while (!is_done() && !has_problem()) {
      if (++rounds > rounds_max || shared_.database.now_ms - started_at > duration_max_ms) {
        add_problem(fmt::format("not done after {} rounds and {} s{}", rounds,
                                (shared_.database.now_ms - started_at) / 1'000, describe_runs()));
        break;
      }
      round();
    }
    processes_.clear();
    return report();
  }

 private:
  void round() {
    advance_time();
    shared_.database.deliver_notices();
    for (const auto& process : processes_) process->keep();
    for (const std::string& pool : pools_) {
      const bool has_host = std::ranges::any_of(processes_, [&](const auto& one) { return one->is_host_of(pool); });
      if (!has_host && shared_.random.one_in(4)) add_process(OwnerRole::Host, pool);  // an operator starts one
    }
    if (processes_.empty()) return;
    if (scenario_.is_disturbed && disturbances_ < disturbances_max && shared_.random.one_in(60)) disturb();
    if (processes_.empty()) return;
    for (std::uint64_t steps = 1 + shared_.random.below(processes_.size()); steps > 0; --steps) {
      OwnerProcess& process = *processes_[shared_.random.below(processes_.size())];
      if (!process.is_frozen() && !process.is_within_step()) process.step();
    }
    if (shared_.random.one_in(3)) clients_[shared_.random.below(clients_.size())]->act(processes_);
    note_owners();
  }

  /// In small steps while something happens, and then in larger ones.
  void advance_time() {
    quiet_rounds_ = std::exchange(shared_.has_progress, false) ? 0 : quiet_rounds_ + 1;
    const std::uint64_t longest = quiet_rounds_ < 60 ? 8 : quiet_rounds_ < 300 ? 60 : 600;
    shared_.database.now_ms += static_cast<std::int64_t>(shared_.random.below(longest));
    for (const auto& process : processes_) process->advance_clock();
  }

  void add_process(OwnerRole role, const std::string& pool = "") {
    processes_.push_back(std::make_unique<OwnerProcess>(shared_, hosts_++, role, pool));
  }

  /// While it left, others may have been added or removed.
  void remove(const OwnerProcess& process) {
    std::erase_if(processes_, [&](const auto& one) { return one.get() == &process; });
  }

  void disturb() {
    ++disturbances_;
    OwnerProcess& process = *processes_[shared_.random.below(processes_.size())];
    const auto for_a_while = [this] {
      return shared_.database.now_ms + static_cast<std::int64_t>(shared_.random.below(2 * lease.count()));
    };
    switch (shared_.random.below(7)) {
      case 0:
        if (process.is_within_step()) break;
        process.die();
        remove(process);
        break;
      case 1:
        if (shared_.random.one_in(2)) {
          process.freeze(for_a_while());
        } else {
          process.freeze_after_record(static_cast<std::int64_t>(shared_.random.below(2 * lease.count())));
        }
        break;
      case 2:
        process.cut(for_a_while());
        break;
      case 3:
        process.lose_session();
        break;
      case 4:
        if (process.is_frozen() || process.is_within_step()) break;
        process.leave();
        remove(process);
        break;
      case 5:
        process.host().release_waiting(1 + shared_.random.below(3), [](std::size_t /*released*/) {});
        break;
      default:
        if (processes_.size() >= hosts_max) break;
        if (shared_.random.one_in(4)) {
          add_process(OwnerRole::Gateway);
        } else {
          add_process(OwnerRole::Host, pools_[shared_.random.below(pools_.size())]);
        }
        break;
    }
  }

  void note_owners() {
    for (const auto& ledger : shared_.ledgers) {
      const std::uint64_t owner = shared_.database.owner_of(ledger->run()).number;
      if (owner == 0) continue;
      std::uint64_t& known = owners_[ledger->run().text];
      if (known != 0 && known != owner) ++takeovers_;
      known = owner;
    }
  }

  [[nodiscard]] bool is_done() const {
    return std::ranges::all_of(clients_, [](const auto& client) { return client->is_done(); });
  }
  [[nodiscard]] bool has_problem() const {
    return std::ranges::any_of(shared_.ledgers, [](const auto& ledger) { return !ledger->problems().empty(); });
  }
  void add_problem(std::string problem) { shared_.ledgers.front()->add_problem(std::move(problem)); }

  [[nodiscard]] std::string describe_runs() const {
    std::string text;
    for (const auto& client : clients_) text += client->describe();
    return text;
  }

  OwnersReport report() {
    OwnersReport report;
    const auto connection = shared_.database.connect();
    for (const auto& ledger : shared_.ledgers) {
      if (!has_problem()) {
        check_journal(connection->journals(), image_source(scenario_.image, nullptr), *ledger);
      }
      report.problems.insert(report.problems.end(), ledger->problems().begin(), ledger->problems().end());
      report.interactions.push_back(ledger->interaction());
      report.records += ledger->records().size();
      report.repetitions += ledger->repetitions();
    }
    report.hosts = hosts_;
    report.takeovers = takeovers_;
    report.moves = shared_.moves;
    return report;
  }

  const OwnersScenario& scenario_;
  Shared shared_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<OwnerProcess>> processes_;
  std::vector<std::string> pools_ = {""};
  std::map<std::string, std::uint64_t> owners_;  ///< that had the runs last, by run
  std::uint64_t hosts_ = 0;
  std::uint64_t takeovers_ = 0;
  std::uint64_t disturbances_ = 0;
  std::uint64_t quiet_rounds_ = 0;
};

}  // namespace

OwnersReport simulate_owners(const OwnersScenario& scenario) {
  return OwnersSimulation(scenario).simulate();
}

}  // namespace tenon::simulation
