#include "algebra/extract.h"

#include <fmt/format.h>

#include <map>

#include "algebra/interaction.h"
#include "algebra/reconstruct.h"

namespace tenon::algebra {
namespace {

using effects::Ended;

/// Collects the calls of a run while its journal is fed to machines.
class Replay final : public runtime::RecoveryObserver {
 public:
  Replay(journal::Store& store, const journal::RunName& run, Form form) : store_(store), run_(run), form_(form) {}

  void on_begun(runtime::RecoveredRun& run, const std::string& input) override {
    Part& part = parts_.emplace_back();
    if (run.conversation) {
      part.cycle.agent = run.conversation->declaration().name;
      part.cycle.input = input;
    } else {
      part.cycle.function = run.started.function;
      part.cycle.arguments = effects::name_secrets(input);
    }
    if (programs_.empty()) add_program(run);
    part.cycle.program = static_cast<std::uint32_t>(programs_.size() - 1);
    part.collector = std::make_unique<Collector>(*programs_.back().sites, *run.image);
    part.collector->keep_labels();
    part.collector->begin(*run.core);
  }
  void on_quiescent(runtime::RecoveredRun& run) override { parts_.back().collector->take_requests(*run.core); }
  void on_outcome(runtime::RecoveredRun& run, const effects::Finished& finished, const std::string& value) override {
    Part& part = parts_.back();
    const CallRequest* const request = part.collector->find(finished.key);
    if (request == nullptr || request->call == CallRequest::no_call) return;
    part.outcomes[request->call] = run.newest_record;
    take_pauses(part, *run.core->find(finished.key), request->call);
    part.order.push_back(part.collector->calls()[request->call].at);
    part.usage.push_back(effects::usage_of(finished.cost));
    part.collector->take_outcome(*run.core, finished.key, effects::form_of(finished, effects::name_secrets(value)));
  }
  void on_cancelled(runtime::RecoveredRun&, const effects::CancelWanted& wanted) override {
    Part& part = parts_.back();
    part.cycle.control.cancel = Control::Cancel{part.order.size(), wanted.reason};
    part.level = order_level;
  }
  void on_turn_ended(runtime::RecoveredRun& run) override {
    const effects::TurnEnded& ended = *run.turn_ended;
    acknowledge_open(run, nullptr);
    end_part(run, ended.how, ended.value, ended.failure);
    parts_.back().cycle.control.keeps_state = ended.how == Ended::How::Failed && ended.agent.empty();
    parts_.back().state = effects::name_secrets(run.conversation->state());
  }

  void on_program_taken(runtime::RecoveredRun& run) override {
    // Before the first turn there is no state, and nothing tells of the program before.
    if (!programs_.empty()) add_program(run);
  }

  Result<Interaction, AlgebraError> finish(runtime::RecoveredRun& run) {
    if (parts_.empty()) return failure(AlgebraError{"nothing was said to the agent"});
    if (!parts_.back().has_ended) {
      acknowledge_open(run, run.conversation.get());
      if (run.ended) {
        end_part(run, run.ended->how, run.ended->value, run.ended->failure);
        if (run.conversation) {
          run.conversation->end(*run.core, nullptr);
          parts_.back().state = effects::name_secrets(run.conversation->state());
        }
      } else {
        take_open_pauses(run);
        parts_.back().cycle.result = machine_result(run);
        parts_.back().collector->finish(*run.core, Collector::RunState::Waits);
        if (run.conversation && run.core->end()) {
          end_turn(*run.conversation, *run.core, &*run.core->end());
          parts_.back().state = effects::name_secrets(run.conversation->state());
        }
      }
    }
    if (!problem_.empty()) return failure(AlgebraError{problem_});
    // As few control facts as are needed: more for the cycle that cannot be rebuilt without.
    std::string problem;
    for (std::size_t tries = 0; tries <= control_levels * parts_.size(); ++tries) {
      Interaction collected;
      const bool is_of_several = form_ < Form::Said && parts_.back().cycle.program > 0;
      collected.artifacts.form = is_of_several ? Form::SeveralPrograms : form_;
      for (const Part& part : parts_) {
        Cycle cycle = part.cycle;
        add_control(run, part, cycle.control);
        const CallSites& sites = *programs_[cycle.program].sites;
        append_cycle(collected, *part.collector, sites, std::move(cycle), part.state);
      }
      std::vector<std::shared_ptr<const runtime::ProgramImage>> images;
      for (std::size_t at = 0; at <= parts_.back().cycle.program; ++at) images.push_back(programs_[at].image);
      auto rebuilt = reconstruct(images, collected.artifacts);
      if (rebuilt && rebuilt->events == collected.events) {
        rebuilt->records = record_numbers();
        rebuilt->origins = origins();
        rebuilt->types = value_types();
        return rebuilt;
      }
      Part& hindered = parts_[rebuilt ? parts_.size() - 1 : rebuilt.error().cycle];
      problem = rebuilt ? "the events differ" : rebuilt.error().message;
      if (hindered.level == control_levels) break;
      ++hindered.level;
    }
    return failure(AlgebraError{"the run cannot be rebuilt from its artifacts, which is a fault of Tenon: " + problem});
  }

 private:
  static constexpr std::size_t order_level = 2;
  /// Bounds, order, usage.
  static constexpr std::size_t control_levels = 3;

  struct Part {
    std::unique_ptr<Collector> collector;
    Cycle cycle;
    std::string state;
    std::vector<std::string> order;
    std::vector<vm::Usage> usage;
    std::map<std::uint32_t, std::uint64_t> outcomes;  ///< by call: the record of its newest outcome
    std::uint64_t end = 0;                            ///< its record
    bool has_ended = false;
    std::size_t level = 0;  ///< of the control facts
  };

