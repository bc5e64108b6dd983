#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "json/json.h"
#include "runtime/host/host.h"
#include "server/answer_text.h"
#include "server/http_message.h"
#include "server/shown_values.h"
#include "server/turn_follower.h"

namespace tenon::server {

/// The answer to a message as one text: what the agent emits, then the value of its turn, or the question that it asks.
/// Subclasses write it in the format of an API. Used by the server's thread.
class TurnAnswer : public BodySource {
 public:
  enum class Delivery : bool {
    Whole,   ///< the text is needed only at its end
    Pieces,  ///< pieces of the model's answer are shown while they are written
  };
  TurnAnswer(std::unique_ptr<engine::EventReader> reader, ShownValues values, runtime::Host& host, Delivery delivery)
      : turn_(std::move(reader)), values_(std::move(values)), host_(host), delivery_(delivery) {}

  void watch(std::function<void()> notify) override { turn_.watch(std::move(notify)); }
  [[nodiscard]] bool is_done() const override { return is_done_; }
  [[nodiscard]] std::optional<int> status() const override { return status_; }
  [[nodiscard]] std::string break_off(std::string_view reason) override;
  [[nodiscard]] std::string take(std::size_t bytes_max) override;

 protected:
  /// Tokens of all generations of the turn so far.
  struct Usage {
    std::uint64_t input = 0;
    std::uint64_t cached = 0;  ///< a part of `input`
    std::uint64_t output = 0;
  };
  enum class Failure : std::uint8_t { Failed, Cancelled };

  virtual void write_begin(std::string& out) = 0;
  /// The next piece of the text.
  virtual void write_piece(const std::string& piece, std::string& out) = 0;
  /// The text is complete. `wait`: the question with which it ends, as the run's summary has it; null for none.
  virtual void write_end(const Json& wait, std::string& out) = 0;
  virtual void write_failure(Failure failure, const std::string& message, const std::string& code,
                             std::string& out) = 0;

  /// JSON without line breaks; bytes that are not UTF-8 are replaced.
  static std::string dump(const Json& json) { return json.dump(); }
  [[nodiscard]] const journal::RunName& run() const { return turn_.run(); }
  [[nodiscard]] bool is_in_pieces() const { return delivery_ == Delivery::Pieces; }
  /// What was written so far.
  [[nodiscard]] const std::string& text() const { return written_; }
  [[nodiscard]] const Usage& usage() const { return usage_; }
  void set_status(int status) { status_ = status; }

 private:
  void take_step(const TurnFollower::Step& step, std::string& out);
  void emit(const Json& event, std::string& out);
  void finish(std::string& out);
  void end(const std::string& value, const Json& wait, std::string& out);
  void fail(Failure failure, const std::string& message, const std::string& code, std::string& out);
  void fail_voided(std::string& out);
  void write(const std::string& piece, std::string& out);

  TurnFollower turn_;
  ShownValues values_;
  runtime::Host& host_;
  Delivery delivery_;
  AnswerText text_;
  std::string written_;
  Usage usage_;
  bool has_begun_ = false;
  bool is_done_ = false;
  std::optional<int> status_;
};

}  // namespace tenon::server
