#include "server/turn_follower.h"

#include "inference/answers/json.h"

namespace tenon::server {

using inference::answers::Json;

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
    auto waits = nlohmann::json::parse(head->summary.detail, nullptr, false);
    if (waits.is_array()) waits_ = std::move(waits);
    is_over_ = !waits_.empty();  // otherwise only for time to pass
  }
  if (head->summary.state == journal::RunState::Idle) is_over_ = true;
  return steps;
}

std::optional<std::string> last_user_text(const Json* messages) {
  if (messages == nullptr || !messages->is(Json::Kind::Array)) return std::nullopt;
  const auto text_of = [](const Json* value) -> std::optional<std::string> {
    if (value == nullptr || !value->is(Json::Kind::String)) return std::nullopt;
    return value->as_string();
  };
  const Json::Array& items = messages->items();
  for (auto message = items.rbegin(); message != items.rend(); ++message) {
    if (text_of(message->find("role")) != "user") continue;
    const Json* const content = message->find("content");
    if (auto text = text_of(content)) return text;
    if (content == nullptr || !content->is(Json::Kind::Array)) return std::nullopt;
    std::string text;
    for (const Json& part : content->items()) {
      if (text_of(part.find("type")) == "text") text += text_of(part.find("text")).value_or("");
    }
    return text;
  }
  return std::nullopt;
}

}  // namespace tenon::server
