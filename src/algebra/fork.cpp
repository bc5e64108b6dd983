#include "algebra/fork.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "algebra/recorded_parts.h"
#include "bytecode/agents.h"
#include "effects/secret_vault.h"
#include "runtime/conversation.h"
#include "runtime/recording/agent_records.h"
#include "runtime/recording/request_record.h"
#include "runtime/recording/run_journal.h"
#include "runtime/recording/turn_records.h"
#include "runtime/recovery/known_outcomes.h"
#include "runtime/recovery/recovery.h"
#include "runtime/run_core.h"
#include "runtime/run_options.h"

namespace tenon::algebra {
namespace {

/// Feeds the new run's machine with what is taken, and writes its journal.
class Fork {
 public:
  Fork(journal::Store& store, const ForkOptions& options, RecordedParts parts)
      : store_(store), options_(options), parts_(std::move(parts)), journal_(options.name, 0, 0) {}

  Result<PreparedFork, AlgebraError> run(const std::shared_ptr<const runtime::ProgramImage>& image,
                                         effects::Started started) {
    auto kept = runtime::resolve(store_, options_.from, started.arguments);
    if (!kept) return failure(AlgebraError{std::move(kept.error().message)});
    is_other_model_ = (!options_.model.empty() && options_.model != started.settings.model) ||
                      (!options_.judge.empty() && options_.judge != started.settings.judge);
    if (!options_.model.empty()) started.settings.model = options_.model;
    if (!options_.judge.empty()) started.settings.judge = options_.judge;
    if (!options_.libraries.empty()) started.settings.libraries = options_.libraries;
    started.settings.bounds = bytecode::complete(options_.budgets, started.settings.bounds);
    const runtime::RunOptions run_options = runtime::to_options(started.settings);
    journal_.keep_content(image->bundle(), image->hash(), journal::Sharing::Store);
    own_ = started;
    own_.program = image->hash();
    own_.known.reset();
    if (image->has_secrets() && own_.secret_key.empty()) {
      if (options_.secrets == nullptr) return failure(AlgebraError{"there is no key for the program's secrets"});
      const auto key = options_.secrets->prepare();
      if (!key) return failure(AlgebraError{key.error().message});
      own_.secret_key = *key;
    }
    const auto arguments = reseal(std::move(*kept), "");
    if (!arguments) return failure(arguments.error());
    own_.arguments = journal_.keep(*arguments);

    title_ = started.agent.empty() ? started.function : started.agent;
    journal::RunSummary summary;
    summary.state = journal::RunState::Running;
    summary.updated_at = options_.now_ms;
    if (!started.agent.empty()) {
      summary.title = started.agent;
      auto is_idle = run_turns(image, started.agent, run_options);
      if (!is_idle) return failure(std::move(is_idle.error()));
      if (*is_idle) summary.state = journal::RunState::Idle;
    } else {
      summary.title = started.function;
      auto begun = runtime::read_start(*image, started, *arguments);
      if (!begun) return failure(AlgebraError{std::move(begun.error().message)});
      runtime::RunCore core(image, begun->function, std::move(begun->arguments), run_options.budgets,
                            runtime::RunCore::Recording::On);
      if (auto fed = feed(core, nullptr); !fed) return failure(std::move(fed.error()));
    }
    return finish(std::move(summary));
  }

 private:
  /// Feeds what is known until something is requested that is not.
  Result<void, AlgebraError> feed(runtime::RunCore& core, runtime::Conversation* conversation) {
    for (;;) {
      runtime::RunCore::Advance advance;
      do {
        advance = core.advance(UINT64_MAX);
        for (const std::string& key : advance.opened) {
          if (conversation != nullptr) conversation->follow_request(*core.find(key));
          open(core, key);
        }
      } while (!advance.is_quiescent);
      for (effects::FlowRefused& refused : core.take_refusals()) {
        records_.push_back({options_.now_ms, std::move(refused)});
      }
      std::erase_if(matched_, [&](const auto& entry) { return core.find(entry.second.first) == nullptr; });
      std::erase_if(reported_, [&](const std::string& key) { return core.find(key) == nullptr; });
      if (!reported_.empty()) {
        acknowledge(core, std::string(*reported_.begin()));
        continue;
      }
      if (matched_.empty()) return {};
      const auto [key, outcome] = matched_.begin()->second;
      matched_.erase(matched_.begin());
      if (auto delivered = deliver(core, conversation, key, *outcome); !delivered) return delivered;
    }
  }

