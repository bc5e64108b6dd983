#include "server/answer_text.h"

#include <utility>

namespace tenon::server {
namespace {

constexpr std::string_view white = " \t\r\n";
constexpr std::string_view paragraph = "\n\n";

}  // namespace

std::string AnswerText::take(const nlohmann::json& delta) {
  const auto attempt = delta.value("attempt", std::uint64_t{0});
  const auto offset = delta.value("offset", std::uint64_t{0});
  const auto generation = delta.value("generation", std::string());
  // Another attempt, another generation, or a piece that was missed: the value will say what is right.
  if (attempt > 0 || offset != next_offset_ || (offset > 0 && generation != generation_)) is_void_ = true;
  if (is_void_) return {};
  generation_ = generation;
  const auto piece = delta.value("text", std::string());
  next_offset_ += piece.size();
  std::string text = held_ + piece;
  if (!has_pieces_) text.erase(0, std::min(text.find_first_not_of(white), text.size()));
  const std::size_t last = text.find_last_not_of(white);
  const std::size_t end = last == std::string::npos ? 0 : last + 1;
  held_ = text.substr(end);
  text.resize(end);
  if (!has_pieces_ && text.empty()) held_.clear();
  if (text.empty()) return text;
  if (!std::exchange(has_pieces_, true) && has_emitted_) text.insert(0, paragraph);
  shown_ += text;
  return text;
}

std::string AnswerText::emit(const std::string& text) {
  std::string more = text;
  if (has_shown()) more.insert(0, paragraph);
  has_emitted_ = true;
  shown_ += more;
  return more;
}

std::optional<std::string> AnswerText::finish(const std::string& value) const {
  if (value.starts_with(shown_)) return value.substr(shown_.size());
  if (has_emitted_ && !has_pieces_) return std::string(paragraph) + value;
  return std::nullopt;
}

}  // namespace tenon::server
