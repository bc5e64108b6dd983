#include "engine/event_queue.h"

#include <chrono>
#include <variant>

#include "effects/record.h"

namespace tenon::engine {

std::optional<RunEvent> EventQueue::take(std::optional<runtime::RunId> run) {
  if (!run && oldest_.empty()) return std::nullopt;
  const runtime::RunId of = run ? *run : oldest_.begin()->second;
  const auto found = runs_.find(of);
  if (found == runs_.end() || found->second.events.empty()) return std::nullopt;
  auto& events = found->second.events;
  RunEvent taken{of, std::move(events.front().second)};
  oldest_.erase(events.front().first);
  events.pop_front();
  if (!events.empty()) oldest_[events.front().first] = of;
  return taken;
}

void EventQueue::add(runtime::RunId run, Collected& to, protocol::Event event) {
  if (to.events.empty()) oldest_[next_] = run;
  to.events.emplace_back(next_++, std::move(event));
}

void EventQueue::on_run_started(runtime::RunId run, const runtime::RunIdentity& identity) {
  if (is_collecting_) runs_[run] = {std::string(identity.name), std::string(identity.title), {}, {}};
}

void EventQueue::on_run_released(runtime::RunId run) {
  // The id will be another run's.
  const auto found = runs_.find(run);
  if (found == runs_.end()) return;
  if (!found->second.events.empty()) oldest_.erase(found->second.events.front().first);
  runs_.erase(found);
  pieces_.end(run);
}

void EventQueue::on_recorded(const runtime::RecordBatch& batch) {
  const auto found = runs_.find(batch.run);
  if (found == runs_.end()) return;
  Collected& collected = found->second;
  const protocol::Contents contents = [&](const effects::StoredText& stored) -> std::optional<std::string> {
    const auto text = batch.texts.find(*stored.hash);
    if (text == batch.texts.end()) return std::nullopt;
    return text->second;
  };
  // The batch has the run's program; it is not kept.
  collected.values.use({std::shared_ptr<void>(), &batch.program});
  std::uint64_t number = batch.first;
  for (const effects::Record& record : batch.records) {
    const auto* const finished = std::get_if<effects::Finished>(&record.body);
    if (finished != nullptr) pieces_.end(batch.run, finished->key);
    auto event =
        protocol::make_event({collected.name, {collected.title, 0}, number++}, record, contents, collected.values);
    collected.values.follow(record, contents);
    if (event) add(batch.run, collected, std::move(*event));
  }
}

void EventQueue::on_generation_started(const runtime::SentGeneration& generation) {
  const auto found = runs_.find(generation.effect.run);
  if (found != runs_.end()) pieces_.begin(generation, found->second.title);
}

void EventQueue::on_text(runtime::RunId run, std::string_view key, std::uint32_t attempt,
                         std::uint32_t transport_attempt, std::string_view piece) {
  const auto found = runs_.find(run);
  if (found == runs_.end()) return;
  pieces_.add(run, key, {attempt, transport_attempt}, piece, [&](const runtime::TextProgress& progress) {
    if (found->second.events.size() >= events_with_pieces_max) return;
    add(run, found->second,
        protocol::make_text_delta({found->second.name, progress.author, 0}, wall_ms(clock_),
                                  {progress.generation, progress.attempt, progress.offset, progress.piece}));
  });
}

}  // namespace tenon::engine
