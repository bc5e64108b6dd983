#include "engine/event_queue.h"

#include <chrono>
#include <variant>

#include "effects/record.h"

namespace tenon::engine {

std::optional<RunEvent> EventQueue::take() {
  if (events_.empty()) return std::nullopt;
  RunEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void EventQueue::on_run_started(runtime::RunId run, const runtime::RunIdentity& identity) {
  runs_[run] = {std::string(identity.name), std::string(identity.title)};
}

void EventQueue::on_run_released(runtime::RunId run) {
  runs_.erase(run);
  pieces_.end(run);
  // The id will be another run's.
  std::erase_if(events_, [run](const RunEvent& event) { return event.run == run; });
}

void EventQueue::on_recorded(const runtime::RecordBatch& batch) {
  const Watched& watched = runs_[batch.run];
  const protocol::Contents contents = [&](const Hash& hash) -> std::optional<std::string> {
    const auto found = batch.texts.find(hash);
    if (found == batch.texts.end()) return std::nullopt;
    return found->second;
  };
  std::uint64_t number = batch.first;
  for (const effects::Record& record : batch.records) {
    const auto* const finished = std::get_if<effects::Finished>(&record.body);
    if (finished != nullptr) pieces_.end(batch.run, finished->key);
    auto event = protocol::make_event({watched.name, {watched.title, 0}, number++}, record, contents);
    if (event) events_.push_back({batch.run, std::move(*event)});
  }
}

void EventQueue::on_generation_started(const runtime::SentGeneration& generation) {
  pieces_.begin(generation, runs_[generation.effect.run].title);
}

void EventQueue::on_text(runtime::RunId run, std::string_view key, std::uint32_t attempt,
                         std::uint32_t transport_attempt, std::string_view piece) {
  pieces_.add(run, key, {attempt, transport_attempt}, piece, [&](const runtime::TextProgress& progress) {
    events_.push_back(
        {run, protocol::make_text_delta({runs_[run].name, progress.author, 0}, wall_ms(clock_),
                                        {progress.generation, progress.attempt, progress.offset, progress.piece})});
  });
}

}  // namespace tenon::engine
