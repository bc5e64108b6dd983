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
  runs_[run] = {std::string(identity.name), std::string(identity.title), {}};
}

void EventQueue::on_run_released(runtime::RunId run) {
  runs_.erase(run);
  // The id will be another run's.
  std::erase_if(events_, [run](const RunEvent& event) { return event.run == run; });
}

void EventQueue::on_recorded(const runtime::RecordBatch& batch) {
  Watched& watched = runs_[batch.run];
  const protocol::Contents contents = [&](const Hash& hash) -> std::optional<std::string> {
    const auto found = batch.texts.find(hash);
    if (found == batch.texts.end()) return std::nullopt;
    return found->second;
  };
  std::uint64_t number = batch.first;
  for (const effects::Record& record : batch.records) {
    if (const auto* const finished = std::get_if<effects::Finished>(&record.body)) watched.answers.erase(finished->key);
    auto event = protocol::make_event({watched.name, watched.title, 0, number++}, record, contents);
    if (event) events_.push_back({batch.run, std::move(*event)});
  }
}

void EventQueue::on_generation_started(const runtime::SentGeneration& generation) {
  const runtime::PerformedEffect& effect = generation.effect;
  Watched& watched = runs_[effect.run];
  Answer& answer = watched.answers.try_emplace(std::string(effect.key)).first->second;
  answer.depth = effect.depth;
  answer.agent = effect.agent.empty() ? watched.title : std::string(effect.agent);
}

void EventQueue::on_text(runtime::RunId run, std::string_view key, std::uint32_t attempt,
                         std::uint32_t transport_attempt, std::string_view piece) {
  Watched& watched = runs_[run];
  Answer& answer = watched.answers.try_emplace(std::string(key)).first->second;
  const std::pair newest{attempt, transport_attempt};
  if (answer.attempts == 0 || answer.newest != newest) {
    ++answer.attempts;
    answer.newest = newest;
    answer.offset = 0;
  }
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.wall().time_since_epoch()).count();
  events_.push_back({run, protocol::make_text_delta({watched.name, answer.agent, answer.depth, 0}, now,
                                                    {key, answer.attempts - 1, answer.offset, piece})});
  answer.offset += piece.size();
}

}  // namespace tenon::engine
