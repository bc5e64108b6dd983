#include "server/answer_text.h"

#include <algorithm>

namespace tenon::server {
namespace {

constexpr std::string_view paragraph = "\n\n";

}  // namespace

std::string AnswerText::take(const Json& delta) {
  const auto attempt = delta.count_or("attempt", 0);
  const auto offset = delta.count_or("offset", 0);
  const auto generation = delta.text_or("generation", "");
  if (!is_open_ || (generation != generation_ && begun().empty())) {
    is_open_ = true;
    is_void_ = false;
    begin_ = shown_.size();
    generation_ = generation;
    pieces_ = {};
    next_offset_ = 0;
  }
  // Another attempt, another generation, or a missed piece: only the complete text is right.
  if (attempt > 0 || offset != next_offset_ || generation != generation_) is_void_ = true;
  if (is_void_) return {};
  const auto piece = delta.text_or("text", "");
  next_offset_ += piece.size();
  std::string text = pieces_.take(piece);
  if (text.empty()) return text;
  if (begun().empty() && has_shown()) {
    begin_ += paragraph.size();
    text.insert(0, paragraph);
  }
  shown_ += text;
  return text;
}

std::optional<std::string> AnswerText::emit(const std::string& text, std::string_view agent) {
  std::string more = has_shown() ? std::string(paragraph) + text : text;
  const std::size_t begin = !begun().empty() ? begin_ : shown_.size() + more.size() - text.size();
  if (const std::string_view begun = this->begun(); !begun.empty()) {
    if (!text.starts_with(begun)) return std::nullopt;
    more = text.substr(begun.size());
  }
  is_open_ = false;
  if (has_emitted_ && emitter_ != agent) {
    emitted_before_.push_back(shown_.substr(own_begin_, begin - paragraph.size() - own_begin_));
    own_begin_ = begin;
  }
  has_emitted_ = true;
  emitter_ = agent;
  shown_ += more;
  return more;
}

std::optional<std::string> AnswerText::finish(const std::string& value) const {
  const std::string_view own = std::string_view(shown_).substr(own_begin_);
  if (value.starts_with(own)) return value.substr(own.size());
  if (std::find(emitted_before_.begin(), emitted_before_.end(), value) != emitted_before_.end()) return std::string();
  const std::string_view begun = this->begun();
  if (begun.empty()) return std::string(paragraph) + value;
  if (value.starts_with(begun)) return value.substr(begun.size());
  return std::nullopt;
}

}  // namespace tenon::server
