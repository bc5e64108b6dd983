#include "server/turn_follower.h"

#include "json/reader.h"

namespace tenon::server {

std::vector<TurnFollower::Step> TurnFollower::take(std::size_t bytes_max) {
  std::vector<Step> steps;
  if (is_over_) return steps;
  for (const engine::EventReader::Read& read : reader_->take(bytes_max)) {
    const protocol::Event& event = *read.event;
    has_news_ = has_news_ || event.number > 0;
    steps.push_back({parse_own_json(event.json), event.kind, read.is_answer});
    switch (event.kind) {
      case protocol::EventKind::TurnEnd:
      case protocol::EventKind::TurnFailed:
      case protocol::EventKind::TurnCancelled:
        if (steps.back().event.count_or("depth", 0) > 0) continue;
        is_over_ = true;
        return steps;
      default:
        continue;
    }
  }
  if (reader_->problem() || reader_->is_at_end()) is_over_ = true;
  if (!steps.empty() || !has_news_ || is_over_) return steps;
  has_news_ = false;
  const auto head = reader_->settled_head();
  if (!head) return steps;
  if (head->summary.state == journal::RunState::Waiting) {
    const Json details = parse_own_json(head->summary.detail);
    waits_.clear();
    for (const Json& detail : details.items_or_none()) {
      if (detail.contains("wait")) waits_.push_back(detail);
    }
    is_over_ = !waits_.empty();  // otherwise it waits only for a timer or a service
  }
  if (head->summary.state == journal::RunState::Idle) is_over_ = true;
  return steps;
}

}  // namespace tenon::server
