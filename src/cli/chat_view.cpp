#include "cli/chat_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::cli {
namespace {

/// Between two texts that an agent says in one turn.
constexpr std::string_view paragraph = "\n\n";

}  // namespace

void ChatView::take_back(std::string_view why) {
  if (shown_.empty()) return;
  shown_.clear();
  environment_.write_error(fmt::format("\n[{}]\n", why));
}

/// An agent of blocks answers with all that it has emitted, also where `finally` emits something after its turn.
void ChatView::finish(std::string_view answer) {
  const std::string text(answer);
  std::string rest = text;
  if (shown_.empty() && std::find(emitted_before_.begin(), emitted_before_.end(), text) != emitted_before_.end()) {
    rest.clear();
  } else if (emitted_ && text.starts_with(*emitted_)) {
    const std::string_view behind = std::string_view(text).substr(emitted_->size());
    if (!shown_.empty() && behind != std::string(paragraph) + shown_) take_back("that was not the answer; it is:");
    rest = shown_.empty() ? std::string(behind) : std::string();
  } else if (emitted_ && text.ends_with(std::string(paragraph) + *emitted_)) {
    take_back("that was not the answer; it is:");
    environment_.write_error("\n[some of it was said before; the whole of it is:]\n");
  } else {
    if (!text.starts_with(shown_)) take_back("that was not the answer; it is:");
    rest = text.substr(shown_.size());
    if (shown_.empty() && !rest.empty()) separate();
  }
  environment_.write_output(rest);
  environment_.write_output("\n");
  reset();
}

void ChatView::abandon() {
  take_back("this is not part of the conversation");
  if (emitted_) environment_.write_output("\n");
  reset();
}

void ChatView::reset() {
  shown_.clear();
  answering_.clear();
  emitted_.reset();
  emitted_before_.clear();
}

void ChatView::separate() {
  if (emitted_) environment_.write_output(std::string(paragraph));
}

/// What agents say that this one has called is theirs.
void ChatView::on_program_event(runtime::RunId run, const runtime::ProgramEvent& notice) {
  Listeners::on_program_event(run, notice);
  if (notice.kind != effects::EffectKind::Emitted || notice.depth > 0) return;
  const std::string text(notice.text);
  if (!text.starts_with(shown_)) take_back("that was not what is said; it is:");
  const std::string_view rest = std::string_view(text).substr(shown_.size());
  if (shown_.empty()) separate();
  environment_.write_output(rest);
  if (emitted_ && emitter_ != notice.agent) emitted_before_.push_back(*std::exchange(emitted_, std::nullopt));
  emitter_ = notice.agent;
  emitted_ = emitted_ ? *emitted_ + std::string(paragraph) + text : text;
  shown_.clear();
  answering_.clear();
}

void ChatView::on_generation_started(const runtime::EffectPlace& place, std::uint32_t attempt,
                                     const inference::GenerationRequest& request, vm::LabelId label) {
  Listeners::on_generation_started(place, attempt, request, label);
  const bool is_text = request.schema == nullptr && request.text_form == nullptr;
  const bool is_said = pieces_ == Pieces::Shown && is_text && place.machine.is_streamed_output(place.request);
  if (!is_said) return;
  answering_ = place.key;
  answer_ = {};
}

void ChatView::on_text(runtime::RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
                       std::string_view piece) {
  if (answering_.empty() || key != answering_) return Listeners::on_text(run, key, attempt, transport_attempt, piece);
  if (const std::pair newest{attempt, transport_attempt}; newest != attempt_) {
    take_back("the answer begins anew");
    attempt_ = newest;
    answer_ = {};
  }
  const std::string text = answer_.take(piece);
  if (text.empty()) return;
  if (shown_.empty()) separate();
  shown_ += text;
  environment_.write_output(text);
}

}  // namespace tenon::cli
