#include "runtime/recovery.h"

#include <fmt/format.h>

#include "runtime/run_journal.h"
#include "runtime/run_options.h"

namespace tenon::runtime {
namespace {

/// Records that are read at once.
constexpr std::size_t records_per_read = 4'096;

RecoveryError store_error(const journal::StoreError& error) {
  return {error.message, error.kind == journal::StoreError::Kind::Missing};
}

RecoveryError replay_error(const journal::RunName& run, const ReplayError& error) {
  if (error.record == 0) return {fmt::format("run {}: {}", run.text, error.message)};
  return {fmt::format("run {}, record {}: {}", run.text, error.record, error.message)};
}

}  // namespace

Result<std::string, journal::StoreError> resolve(journal::Store& store, const effects::StoredText& text) {
  if (!text.hash) return text.text;
  return store.content(*text.hash);
}

Result<effects::Started, RecoveryError> read_started(journal::Store& store, const journal::RunName& run) {
  const auto damaged = [&](std::string_view what) {
    return failure(RecoveryError{fmt::format("run {}, record 1: {}", run.text, what)});
  };
  auto first = store.read(run, 0, 1);
  if (!first) return failure(store_error(first.error()));
  if (first->empty()) return damaged("the run has no records");
  auto start = effects::decode_record(first->front().bytes);
  if (!start) return damaged(start.error().message);
  auto* const started = std::get_if<effects::Started>(&start->body);
  if (started == nullptr) return damaged("the run does not begin with its start");
  return std::move(*started);
}

Result<void, RecoveryError> cancel_stored(journal::Store& store, const journal::RunName& run, const std::string& reason,
                                          std::int64_t now_ms) {
  const auto head = store.claim(run);
  if (!head) return failure(store_error(head.error()));
  RunJournal journal(run, head->epoch, head->records);
  journal.add({now_ms, effects::CancelWanted{reason}});
  effects::Ended ended;
  ended.how = effects::Ended::How::Cancelled;
  ended.failure = {types::FailureKind::Cancelled, reason, "", ""};
  journal.add({now_ms, std::move(ended)});
  journal::RunSummary summary;
  summary.state = journal::RunState::Cancelled;
  summary.title = head->summary.title;
  summary.updated_at = now_ms;
  const journal::Append append = journal.take(std::move(summary));
  const auto committed = store.commit({&append, 1});
  if (!committed) return failure(store_error(committed.error()));
  if (committed->front()) return failure(RecoveryError{fmt::format("somebody else goes on with run {}", run.text)});
  return {};
}

Result<RecoveredRun, RecoveryError> recover(journal::Store& store, const journal::RunHead& head,
                                            const ImageSource& images, SnapshotUse use,
                                            const ReplayedGeneration& on_replayed) {
  const journal::RunName& run = head.run;
  const auto damaged = [&](std::uint64_t number, std::string_view what) {
    return failure(RecoveryError{fmt::format("run {}, record {}: {}", run.text, number, what)});
  };
  if (head.summary.state == journal::RunState::Forgotten) {
    return failure(RecoveryError{fmt::format("run {} was forgotten: its contents are gone", run.text)});
  }
  auto started = read_started(store, run);
  if (!started) return failure(std::move(started.error()));
  auto bundle = store.content(started->program);
  if (!bundle) return failure(store_error(bundle.error()));
  auto image = images(started->program, *bundle);
  if (!image) return failure(RecoveryError{fmt::format("run {}: {}", run.text, image.error().message)});

  std::uint64_t after = 1;
  std::uint64_t snapshot_bytes = 0;
  std::optional<RunCore> core;
  if (use == SnapshotUse::Use) {
    auto snapshot = store.snapshot(run);
    if (!snapshot) return failure(store_error(snapshot.error()));
    if (*snapshot) {
      auto read = RunCore::read_snapshot(*image, (*snapshot)->bytes);
      if (!read) return failure(replay_error(run, read.error()));
      core = std::move(*read);
      after = (*snapshot)->after;
      snapshot_bytes = (*snapshot)->bytes.size();
    }
  }
  if (!core) {
    auto arguments = resolve(store, started->arguments);
    if (!arguments) return failure(store_error(arguments.error()));
    auto begun = read_start(**image, *started, *arguments);
    if (!begun) return failure(replay_error(run, begun.error()));
    core.emplace(*image, begun->function, std::move(begun->arguments), to_options(started->settings).budgets,
                 RunCore::Recording::On);
    while (!core->advance(UINT64_MAX).is_at_rest) {
    }
  }
  const auto function = find_function((*image)->program(), started->function);
  if (!function) return damaged(1, "the program has no function `" + started->function + "`");
  RecoveredRun recovered{head, std::move(*started), *function, std::move(*core), std::nullopt, 0, snapshot_bytes};
  for (;;) {
    auto records = store.read(run, after, records_per_read);
    if (!records) return failure(store_error(records.error()));
    if (records->empty()) return recovered;
    for (journal::Record& raw : *records) {
      after = raw.number;
      recovered.bytes_since_snapshot += raw.bytes.size();
      auto record = effects::decode_record(raw.bytes);
      if (!record) return damaged(raw.number, record.error().message);
      if (auto* const ended = std::get_if<effects::Ended>(&record->body)) {
        recovered.ended = std::move(*ended);
        continue;
      }
      if (std::holds_alternative<effects::CancelWanted>(record->body)) continue;
      if (const auto* const finished = std::get_if<effects::Finished>(&record->body)) {
        auto value = resolve(store, finished->value);
        if (!value) return failure(store_error(value.error()));
        const OpenRequest* const open = on_replayed ? recovered.core.find(finished->key) : nullptr;
        if (open != nullptr && effects::is_generation(open->described.kind)) {
          on_replayed(**image, recovered.started.settings, *open, finished->cost.model_calls);
        }
        if (auto taken = recovered.core.take(raw.number, *finished, std::move(*value)); !taken) {
          return failure(replay_error(run, taken.error()));
        }
        continue;
      }
      if (auto taken = recovered.core.take(raw.number, *record, std::move(raw.bytes)); !taken) {
        return failure(replay_error(run, taken.error()));
      }
    }
  }
}

}  // namespace tenon::runtime
