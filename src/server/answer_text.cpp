#include "server/answer_text.h"

namespace tenon::server {
namespace {

constexpr std::string_view white = " \t\r\n";

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
  if (shown_.empty()) text.erase(0, std::min(text.find_first_not_of(white), text.size()));
  const std::size_t last = text.find_last_not_of(white);
  const std::size_t end = last == std::string::npos ? 0 : last + 1;
  held_ = text.substr(end);
  text.resize(end);
  if (shown_.empty() && text.empty()) held_.clear();
  shown_ += text;
  return text;
}

std::optional<std::string> AnswerText::finish(const std::string& value) const {
  if (!value.starts_with(shown_)) return std::nullopt;
  return value.substr(shown_.size());
}

}  // namespace tenon::server
