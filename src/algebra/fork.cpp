#include "algebra/fork.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "inference/answers/schema_writer.h"
#include "runtime/recovery.h"
#include "runtime/run_core.h"
#include "runtime/run_journal.h"
#include "runtime/run_options.h"

namespace tenon::algebra {
namespace {

constexpr std::size_t records_per_read = 4'096;

struct RecordedOutcome {
  std::string key;
  std::uint64_t record = 0;
  effects::Finished finished;
  bool is_taken = false;
};

/// By identity of the request, in the order of the records.
using RecordedOutcomes = std::unordered_map<Hash, std::vector<RecordedOutcome>>;

Result<RecordedOutcomes, AlgebraError> read_outcomes(journal::Store& store, const ForkOptions& options) {
  RecordedOutcomes outcomes;
  std::unordered_map<std::string, Hash> identities;
  std::uint64_t after = 0;
  for (;;) {
    auto records = store.read(options.from, after, records_per_read);
    if (!records) return failure(AlgebraError{std::move(records.error().message)});
    if (records->empty()) return outcomes;
    for (const journal::Record& raw : *records) {
      after = raw.number;
      if (raw.number > options.at) return outcomes;
      auto record = effects::decode_record(raw.bytes);
      if (!record) {
        return failure(AlgebraError{fmt::format("run {}, record {}: {}", options.from.text, raw.number, record.error().message)});
      }
      if (const auto* const requested = std::get_if<effects::Requested>(&record->body)) {
        identities[requested->key] = requested->request;
      } else if (auto* const finished = std::get_if<effects::Finished>(&record->body)) {
        const auto identity = identities.find(finished->key);
        if (identity == identities.end()) continue;
        outcomes[identity->second].push_back({finished->key, raw.number, std::move(*finished)});
      }
    }
  }
}

/// Feeds the new run's machine with what is taken, and writes its journal.
class Fork {
 public:
  Fork(journal::Store& store, const ForkOptions& options, RecordedOutcomes outcomes)
      : store_(store), options_(options), outcomes_(std::move(outcomes)), journal_(options.name, 0, 0) {}

  Result<Forked, AlgebraError> run(const std::shared_ptr<const runtime::ProgramImage>& image,
                                   effects::Started started) {
    auto arguments = runtime::resolve(store_, started.arguments);
    if (!arguments) return failure(AlgebraError{std::move(arguments.error().message)});
    auto begun = runtime::read_start(*image, started, *arguments);
    if (!begun) return failure(AlgebraError{std::move(begun.error().message)});
    is_other_model_ = !options_.model.empty() && options_.model != started.settings.model;
    if (!options_.model.empty()) started.settings.model = options_.model;
    if (!options_.libraries.empty()) started.settings.libraries = options_.libraries;
    const std::string title = started.function;
    const vm::MachineOptions budgets = runtime::to_options(started.settings).budgets;
    journal_.keep_content(image->bundle(), image->hash());
    started.program = image->hash();
    started.arguments = journal_.keep(std::move(*arguments));
    journal_.add({options_.now_ms, std::move(started)});

    runtime::RunCore core(image, begun->function, std::move(begun->arguments), budgets,
                          runtime::RunCore::Recording::On);
    for (;;) {
      runtime::RunCore::Advance advance;
      do {
        advance = core.advance(UINT64_MAX);
        for (const std::string& key : advance.opened) open(core, key);
      } while (!advance.is_at_rest);
      std::erase_if(matched_, [&](const auto& entry) { return core.find(entry.second.first) == nullptr; });
      if (matched_.empty()) break;
      const auto [key, outcome] = matched_.begin()->second;
      matched_.erase(matched_.begin());
      if (auto delivered = deliver(core, key, *outcome); !delivered) return failure(std::move(delivered.error()));
    }
    journal::RunSummary summary;
    summary.state = journal::RunState::Running;
    summary.title = title;
    summary.updated_at = options_.now_ms;
    const journal::Append append = journal_.take(std::move(summary));
    const auto committed = store_.commit({&append, 1});
    if (!committed) return failure(AlgebraError{committed.error().message});
    if (committed->front() == journal::AppendRefusal::TooLarge) {
      return failure(AlgebraError{fmt::format("what the new run takes is more than {} MB; take less with a smaller --at",
                                              journal::append_bytes_max >> 20U)});
    }
    if (committed->front()) return failure(AlgebraError{"the store does not take the new run"});
    return forked_;
  }

