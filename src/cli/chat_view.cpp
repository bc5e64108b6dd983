#include "cli/chat_view.h"

#include <fmt/format.h>

namespace tenon::cli {
namespace {

/// What the terminal would take for a command is left out.
std::string printable(std::string_view text) {
  std::string shown;
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (code >= 0x20 || character == '\n' || character == '\t') shown += character;
  }
  return shown;
}

}  // namespace

void ChatView::take_back(std::string_view why) {
  if (shown_.empty()) return;
  shown_.clear();
  environment_.write_error(fmt::format("\n[{}]\n", why));
}

void ChatView::finish(std::string_view answer) {
  const std::string text = printable(answer);
  if (!text.starts_with(shown_)) take_back("that was not the answer; it is:");
  environment_.write_output(text.substr(shown_.size()));
  environment_.write_output("\n");
  shown_.clear();
  answering_.clear();
}

void ChatView::abandon() {
  take_back("this is not part of the conversation");
  answering_.clear();
}

void ChatView::on_generation_started(const runtime::EffectPlace& place, std::uint32_t attempt,
                                     const inference::GenerationRequest& request, vm::LabelId label) {
  Listeners::on_generation_started(place, attempt, request, label);
  const bool is_text = request.schema == nullptr && request.text_form == nullptr;
  const bool is_turns = is_text && place.machine.call_stack(place.request).entries.size() == 1;
  if (is_turns) answering_ = place.key;
}

void ChatView::on_text(runtime::RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
                       std::string_view piece) {
  if (answering_.empty() || key != answering_) return Listeners::on_text(run, key, attempt, transport_attempt, piece);
  if (const std::pair newest{attempt, transport_attempt}; newest != attempt_) {
    take_back("the answer begins anew");
    attempt_ = newest;
  }
  const std::string text = printable(piece);
  shown_ += text;
  environment_.write_output(text);
}

}  // namespace tenon::cli
