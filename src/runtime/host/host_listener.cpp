#include "runtime/host/host_listener.h"

namespace tenon::runtime {

void HostListener::on_recorded(const RecordBatch& batch) {
  const auto& [run, program, first, records, texts] = batch;
  parts_.counts.records += records.size();
  parts_.schedule->note_room();
  parts_.residents->note_recorded(run);
  for (const effects::Record& record : records) {
    if (const auto* finished = std::get_if<effects::Finished>(&record.body)) pieces_.end(run, finished->key);
  }
  parts_.observer.on_recorded((*parts_.residents)[run].name, parts_.runtime->title(run), first, records);
  parts_.pending.on_recorded(run, first, records);
}

void HostListener::on_generation_started(const SentGeneration& generation) {
  pieces_.begin(generation, parts_.runtime->title(generation.effect.run));
}

void HostListener::on_text(RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
                           std::string_view piece) {
  pieces_.add(run, key, {attempt, transport_attempt}, piece, [&](const TextProgress& progress) {
    const journal::RunName& name = (*parts_.residents)[run].name;
    parts_.observer.on_text(name, progress);
    if (parts_.wakeups.is_watched(name)) parts_.wakeups.publish(name, encode(progress));
  });
}

void HostListener::repeat_text(RunId run, Follower follower) {
  const journal::RunName& name = (*parts_.residents)[run].name;
  pieces_.repeat(run, [&](const TextProgress& progress) {
    follower == Follower::Observer ? parts_.observer.on_text(name, progress)
                                   : parts_.wakeups.publish(name, encode(progress));
  });
}

void HostListener::on_run_ended(RunId run, const EndedRun& ended) {
  parts_.residents->touch(run);
  if (const auto* detached = std::get_if<RunDetached>(&ended.end)) {
    detached_.emplace_back((*parts_.residents)[run].name, *detached);
    using Kind = HostFailure::Kind;
    const Kind kind = detached->refusal == journal::AppendRefusal::NoteExists ? Kind::Raced
                      : detached->refusal == journal::AppendRefusal::OldEpoch ? Kind::Elsewhere
                                                                              : Kind::Unavailable;
    return parts_.pending.fail(run, {kind, detached->message});
  }
  ++parts_.counts.runs_ended;
  parts_.pending.fail(run, {HostFailure::Kind::Conflict, "the run has ended"});
}

void HostListener::on_run_released(RunId run) {
  pieces_.end(run);
  parts_.pending.fail(run, make_conflict("the run was unloaded before the request was performed"));
}

void HostListener::on_outcome_dropped(RunId run, std::string_view key) {
  parts_.pending.fail_answer(run, key);
}

}  // namespace tenon::runtime