  /// The turns up to one that is not over with what is known. True when all are.
  Result<bool, AlgebraError> run_turns(const std::shared_ptr<const runtime::ProgramImage>& image,
                                       const std::string& agent, const runtime::RunOptions& run_options) {
    const auto found = bytecode::find_agent(image->program(), agent);
    if (!found) return failure(AlgebraError{"the program has no agent `" + agent + "`"});
    runtime::Conversation conversation(image, *found);
    for (effects::TurnStarted& turn : parts_.turns) {
      auto input = runtime::resolve(store_, options_.from, turn.input);
      if (!input) return failure(AlgebraError{std::move(input.error().message)});
      auto core = conversation.begin(*input, run_options, runtime::RunCore::Recording::On);
      if (!core) return failure(AlgebraError{std::move(core.error().message)});
      turn.input = journal_.keep(std::move(*input));
      records_.push_back({options_.now_ms, turn});
      if (auto fed = feed(**core, &conversation); !fed) return failure(std::move(fed.error()));
      if (!(*core)->end()) {
        forked_.turns_left = static_cast<std::size_t>(&parts_.turns.back() - &turn);
        return false;
      }
      end_turn(**core, conversation);
    }
    return true;
  }

  void end_turn(const runtime::RunCore& core, runtime::Conversation& conversation) {
    runtime::TurnOutcome outcome = runtime::RunFailed{};
    if (const auto* const finished = std::get_if<vm::Finished>(&*core.end())) {
      outcome = finished->value;
    } else if (const auto* const failed = std::get_if<vm::Failed>(&*core.end())) {
      outcome = runtime::RunFailed{failed->report};
    }
    for (effects::RecordBody& body : runtime::end_turn(conversation, core, outcome, journal_)) {
      records_.push_back({options_.now_ms, std::move(body)});
    }
  }

  Result<PreparedFork, AlgebraError> finish(journal::RunSummary summary) {
    if (auto kept = keep_remaining(); !kept) return failure(std::move(kept.error()));
    journal_.add({options_.now_ms, std::move(own_)});
    for (effects::Record& record : records_) journal_.add(std::move(record));
    PreparedFork prepared{journal_.take(std::move(summary)), forked_};
    if (!journal::is_too_large(prepared.append)) return prepared;
    return failure(AlgebraError{fmt::format("what the new run takes is more than {} MB; take less with a smaller --at",
                                            journal::append_bytes_max >> 20U)});
  }

  /// What nothing has taken, in the order of the records.
  Result<void, AlgebraError> keep_remaining() {
    std::vector<std::pair<const RecordedOutcome*, Hash>> left;
    for (const auto& [request, outcomes] : parts_.outcomes) {
      for (const RecordedOutcome& outcome : outcomes) {
        if (!outcome.is_taken) left.emplace_back(&outcome, request);
      }
    }
    if (left.empty()) return {};
    std::sort(left.begin(), left.end(), [](const auto& a, const auto& b) { return a.first->record < b.first->record; });
    std::vector<runtime::KnownOutcomes::Entry> entries;
    for (const auto& [outcome, request] : left) {
      runtime::KnownOutcomes::Entry& entry = entries.emplace_back();
      entry.request = request;
      entry.finished = outcome->finished;
      entry.finished.value = journal_.keep(outcome->value);
      if (is_other_model_) entry.finished.cost = {};
    }
    std::string bytes = runtime::KnownOutcomes(1 + records_.size(), std::move(entries)).encode();
    if (bytes.size() > journal::append_bytes_max) {
      return failure(
          AlgebraError{fmt::format("what the new run may take is more than {} MB; take less with a smaller --at",
                                   journal::append_bytes_max >> 20U)});
    }
    own_.known = sha256(bytes);
    journal_.keep_content(std::move(bytes), *own_.known, journal::Sharing::Run);
    return {};
  }

  /// Finds the outcome for a new request, and records the request if there is one. What the program only reports has
  /// its outcome in any case.
  void open(runtime::RunCore& core, const std::string& key) {
    const runtime::OpenRequest& open = *core.find(key);
    const RecordedOutcome* const chosen = take(parts_, open);
    if (chosen == nullptr && !effects::is_notification(open.described.kind)) return;
    records_.push_back({options_.now_ms, runtime::record_request(core, journal_, open, title_, options_.now_ms)});
    if (chosen == nullptr) {
      reported_.insert(key);
    } else {
      matched_.emplace(chosen->record, std::pair(key, chosen));
    }
  }

