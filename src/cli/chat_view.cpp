#include "cli/chat_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::cli {
namespace {

/// Between two texts of one turn.
constexpr std::string_view paragraph = "\n\n";

}  // namespace

void ChatView::retract(std::string_view reason) {
  if (shown_.empty()) return;
  shown_.clear();
  environment_.write_error(fmt::format("\n[{}]\n", reason));
}

/// The answer of an agent of blocks includes all texts that it has emitted, even if `finally` emits one after its turn.
void ChatView::finish(std::string_view answer) {
  const std::string text(answer);
  std::string rest = text;
  if (shown_.empty() && std::find(emitted_before_.begin(), emitted_before_.end(), text) != emitted_before_.end()) {
    rest.clear();
  } else if (emitted_ && text.starts_with(*emitted_)) {
    const std::string_view unseen = std::string_view(text).substr(emitted_->size());
    if (!shown_.empty() && unseen != std::string(paragraph) + shown_)
      retract("the text above is not the answer; the answer is:");
    rest = shown_.empty() ? std::string(unseen) : std::string();
  } else if (emitted_ && text.ends_with(std::string(paragraph) + *emitted_)) {
    retract("the text above is not the answer; the answer is:");
    environment_.write_error("\n[part of the answer is shown above; the whole answer is:]\n");
  } else {
    if (!text.starts_with(shown_)) retract("the text above is not the answer; the answer is:");
    rest = text.substr(shown_.size());
    if (shown_.empty() && !rest.empty()) separate();
  }
  environment_.write_output(rest);
  environment_.write_output("\n");
  reset();
}

void ChatView::abandon() {
  retract("the text above is not part of the conversation");
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

/// Ignores the texts of agents that this one has called.
void ChatView::on_recorded(const runtime::RecordBatch& batch) {
  Listeners::on_recorded(batch);
  for (const effects::Record& record : batch.records) {
    const auto reported = runtime::find_program_event(batch, record);
    if (!reported || reported->kind != effects::EffectKind::Emitted || reported->scope.depth > 0) continue;
    show_emitted(reported->scope.agent, reported->text);
  }
}

void ChatView::show_emitted(const std::string& agent, const std::string& text) {
  if (!text.starts_with(shown_)) retract("the text above was replaced by:");
  const std::string_view rest = std::string_view(text).substr(shown_.size());
  if (shown_.empty()) separate();
  environment_.write_output(rest);
  if (emitted_ && emitter_ != agent) emitted_before_.push_back(*std::exchange(emitted_, std::nullopt));
  emitter_ = agent;
  emitted_ = emitted_ ? *emitted_ + std::string(paragraph) + text : text;
  shown_.clear();
  answering_.clear();
}

void ChatView::on_generation_started(const runtime::SentGeneration& generation) {
  Listeners::on_generation_started(generation);
  if (pieces_ != Pieces::Shown || !generation.is_streamed_output) return;
  answering_ = generation.effect.key;
  answer_ = {};
}

void ChatView::on_text(runtime::RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
                       std::string_view piece) {
  if (answering_.empty() || key != answering_) return Listeners::on_text(run, key, attempt, transport_attempt, piece);
  if (const std::pair newest{attempt, transport_attempt}; newest != attempt_) {
    retract("the answer starts again");
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
