#include "server/turn_follower.h"

namespace tenon::server {

std::vector<TurnFollower::Step> TurnFollower::take(std::size_t bytes_max) {
  std::vector<Step> steps;
  if (is_over_) return steps;
  for (const EventReader::Read& read : reader_->take(bytes_max)) {
    const protocol::Event& event = *read.event;
    has_news_ = has_news_ || event.number > 0;
    steps.push_back({nlohmann::json::parse(event.json, nullptr, false), event.kind, read.is_answer});
    switch (event.kind) {
      case protocol::EventKind::TurnEnd:
      case protocol::EventKind::TurnFailed:
      case protocol::EventKind::TurnCancelled:
        if (steps.back().event.value("depth", 0) > 0) continue;
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
    const auto details = nlohmann::json::parse(head->summary.detail, nullptr, false);
    waits_ = nlohmann::json::array();
    for (const auto& detail : details) {
      if (detail.is_object() && detail.contains("wait")) waits_.push_back(detail);
    }
    is_over_ = !waits_.empty();  // otherwise it waits only for a timer or a service
  }
  if (head->summary.state == journal::RunState::Idle) is_over_ = true;
  return steps;
}

}  // namespace tenon::server
