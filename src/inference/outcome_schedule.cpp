#include "inference/outcome_schedule.h"

#include <string>

#include "base/ensure.h"

namespace tenon::inference {

void OutcomeSchedule::start(GenerationId generation, GenerationSink& sink, GenerationOutcome outcome,
                            std::chrono::milliseconds delay) {
  const Moment moment{now_ + delay, starts_++};
  const bool is_new = moments_.emplace(generation, moment).second;
  ENSURE(is_new);
  pending_.emplace(moment, Pending{generation, &sink, std::move(outcome)});
}

void OutcomeSchedule::cancel(GenerationId generation) {
  const auto moment = moments_.find(generation);
  if (moment == moments_.end()) return;
  const auto pending = pending_.extract(moment->second);
  moments_.erase(moment);
  pending.mapped().sink->on_finished(generation, ModelError{ModelErrorKind::Cancelled, "cancelled", Usage{}});
}

void OutcomeSchedule::report_next() {
  if (pending_.empty()) return;
  now_ = pending_.begin()->first.first;
  const std::uint64_t starts_before = starts_;
  while (!pending_.empty()) {
    const Moment moment = pending_.begin()->first;
    if (moment.first != now_ || moment.second >= starts_before) return;
    const GenerationId generation = pending_.begin()->second.generation;
    GenerationSink& sink = *pending_.begin()->second.sink;
    if (const auto* answer = std::get_if<Answer>(&pending_.begin()->second.outcome)) {
      const std::string text = answer->text;  // outlives a sink that cancels when it hears it
      if (!text.empty()) sink.on_text(generation, 1, text);
    }
    auto pending = pending_.extract(moment);
    if (pending.empty()) continue;  // cancelled just now
    moments_.erase(generation);
    sink.on_finished(generation, std::move(pending.mapped().outcome));
  }
}

}  // namespace tenon::inference
