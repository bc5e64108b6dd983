#pragma once

#include "engine/event_reader.h"
#include "json/json.h"

namespace tenon::server {

/// Reads a run's events after a request, until the turn has ended or only waits for a person. A chat shows them as one
/// answer.
class TurnFollower {
 public:
  struct Step {
    Json event;
    protocol::EventKind kind = protocol::EventKind::Text;
    bool is_answer = false;  ///< a piece of the turn's answer
  };

  explicit TurnFollower(std::unique_ptr<engine::EventReader> reader) : reader_(std::move(reader)) {}

  void watch(std::function<void()> notify) { reader_->watch(std::move(notify)); }
  [[nodiscard]] std::vector<Step> take(std::size_t bytes_max);
  /// The turn has ended or waits for a person, or reading has failed.
  [[nodiscard]] bool is_over() const { return is_over_; }
  [[nodiscard]] const std::optional<std::string>& problem() const { return reader_->problem(); }
  [[nodiscard]] const journal::RunName& run() const { return reader_->run(); }
  /// Once it is over: the open questions, as the run's summary has them; empty when the turn has ended.
  [[nodiscard]] const Json::Array& waits() const { return waits_; }

 private:
  std::unique_ptr<engine::EventReader> reader_;
  Json::Array waits_;
  bool has_news_ = true;
  bool is_over_ = false;
};

}  // namespace tenon::server
