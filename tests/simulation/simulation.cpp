#include "tests/simulation/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/ensure.h"
#include "effects/wait_name.h"
#include "journal/open_store.h"
#include "runtime/recovery/loaded_run.h"
#include "runtime/runtime.h"
#include "tests/simulation/final_check.h"
#include "tests/support/faulty_disk.h"
#include "tests/support/temporary_folder.h"

namespace tenon::simulation {

using runtime::RunId;
using test::FaultyDisk;

namespace {

/// A scenario that needs more processes, or a process that needs more steps, is considered endless.
constexpr std::uint64_t lives_max = 40;
constexpr std::uint64_t steps_max = 5'000;
/// Longer than any effect takes.
constexpr std::chrono::milliseconds drain_time{200'000};

/// The files need not survive the machine, and memory is faster than a disk.
std::filesystem::path fastest_disk() {
  return std::filesystem::exists("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
}

/// Reports every notification to the ledger.
class Ear final : public runtime::Listener {
 public:
  Ear(Ledger& ledger, Moments& moments, SimulatedClock& clock) : ledger_(ledger), moments_(moments), clock_(clock) {}
  void on_generation_started(const runtime::SentGeneration& generation) override {
    ledger_.ask_model(std::string(generation.effect.key), generation.attempt, generation.request.earlier,
                      clock_.now_ms());
  }
  void on_run_ended(RunId /*run*/, const runtime::EndedRun& ended) override {
    if (!std::holds_alternative<runtime::RunDetached>(ended.end)) ledger_.tell_run_end();
  }
  void on_recorded(const runtime::RecordBatch& batch) override {
    ledger_.tell(batch.first, batch.records);
    moments_.pass();
  }

 private:
  Ledger& ledger_;
  Moments& moments_;
  SimulatedClock& clock_;
};

/// One process: everything that is lost when it ends.
struct Process {
  Process(const Scenario& scenario, std::uint64_t life, journal::Store& store, SimulatedClock& clock, Moments& moments,
          Ledger& ledger, Random& random)
      : model(scenario.behaviour, life, clock, moments),
        externs(scenario.behaviour, life, scenario.image->program(), clock, moments,
                [&ledger](std::string_view /*run*/) -> Ledger& { return ledger; }),
        ear(ledger, moments, clock),
        gate(store, ledger, moments, scenario.betrayal),
        committer(gate, scenario.behaviour.seed + 47 * life) {
    runtime::RuntimeOptions options;
    static constexpr std::uint64_t snapshot_sizes[] = {0, 300, 3'000, 65'536};
    options.snapshot_bytes_min = snapshot_sizes[random.below(std::size(snapshot_sizes))];
    options.slice_instructions = random.one_in(2) ? 500'000 : 1 + random.below(200);
    options.patience = std::chrono::milliseconds(random.below(3) * 500);
    runtime.emplace(
        runtime::RuntimeDependencies{
            .model = model,
            .extern_caller = &externs,
            .clock = clock,
            .listener = &ear,
            .random_unit = [&random] { return static_cast<double>(random.below(1U << 20U)) / (1U << 20U); },
            .store = &gate,
            .committer = random.one_in(4) ? nullptr : &committer,
            .prompter = nullptr},
        options);
  }

  SimulatedModel model;
  SimulatedExterns externs;
  Ear ear;
  GatedStore gate;
  SimulatedCommitter committer;
  std::optional<runtime::Runtime> runtime;
  RunId run;
};

class Simulation {
 public:
  explicit Simulation(const Scenario& scenario)
      : scenario_(scenario),
        random_(scenario.behaviour.seed ^ 0x5eed),
        ledger_(journal::RunName{fmt::format("01{:024}", scenario.behaviour.seed % 1'000'000'000)}),
        path_(folder_.file("store.db")) {}

  Report simulate() {
    Report report;
    while (!is_done_ && ledger_.problems().empty()) {
      if (life_ == lives_max) {
        ledger_.add_problem(fmt::format("not done after {} processes", lives_max));
        break;
      }
      plan_ = life_ < scenario_.lives.size() ? scenario_.lives[life_] : Disturbed{};
      live();
      if (life_ == 0) {
        report.moments = moments_.count();
        report.disk_operations = disk_.operations();
      }
      ++life_;
    }
    if (ledger_.problems().empty()) {
      disk_.heal();
      store_.reset();
      check_final({path_, disk_.name(), image_source(scenario_.image, scenario_.newer), ledger_});
    }
    report.problems = ledger_.problems();
    report.interaction = ledger_.interaction();
    report.records = ledger_.records().size();
    report.repetitions = ledger_.repetitions();
    report.lives = life_;
    report.is_cancelled = ledger_.is_cancelled();
    return report;
  }

 private:
  [[nodiscard]] bool is_disk_plan() const {
    return plan_.what == Disturbance::TearWrite || plan_.what == Disturbance::FailWrite ||
           plan_.what == Disturbance::FillDisk;
  }

  void arm() {
    constexpr std::uint64_t for_ever = UINT64_MAX / 2;
    const auto what = is_disk_plan() || plan_.what == Disturbance::None ? Moments::What::Nothing
                      : plan_.what == Disturbance::EndProcess           ? Moments::What::EndProcess
                                                                        : Moments::What::Stop;
    moments_.arm(plan_.at, what);
    if (plan_.what == Disturbance::TearWrite) disk_.fail_at(plan_.at, FaultyDisk::Fault::InputOutput, for_ever);
    if (plan_.what == Disturbance::FailWrite) disk_.fail_at(plan_.at, FaultyDisk::Fault::InputOutput);
    if (plan_.what == Disturbance::FillDisk) disk_.fail_at(plan_.at, FaultyDisk::Fault::NoSpace, random_.below(4));
  }

  /// Runs one process from start to end.
  void live() {
    arm();
    bool has_power = true;
    process_.reset();
    try {
      if (open_store() && begin()) drive();
      if (disk_.has_failed() && plan_.what == Disturbance::TearWrite) has_power = false;
    } catch (const ProcessEnd&) {
      has_power = false;
    }
    if (!has_power) {
      disk_.cut_power(random_.one_in(2) ? std::optional(random_.next()) : std::nullopt);
      process_.reset();
      store_.reset();
      disk_.restart();
      return;
    }
    const bool keeps_store = plan_.what == Disturbance::FillDisk && !is_done_;
    disk_.heal();
    process_.reset();
    if (!keeps_store) store_.reset();
  }

  /// False: the disk has failed, as injected.
  bool open_store() {
    if (store_ == nullptr) {
      journal::StoreOptions options;
      options.disk = disk_.name();
      options.checkpoint_pages = random_.one_in(2) ? 4 : journal::default_checkpoint_pages;
      if (scenario_.betrayal == Betrayal::SyncsTooLittle) options.durability = journal::Durability::Process;
      auto store = journal::open_store(path_, options);
      if (!store) return expect_failed_disk("the store cannot be opened: " + store.error().message);
      store_ = std::move(*store);
    }
    const auto records = store_->journals().read(ledger_.run(), 0, SIZE_MAX);
    if (!records && records.error().kind != journal::StoreError::Kind::Missing) {
      return expect_failed_disk("the records cannot be read: " + records.error().message);
    }
    ledger_.recover(records ? *records : std::vector<journal::Record>{});
    return ledger_.problems().empty();
  }

  bool expect_failed_disk(std::string problem) {
    if (!is_disk_plan() || !disk_.has_failed()) ledger_.add_problem(std::move(problem));
    return false;
  }

  std::unique_ptr<Process> make_process() {
    return std::make_unique<Process>(scenario_, life_, store_->journals(), clock_, moments_, ledger_, random_);
  }

  bool begin() {
    process_ = make_process();
    if (!ledger_.records().empty()) return resume(*process_, [this] { moments_.pass(); });
    if (scenario_.program->agent.empty()) {
      const auto function = runtime::find_function(scenario_.image->program(), "main");
      std::vector<vm::Argument> arguments;
      arguments.push_back({vm::Value::empty_context(), std::nullopt});
      process_->run = process_->runtime->start(scenario_.image, *function, std::move(arguments), {}, ledger_.run());
    } else {
      const auto& agents = scenario_.image->program().agents;
      const auto agent = std::find_if(agents.begin(), agents.end(), [&](const bytecode::Agent& declared) {
        return declared.name == scenario_.program->agent;
      });
      process_->run = process_->runtime->start_conversation(
          scenario_.image, static_cast<std::uint32_t>(agent - agents.begin()), {}, ledger_.run());
    }
    return true;
  }

  /// Loads the run as a host does: `meanwhile` is called between the steps, each of which takes time.
  bool resume(Process& process, const std::function<void()>& meanwhile) {
    auto head = claim_run(process.gate, ledger_.run());
    if (!head) return expect_failed_disk("the run cannot be claimed: " + head.error().message);
    meanwhile();
    runtime::LoadedRun loaded(process.gate, std::move(*head), runtime::SnapshotUse::Use);
    meanwhile();
    const auto run = process.runtime->resume(loaded, image_source(scenario_.image, scenario_.newer));
    if (!run) return expect_failed_disk("the run cannot continue: " + run.error().message);
    process.run = *run;
    return true;
  }

  /// Runs until the run is done or the process must end.
  void drive() {
    auto doubts_expected = std::exchange(doubts_after_stop_, std::nullopt);
    for (std::uint64_t step = 0; step < steps_max; ++step) {
      runtime::Runtime& runtime = *process_->runtime;
      const RunId run = process_->run;
      if (moments_.stop()) {
        if (!go_on_after_stop()) return;
        continue;
      }
      const bool drains = plan_.what == Disturbance::Stop && random_.one_in(2);
      runtime.run(&moments_.stop(), [drains] { return drains ? drain_time : std::chrono::milliseconds{0}; });
      if (doubts_expected && ledger_.doubts() != *std::exchange(doubts_expected, std::nullopt)) {
        return ledger_.add_problem("a call is in doubt after a stop that has waited for it");
      }
      if (drains && moments_.stop()) doubts_after_stop_ = ledger_.doubts();
      if (moments_.stop()) continue;
      if (const auto& end = runtime.end(run)) {
        if (const auto* detached = std::get_if<runtime::RunDetached>(&*end)) {
          static_cast<void>(expect_failed_disk("the run is detached: " + detached->message));
        } else {
          is_done_ = true;
        }
        return;
      }
      if (random_.one_in(4)) static_cast<void>(store_->journals().maintain());
      if (const runtime::Conversation* conversation = runtime.conversation(run);
          conversation != nullptr && !conversation->is_in_turn()) {
        is_done_ = conversation->turns() >= scenario_.program->inputs.size();
        if (is_done_) return;
        moments_.pass();
        const bool is_due = scenario_.newer && conversation->turns() == scenario_.program->upgraded_at;
        if (is_due && conversation->taken_program() == nullptr && !runtime.upgrade_program(run, scenario_.newer, {})) {
          return ledger_.add_problem("the newer program does not take over");
        }
        if (!runtime.prompt(run, scenario_.program->inputs[conversation->turns()])) {
          return ledger_.add_problem("a prompt is refused");
        }
        continue;
      }
      if (answer_questions()) continue;
      const auto wakes_at = runtime.wakes_at(run);
      if (!wakes_at) return ledger_.add_problem("the run waits for nothing");
      clock_.advance_to(*wakes_at);
      moments_.pass();
    }
    ledger_.add_problem(fmt::format("not done after {} steps", steps_max));
  }

  /// Answers questions without a timeout; the others are not answered in time. False if there are none.
  bool answer_questions() {
    runtime::Runtime& runtime = *process_->runtime;
    const RunId run = process_->run;
    if (scenario_.behaviour.repeats && !answered_.empty()) {
      const std::string& wait = answered_[random_.below(answered_.size())];
      if (ledger_.has_outcome(wait) && runtime.answer(run, wait, "again")) {
        ledger_.add_problem("a question is answered twice");
      }
    }
    std::vector<runtime::PendingInput> questions = runtime.questions(run);
    std::erase_if(questions, [](const runtime::PendingInput& question) { return question.until.has_value(); });
    if (questions.empty()) return false;
    for (bool continues = true; continues && !questions.empty(); continues = random_.one_in(2)) {
      const std::size_t at = scenario_.behaviour.shuffles ? random_.below(questions.size()) : 0;
      const runtime::PendingInput question = questions[at];
      questions.erase(questions.begin() + static_cast<std::ptrdiff_t>(at));
      if (question.type.starts_with("{")) {
        give_resolution(question);
        answered_.push_back(question.wait);
        moments_.pass();
        continue;
      }
      Random random(scenario_.behaviour.seed + (scenario_.behaviour.varies_answers ? life_ : 0),
                    question.text + question.wait);
      if (question.type == "Fact" && runtime.answer(run, question.wait, "what?")) {
        ledger_.add_problem("an answer of another type is taken");
      }
      if (!runtime.answer(run, question.wait, make_answer(question.schema, random))) {
        ledger_.add_problem("an answer is refused: " + question.text);
      }
      if (runtime.answer(run, question.wait, "again")) ledger_.add_problem("a second answer is taken");
      answered_.push_back(question.wait);
      moments_.pass();
    }
    return true;
  }

  /// A person's decision about an interrupted call. The person looks up what it has done in the world; if the outcome
  /// need not equal that of the undisturbed run, the decision is random.
  void give_resolution(const runtime::PendingInput& question) {
    runtime::Runtime& runtime = *process_->runtime;
    const RunId run = process_->run;
    for (const char* wrong :
         {"done", "{}", "{\"retry\": false}", "{\"value\": \"much\"}", "{\"retry\": true, \"fail\": \"x\"}"}) {
      if (runtime.answer(run, question.wait, wrong))
        ledger_.add_problem(fmt::format("{} is taken as a verdict", wrong));
    }
    const auto given = ledger_.find_given(std::string(effects::key_of_wait(question.wait)));
    std::string verdict = given ? "{\"value\": " + *given + "}" : "{\"retry\": true}";
    if (!scenario_.program->is_confluent && random_.one_in(3)) verdict = make_answer(question.schema, random_);
    if (!runtime.answer(run, question.wait, verdict)) ledger_.add_problem("a verdict is refused: " + verdict);
    if (runtime.answer(run, question.wait, verdict)) ledger_.add_problem("a second verdict is taken");
  }

  /// False: the process must end.
  bool go_on_after_stop() {
    moments_.arm(0, Moments::What::Nothing);
    runtime::Runtime& runtime = *process_->runtime;
    const RunId run = process_->run;
    switch (plan_.what) {
      case Disturbance::Cancel:
        if (!scenario_.program->agent.empty() && random_.one_in(2)) {
          runtime.cancel_turn(run, "requested");
        } else {
          runtime.cancel(run, "requested");
        }
        return !random_.one_in(3);
      case Disturbance::CancelStored:
        process_.reset();
        if (!ledger_.records().empty() && !ledger_.has_ended()) {
          ledger_.allow_cut();
          GatedStore gate(store_->journals(), ledger_, moments_, Betrayal::None);
          if (auto done = runtime::cancel_stored(gate, ledger_.run(), "requested", clock_.now_ms()); !done) {
            ledger_.add_problem("the run cannot be cancelled: " + done.error().message);
          }
        }
        return false;
      case Disturbance::TakeOver: {
        if (ledger_.records().empty()) return false;
        const std::unique_ptr<Process> old = std::exchange(process_, make_process());
        const auto work_on = [this, &old] {
          for (std::uint64_t rounds = random_.below(4); rounds > 0; --rounds) {
            static_cast<void>(old->runtime->poll(std::chrono::milliseconds{0}));
          }
        };
        if (!resume(*process_, work_on)) return false;
        // The old runtime still works on the run as its own.
        old->runtime->cancel(old->run, "too late");
        old->runtime->run();
        const auto& end = old->runtime->end(old->run);
        const bool was_done = ledger_.has_ended();
        if (!was_done && (!end || !std::holds_alternative<runtime::RunDetached>(*end))) {
          ledger_.add_problem("two runtimes work on one run");
        }
        return true;
      }
      case Disturbance::Stop:
      default:
        return false;
    }
  }

  const Scenario& scenario_;
  test::TemporaryFolder folder_{fastest_disk()};
  FaultyDisk disk_;
  SimulatedClock clock_;
  Moments moments_;
  Random random_;
  Ledger ledger_;
  std::string path_;
  std::unique_ptr<journal::StoreConnection> store_;
  std::unique_ptr<Process> process_;
  std::vector<std::string> answered_;
  Disturbed plan_;
  std::optional<std::uint64_t> doubts_after_stop_;  ///< of the ledger, once a process has waited for its calls
  std::uint64_t life_ = 0;
  bool is_done_ = false;
};

}  // namespace

const char* disturbance_name(Disturbance disturbance) {
  static constexpr const char* names[] = {"none", "end",    "tear",          "fail",     "full",
                                          "stop", "cancel", "cancel-stored", "take-over"};
  static_assert(std::size(names) == disturbance_count);
  return names[static_cast<std::size_t>(disturbance)];
}

Report simulate(const Scenario& scenario) {
  return Simulation(scenario).simulate();
}

runtime::ImageSource image_source(std::shared_ptr<const runtime::ProgramImage> image,
                                  std::shared_ptr<const runtime::ProgramImage> newer) {
  return [image = std::move(image), newer = std::move(newer)](const Hash& hash, std::string_view) {
    return newer && newer->hash() == hash ? newer : image;
  };
}

}  // namespace tenon::simulation