  /// Of a notification that is not recorded.
  void acknowledge(runtime::RunCore& core, const std::string& key) {
    const runtime::OpenRequest& open = *core.find(key);
    const bytecode::Program& program = core.image()->program();
    vm::Outcome outcome{vm::ReturnedValue{vm::Value::unit()}, {}};
    effects::Finished finished;
    finished.key = key;
    finished.kind = open.described.kind;
    finished.subject = open.described.subject;
    finished.scope = effects::AgentScope(effects::scope_of(open.request, program));
    if (auto form = effects::write_outcome(outcome, open.request, program)) {
      effects::record_outcome(std::move(*form), finished,
                              [&](std::string text) { return journal_.keep(std::move(text)); });
    }
    records_.push_back({options_.now_ms, std::move(finished)});
    core.deliver(key, std::move(outcome));
    reported_.erase(key);
  }

  Result<void, AlgebraError> deliver(runtime::RunCore& core, runtime::Conversation* conversation,
                                     const std::string& key, const RecordedOutcome& recorded) {
    effects::Finished finished = recorded.finished;
    finished.key = key;
    auto value = reseal(recorded.value, key);
    if (!value) return failure(std::move(value.error()));
    finished.value = journal_.keep(*value);
    if (is_other_model_) finished.cost = {};
    auto outcome =
        effects::read_outcome(effects::form_of(finished, *value), core.find(key)->request, core.image()->program());
    if (!outcome) {
      return failure(AlgebraError{fmt::format("run {}, record {}: the outcome does not fit the program: {}",
                                              options_.from.text, recorded.record, outcome.error().message)});
    }
    outcome->usage = effects::usage_of(finished.cost);
    for (effects::RecordBody pause : recorded.pauses) {
      if (auto* const paused = std::get_if<effects::Paused>(&pause)) paused->key = key;
      if (auto* const continued = std::get_if<effects::Continued>(&pause)) {
        auto input = runtime::resolve(store_, options_.from, continued->input);
        if (!input) return failure(AlgebraError{std::move(input.error().message)});
        continued->key = key;
        continued->input = journal_.keep(std::move(*input));
      }
      records_.push_back({options_.now_ms, std::move(pause)});
    }
    const runtime::OpenRequest& open = *core.find(key);
    const effects::AgentScope scope = finished.scope;
    records_.push_back({options_.now_ms, std::move(finished)});
    if (auto text = runtime::plain_answer(open.request, *outcome, core.image()->program())) {
      records_.push_back({options_.now_ms, effects::Said{key, journal_.keep(std::move(*text)), scope}});
    }
    if (conversation != nullptr) conversation->follow_outcome(open, *outcome, core.machine().labels());
    core.deliver(key, std::move(*outcome));
    ++forked_.taken;
    return {};
  }

  /// For the new run what is sealed for the other one.
  [[nodiscard]] Result<std::string, AlgebraError> reseal(std::string json, std::string_view key) const {
    if (!effects::find_seal(json)) return json;
    if (options_.secrets == nullptr) return failure(AlgebraError{"there is no key for the run's secrets"});
    auto sealed = options_.secrets->reseal(json, options_.name.text, key);
    if (!sealed) return failure(AlgebraError{std::move(sealed.error().message)});
    return std::move(*sealed);
  }

  journal::Store& store_;
  const ForkOptions& options_;
  RecordedParts parts_;
  std::string title_;  ///< the function's or the agent's name
  runtime::RunJournal journal_;
  effects::Started own_;
  std::vector<effects::Record> records_;  ///< after the start, which names what remains in the end
  /// Open requests that have an outcome, by its record.
  std::map<std::uint64_t, std::pair<std::string, const RecordedOutcome*>> matched_;
  std::set<std::string> reported_;  ///< open notifications that are not recorded
  bool is_other_model_ = false;
  Forked forked_;
};

}  // namespace

Result<PreparedFork, AlgebraError> prepare_fork(journal::Store& store, const ForkOptions& options,
                                                const std::shared_ptr<const runtime::ProgramImage>& image) {
  auto started = runtime::read_started(store, options.from);
  if (!started) return failure(AlgebraError{std::move(started.error().message)});
  auto parts = read_parts(store, options.from, options.at, PartsRead::UpTo);
  if (!parts) return failure(std::move(parts.error()));
  if (started->known) {
    if (auto added = add_inherited(store, options.from, options.at, *started->known, *parts); !added) {
      return failure(added.error());
    }
  }
  return Fork(store, options, std::move(*parts)).run(image, std::move(*started));
}

Result<void, AlgebraError> commit_fork(journal::Store& store, const PreparedFork& prepared) {
  const auto committed = store.commit({&prepared.append, 1});
  if (!committed) return failure(AlgebraError{committed.error().message});
  if (committed->front()) return failure(AlgebraError{"the store does not take the new run"});
  return {};
}

}  // namespace tenon::algebra
