#include "algebra/fork_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "algebra/interaction.h"
#include "bytecode/agents.h"
#include "effects/effect.h"
#include "runtime/conversation.h"
#include "runtime/recovery/recovery.h"
#include "runtime/run_options.h"

namespace tenon::algebra {
namespace {

/// Of random numbers that are not recorded.
constexpr double assumed_random = 0.5;

/// Feeds the fork's machine with what is recorded, and counts.
class Estimator {
 public:
  Estimator(journal::Store& store, const EstimateOptions& options, RecordedParts parts)
      : store_(store), options_(options), parts_(std::move(parts)) {}

  Result<ForkEstimate, AlgebraError> run(const std::shared_ptr<const runtime::ProgramImage>& image,
                                         effects::Started started) {
    started.settings.bounds = bytecode::complete(options_.budgets, started.settings.bounds);
    const runtime::RunOptions run_options = runtime::to_options(started.settings);
    if (!started.agent.empty()) {
      if (auto done = run_turns(image, started.agent, run_options); !done) return failure(std::move(done.error()));
      return std::move(estimate_);
    }
    const auto arguments = runtime::resolve(store_, options_.from, started.arguments);
    if (!arguments) return failure(AlgebraError{arguments.error().message});
    auto begun = runtime::read_start(*image, started, *arguments);
    if (!begun) return failure(AlgebraError{std::move(begun.error().message)});
    runtime::RunCore core(image, begun->function, std::move(begun->arguments), run_options.budgets,
                          runtime::RunCore::Recording::On);
    if (auto fed = feed(core, nullptr); !fed) return failure(std::move(fed.error()));
    note_end(core);
    return std::move(estimate_);
  }

 private:
  using Done = Result<void, AlgebraError>;

  /// The turns up to the first one in which something is performed: a fork has no later ones.
  Done run_turns(const std::shared_ptr<const runtime::ProgramImage>& image, const std::string& agent,
                 const runtime::RunOptions& run_options) {
    const auto found = bytecode::find_agent(image->program(), agent);
    if (!found) return failure(AlgebraError{"the program has no agent `" + agent + "`"});
    runtime::Conversation conversation(image, *found);
    estimate_.is_complete = true;
    for (std::size_t turn = 0; turn < parts_.turns.size(); ++turn) {
      auto input = runtime::resolve(store_, options_.from, parts_.turns[turn].input);
      if (!input) return failure(AlgebraError{std::move(input.error().message)});
      auto core = conversation.begin(*input, run_options, runtime::RunCore::Recording::On);
      if (!core) return failure(AlgebraError{std::move(core.error().message)});
      if (auto fed = feed(**core, &conversation); !fed) return fed;
      note_end(**core);
      if (performs_ || !estimate_.is_complete) {
        estimate_.turns_left = parts_.turns.size() - turn - 1;
        return {};
      }
      end_turn(conversation, **core, &*(*core)->end());
    }
    return {};
  }

  void note_end(const runtime::RunCore& core) {
    estimate_.is_complete = core.end().has_value();
    const auto* const failed = core.end() ? std::get_if<vm::Failed>(&*core.end()) : nullptr;
    estimate_.failure = failed == nullptr ? std::string() : failed->report.message;
  }

  Done feed(runtime::RunCore& core, runtime::Conversation* conversation) {
    for (;;) {
      runtime::RunCore::Advance advance;
      do {
        if (instructions_left_ == 0) {
          return failure(AlgebraError{
              fmt::format("the program executes more than {} instructions before it requests anything that is not "
                          "recorded; is there a loop that does not end?",
                          estimate_instructions_max)});
        }
        const std::uint64_t before = core.machine().instructions();
        advance = core.advance(instructions_left_);
        instructions_left_ -= std::min(instructions_left_, core.machine().instructions() - before);
        for (const std::string& key : advance.opened) {
          if (conversation != nullptr) conversation->follow_request(*core.find(key));
          open(core, key);
        }
      } while (!advance.is_quiescent);
      std::erase_if(given_, [&](const auto& entry) { return core.find(entry.first) == nullptr; });
      std::erase_if(matched_, [&](const auto& entry) { return core.find(entry.second.first) == nullptr; });
      if (!given_.empty()) {
        auto [key, outcome] = *given_.begin();
        given_.erase(given_.begin());
        core.deliver(key, std::move(outcome));
      } else if (!matched_.empty()) {
        const auto [key, outcome] = matched_.begin()->second;
        matched_.erase(matched_.begin());
        if (auto delivered = deliver(core, conversation, key, *outcome); !delivered) return delivered;
      } else {
        return {};
      }
    }
  }

