#include "server/turn_answer.h"

#include <utility>

#include "inference/answers/answer_choices.h"

namespace tenon::server {

using protocol::EventKind;

std::string TurnAnswer::break_off(std::string_view reason) {
  std::string out;
  fail(Failure::Failed, std::string(reason), "draining", out);
  status_ = 503;
  return out;
}

std::string TurnAnswer::take(std::size_t bytes_max) {
  std::string out;
  if (!std::exchange(has_begun_, true)) write_begin(out);
  // A follower returns nothing once when it finds that the turn is over.
  for (bool has_more = true; has_more && !is_done_;) {
    const auto steps = turn_.take(bytes_max);
    for (const TurnFollower::Step& step : steps) {
      take_step(step, out);
      if (is_done_) break;
    }
    if (!is_done_ && turn_.is_over()) finish(out);
    has_more = !steps.empty() && out.size() < bytes_max;
  }
  return out;
}

void TurnAnswer::take_step(const TurnFollower::Step& step, std::string& out) {
  const Json& event = step.event;
  switch (step.kind) {
    case EventKind::TextDelta:
      if (step.is_answer && is_in_pieces()) write(text_.take(event), out);
      return;
    case EventKind::GenerationFinished: {
      const auto tokens = [&](const char* name) { return event.count_or(name, 0); };
      usage_.input += tokens("computed") + tokens("reused");
      usage_.cached += tokens("reused");
      usage_.output += tokens("generated");
      return;
    }
    case EventKind::Text:
      if (event.contains("generation")) return;    // the program decides what becomes of a model's answer
      if (event.count_or("depth", 0) > 0) return;  // it is addressed to the calling agent
      return emit(event, out);
    case EventKind::TurnEnd: {
      if (event.count_or("depth", 0) > 0) return;
      const auto value = values_.turn_value(event);
      return value ? end(shown(*value), nullptr, out) : fail(Failure::Failed, value.error(), "too_long", out);
    }
    case EventKind::TurnFailed:
      return fail(Failure::Failed, event.text_or("message", ""), event.text_or("kind", "failed"), out);
    case EventKind::TurnCancelled:
      return fail(Failure::Cancelled, "the run was cancelled: " + event.text_or("reason", ""), "Cancelled", out);
    default:
      return;
  }
}

void TurnAnswer::emit(const Json& event, std::string& out) {
  const auto text = values_.text(event);
  if (!text) return fail(Failure::Failed, text.error(), "too_long", out);
  const auto more = text_.emit(*text, event.text_or("agent", ""));
  if (!more) return fail_voided(out);
  write(*more, out);
}

/// The answer ends before the turn does: the turn asks a question, or it cannot be read any further. If there are
/// several questions, the oldest is shown, and the next message answers it.
void TurnAnswer::finish(std::string& out) {
  if (turn_.problem()) return fail(Failure::Failed, *turn_.problem(), "damaged", out);
  if (turn_.waits().empty()) return end("", nullptr, out);
  const Json& wait = turn_.waits().front();
  host_.note_shown(turn_.run(), wait.text_or("wait", ""));
  if (text_.has_shown()) write("\n\n", out);
  text_ = AnswerText();
  end(inference::answers::shown_question(wait), wait, out);
}

void TurnAnswer::end(const std::string& value, const Json& wait, std::string& out) {
  const auto rest = text_.finish(value);
  if (!rest) return fail_voided(out);
  write(*rest, out);
  is_done_ = true;
  write_end(wait, out);
}

void TurnAnswer::fail_voided(std::string& out) {
  fail(Failure::Failed, "the model's answer was voided by a second attempt; read the run's value instead", "voided",
       out);
}

void TurnAnswer::fail(Failure failure, const std::string& message, const std::string& code, std::string& out) {
  is_done_ = true;
  status_ = 500;
  write_failure(failure, message, code, out);
}

void TurnAnswer::write(const std::string& piece, std::string& out) {
  if (piece.empty()) return;
  written_ += piece;
  write_piece(piece, out);
}

}  // namespace tenon::server