 private:
  /// Finds the outcome for a new request, and records the request if there is one.
  void open(runtime::RunCore& core, const std::string& key) {
    const runtime::OpenRequest& open = *core.find(key);
    const auto found = outcomes_.find(open.described.identity);
    if (found == outcomes_.end()) return;
    std::vector<RecordedOutcome>& all = found->second;
    auto chosen = std::find_if(all.begin(), all.end(), [&](const auto& one) { return !one.is_taken && one.key == key; });
    if (chosen == all.end()) chosen = std::find_if(all.begin(), all.end(), [](const auto& one) { return !one.is_taken; });
    if (chosen == all.end()) return;
    chosen->is_taken = true;
    effects::Requested requested;
    requested.key = key;
    requested.kind = open.described.kind;
    requested.subject = open.described.subject;
    requested.request = open.described.identity;
    requested.context = open.described.context;
    requested.arguments = journal_.keep(open.described.arguments);
    if (effects::is_generation(requested.kind)) journal_.keep_context(open.request.context);
    if (requested.kind == effects::EffectKind::Ask) {
      const bytecode::Program& program = core.image()->program();
      const types::TypeId answer = program.externs[open.request.subject].result;
      requested.form = journal_.keep(inference::answers::make_schema(program.types, answer));
    }
    requested.place = core.place_of(open.request);
    journal_.add({options_.now_ms, std::move(requested)});
    matched_.emplace(chosen->record, std::pair(key, &*chosen));
  }

  Result<void, AlgebraError> deliver(runtime::RunCore& core, const std::string& key, const RecordedOutcome& recorded) {
    effects::Finished finished = recorded.finished;
    auto value = runtime::resolve(store_, finished.value);
    if (!value) return failure(AlgebraError{std::move(value.error().message)});
    finished.key = key;
    finished.value = journal_.keep(*value);
    if (is_other_model_) finished.cost = {};
    auto outcome = effects::read_outcome({std::move(*value), finished.clause, finished.failure},
                                         core.find(key)->request, core.image()->program());
    if (!outcome) {
      return failure(AlgebraError{fmt::format("run {}, record {}: the outcome does not fit the program: {}",
                                              options_.from.text, recorded.record, outcome.error().message)});
    }
    outcome->usage = effects::usage_of(finished.cost);
    journal_.add({options_.now_ms, std::move(finished)});
    core.deliver(key, std::move(*outcome));
    ++forked_.taken;
    return {};
  }

  journal::Store& store_;
  const ForkOptions& options_;
  RecordedOutcomes outcomes_;
  runtime::RunJournal journal_;
  /// Open requests that have an outcome, by its record.
  std::map<std::uint64_t, std::pair<std::string, const RecordedOutcome*>> matched_;
  bool is_other_model_ = false;
  Forked forked_;
};

}  // namespace

Result<Forked, AlgebraError> fork(journal::Store& store, const ForkOptions& options,
                                  const std::shared_ptr<const runtime::ProgramImage>& image) {
  auto started = runtime::read_started(store, options.from);
  if (!started) return failure(AlgebraError{std::move(started.error().message)});
  auto outcomes = read_outcomes(store, options);
  if (!outcomes) return failure(std::move(outcomes.error()));
  return Fork(store, options, std::move(*outcomes)).run(image, std::move(*started));
}

}  // namespace tenon::algebra