  void open(const runtime::RunCore& core, const std::string& key) {
    const runtime::OpenRequest& open = core.open().at(key);
    const effects::EffectKind kind = open.described.kind;
    if (const RecordedOutcome* const chosen = take(parts_, open)) {
      matched_.emplace(chosen->record, std::pair(key, chosen));
      if (chosen->is_later) note_performed(core, open, chosen->record);
      return;
    }
    if (effects::is_notification(kind)) {
      given_.emplace(key, vm::Outcome{vm::ReturnedValue{vm::Value::unit()}, {}});
      return;
    }
    note_performed(core, open, std::nullopt);
    if (kind == effects::EffectKind::Now) {
      given_.emplace(key, vm::Outcome{vm::ReturnedValue{vm::Value::integer(options_.now_ms)}, {}});
    } else if (kind == effects::EffectKind::Random) {
      given_.emplace(key, vm::Outcome{vm::ReturnedValue{vm::Value::floating(assumed_random)}, {}});
    }
  }

  /// `outcome`: as in EstimatedRequest.
  void note_performed(const runtime::RunCore& core, const runtime::OpenRequest& open,
                      std::optional<std::uint64_t> outcome) {
    const effects::EffectKind kind = open.described.kind;
    if (effects::is_notification(kind)) return;
    performs_ = true;
    const EstimatedRequest request{kind, open.described.subject, core.place_of(open.request), outcome};
    if (!outcome && !estimate_.parting) {
      Parting& parting = estimate_.parting.emplace(Parting{request, {}});
      const auto recorded = parts_.requests.find(open.request.key);
      if (recorded != parts_.requests.end()) parting.recorded = recorded->second;
    }
    switch (effects::performer_of(kind)) {
      case effects::Performer::Model:
        ++estimate_.model_requests;
        break;
      case effects::Performer::Caller:
        ++estimate_.tool_calls;
        break;
      case effects::Performer::Person:
        ++estimate_.questions;
        break;
      case effects::Performer::Timer:
      case effects::Performer::Nothing:
        return;
    }
    if (estimate_.requests.size() < estimated_requests_max) estimate_.requests.push_back(request);
  }

  Done deliver(runtime::RunCore& core, runtime::Conversation* conversation, const std::string& key,
               const RecordedOutcome& recorded) {
    const runtime::OpenRequest& open = *core.find(key);
    auto outcome = effects::read_outcome(effects::form_of(recorded.finished, recorded.value), open.request,
                                         core.image()->program());
    if (!outcome && recorded.is_later) return {};  // what is performed will have another form
    if (!outcome) {
      return failure(AlgebraError{fmt::format("run {}, record {}: the outcome does not fit the program: {}",
                                              options_.from.text, recorded.record, outcome.error().message)});
    }
    outcome->usage = effects::usage_of(recorded.finished.cost);
    if (conversation != nullptr) conversation->follow_outcome(open, *outcome, core.machine().labels());
    if (!recorded.is_later && !effects::is_notification(open.described.kind)) ++estimate_.taken;
    core.deliver(key, std::move(*outcome));
    return {};
  }

  journal::Store& store_;
  const EstimateOptions& options_;
  RecordedParts parts_;
  /// Open requests that have a recorded outcome, by its record.
  std::map<std::uint64_t, std::pair<std::string, const RecordedOutcome*>> matched_;
  std::map<std::string, vm::Outcome> given_;  ///< open requests whose outcome needs no record
  std::uint64_t instructions_left_ = estimate_instructions_max;
  bool performs_ = false;
  ForkEstimate estimate_;
};

}  // namespace

Result<ForkEstimate, AlgebraError> estimate_fork(journal::Store& store, const EstimateOptions& options,
                                                 const std::shared_ptr<const runtime::ProgramImage>& image) {
  auto started = runtime::read_started(store, options.from);
  if (!started) return failure(AlgebraError{std::move(started.error().message)});
  auto parts = read_parts(store, options.from, options.at, PartsRead::Everything);
  if (!parts) return failure(std::move(parts.error()));
  if (started->known) {
    const auto added = add_inherited(store, options.from, options.at, *started->known, *parts);
    if (!added) return failure(added.error());
  }
  return Estimator(store, options, std::move(*parts)).run(image, std::move(*started));
}

}  // namespace tenon::algebra
