#pragma once

#include <nlohmann/json.hpp>

#include "server/event_reader.h"

namespace tenon::server {

/// Reads a run's events from a request on until the turn that it is part of has ended, or asks a person something and
/// does nothing else. What a chat shows as one answer.
class TurnFollower {
 public:
  struct Step {
    nlohmann::json event;
    protocol::EventKind kind = protocol::EventKind::Text;
    bool is_answer = false;  ///< a piece of what the turn says
  };

  explicit TurnFollower(std::unique_ptr<EventReader> reader) : reader_(std::move(reader)) {}

  void watch(std::function<void()> notify) { reader_->watch(std::move(notify)); }
  [[nodiscard]] std::vector<Step> take(std::size_t bytes_max);
  /// The turn has ended, or waits for a person; or reading has failed.
  [[nodiscard]] bool is_over() const { return is_over_; }
  [[nodiscard]] const std::optional<std::string>& problem() const { return reader_->problem(); }
  [[nodiscard]] const journal::RunName& run() const { return reader_->run(); }
  /// Once it is over: what the turn waits for a person to say, as the run's summary has it; empty when it has ended.
  [[nodiscard]] const nlohmann::json& waits() const { return waits_; }

 private:
  std::unique_ptr<EventReader> reader_;
  nlohmann::json waits_ = nlohmann::json::array();
  bool has_news_ = true;
  bool is_over_ = false;
};

/// The text of the last message of the role `user`, in the forms that chats have: a text, or a list of parts. Nothing
/// when there is none.
[[nodiscard]] std::optional<std::string> last_user_text(const inference::answers::Json* messages);

}  // namespace tenon::server