  [[nodiscard]] RecordNumbers record_numbers() const {
    RecordNumbers numbers;
    for (const Part& part : parts_) {
      for (const std::uint32_t call : part.collector->order()) {
        const auto outcome = part.outcomes.find(call);
        numbers.calls.push_back(outcome == part.outcomes.end() ? 0 : outcome->second);
      }
      numbers.cycles.push_back(part.end);
    }
    return numbers;
  }

  [[nodiscard]] std::vector<CallOrigin> origins() const {
    std::vector<CallOrigin> all;
    for (const Part& part : parts_) {
      for (const std::uint32_t call : part.collector->order()) all.push_back(part.collector->calls()[call].origin);
    }
    return all;
  }

  [[nodiscard]] ValueTypes value_types() const {
    ValueTypes types;
    for (const Part& part : parts_) {
      const auto& image = programs_[part.cycle.program].image;
      for (const std::uint32_t call : part.collector->order())
        types.calls.push_back(part.collector->calls()[call].types);
      const bytecode::Function& function = image->program().functions[part.collector->function()];
      types.cycles.push_back({&function.parameters, function.result});
      types.programs.push_back(image);
    }
    return types;
  }

  [[nodiscard]] CallResult machine_result(const runtime::RecoveredRun& run) const {
    const bytecode::Program& program = run.image->program();
    const std::uint32_t function = parts_.back().collector->function();
    return result_of(run.core->end(), program.functions[function].result, program.types);
  }

  /// A journal may end between a notification and its outcome. What the program does next without an answer belongs to
  /// the run as it is rebuilt, where notifications come before all else. `conversation`: as for `acknowledge`.
  void acknowledge_open(runtime::RecoveredRun& run, runtime::Conversation* conversation) {
    Collector& collector = *parts_.back().collector;
    while (const auto notification = collector.find_notification(*run.core)) {
      acknowledge(*run.core, *notification, conversation);
      while (!run.core->advance(UINT64_MAX).is_quiescent) {
      }
      collector.take_requests(*run.core);
    }
  }

  void end_part(runtime::RecoveredRun& run, Ended::How how, const effects::StoredText& value,
                const effects::FailureText& failed) {
    Part& part = parts_.back();
    part.has_ended = true;
    part.end = run.newest_record;
    take_open_pauses(run);
    if (how == Ended::How::Returned) {
      auto text = runtime::resolve(store_, run_, value);
      if (!text) problem_ = text.error().message;
      part.cycle.result = effects::name_secrets(text.value_or("null"));
    } else {
      part.cycle.result = Failed{failed.kind, failed.message, failed.blame};
    }
    // A value that could not be recorded, spent memory and a cancel are nothing that the program has come to.
    part.cycle.control.is_stopped = machine_result(run) != part.cycle.result;
    part.collector->finish(*run.core, Collector::RunState::Ended);
  }

  /// What an extern has asked is in the records of its request.
  void take_pauses(Part& part, const runtime::OpenRequest& open, std::uint32_t call) {
    std::vector<Pause> pauses;
    bool is_cut_off = false;
    for (const std::string& bytes : open.records) {
      auto record = effects::decode_record(bytes);
      if (!record) continue;  // `recover` has read it
      auto* const paused = std::get_if<effects::Paused>(&record->body);
      if (paused != nullptr) {
        // A process that ended in the middle of a call is not part of what the run did.
        is_cut_off = paused->why == effects::Paused::Why::CutOff;
        if (is_cut_off) continue;
        pauses.push_back({std::move(paused->question), std::nullopt});
      } else if (const auto* const continued = std::get_if<effects::Continued>(&record->body)) {
        if (is_cut_off) continue;
        auto answer = runtime::resolve(store_, run_, continued->input);
        if (!answer) problem_ = answer.error().message;
        if (answer && !pauses.empty()) pauses.back().answer = std::move(*answer);
      }
    }
    if (!pauses.empty()) part.collector->set_pauses(call, std::move(pauses));
  }

  void take_open_pauses(const runtime::RecoveredRun& run) {
    for (const auto& [key, open] : run.core->open()) {
      const CallRequest* const request = parts_.back().collector->find(key);
      if (request != nullptr && request->call != CallRequest::no_call) take_pauses(parts_.back(), open, request->call);
    }
  }

  static void add_control(const runtime::RecoveredRun& run, const Part& part, Control& control) {
    if (part.level >= 1) control.bounds = run.started.settings.bounds;
    if (part.level >= order_level) control.order = part.order;
    if (part.level >= control_levels) control.usage = part.usage;
  }

  journal::Store& store_;
  const journal::RunName& run_;
  Form form_;
  void add_program(const runtime::RecoveredRun& run) {
    programs_.push_back({run.image, std::make_unique<CallSites>(run.image->program(), form_, parts_.front().cycle)});
  }

  /// A program of the run.
  struct Program {
    std::shared_ptr<const runtime::ProgramImage> image;
    std::unique_ptr<CallSites> sites;
  };
  std::vector<Program> programs_;
  std::vector<Part> parts_;
  std::string problem_;
};

}  // namespace

Result<Interaction, AlgebraError> extract(journal::Store& store, const journal::RunName& run,
                                          const runtime::ImageSource& images, Form form) {
  const auto head = store.head(run);
  if (!head) return failure(AlgebraError{head.error().message});
  Replay replay(store, run, form);
  auto recovered = runtime::recover(store, *head, images, runtime::SnapshotUse::Ignore, {}, &replay);
  if (!recovered) return failure(AlgebraError{std::move(recovered.error().message)});
  auto interaction = replay.finish(*recovered);
  if (!interaction) return failure(AlgebraError{fmt::format("run {}: {}", run.text, interaction.error().message)});
  return interaction;
}

}  // namespace tenon::algebra
