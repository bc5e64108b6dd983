#include "inference/thoughts.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/ascii.h"

namespace tenon::inference {
namespace {

constexpr std::string_view white_space = " \t\r\n";
constexpr std::array<std::string_view, 4> tag_names = {"think", "thinking", "thought", "reasoning"};

std::string opening(std::string_view name) {
  return "<" + std::string(name) + ">";
}
std::string closing(std::string_view name) {
  return "</" + std::string(name) + ">";
}

std::string_view without_leading_space(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(white_space), text.size()));
}

/// The name of the opening tag at the start of a text.
std::optional<std::string_view> find_opening(std::string_view text) {
  for (const std::string_view name : tag_names) {
    if (text.starts_with(opening(name))) return name;
  }
  return std::nullopt;
}

}  // namespace

SeparatedText separate_thoughts(std::string_view text) {
  const std::string_view begun = without_leading_space(text);
  if (const auto name = find_opening(begun)) {
    const std::string_view inside = begun.substr(opening(*name).size());
    const std::string close = closing(*name);
    const std::size_t end = inside.find(close);
    if (end == std::string_view::npos) return {trimmed(inside), {}, true};
    return {trimmed(inside.substr(0, end)), without_leading_space(inside.substr(end + close.size()))};
  }
  for (const std::string_view name : tag_names) {
    const std::string close = closing(name);
    const std::size_t end = text.find(close);
    if (end == std::string_view::npos || text.find(opening(name)) < end) continue;
    return {trimmed(text.substr(0, end)), without_leading_space(text.substr(end + close.size()))};
  }
  return {{}, text};
}

std::string ThoughtFilter::add(std::string_view piece) {
  if (stage_ == Stage::Answer) return std::string(piece);
  held_ += piece;
  if (stage_ == Stage::Begin) {
    const std::string_view begun = without_leading_space(held_);
    const auto name = find_opening(begun);
    const bool may_open =
        std::ranges::any_of(tag_names, [&](std::string_view tag) { return opening(tag).starts_with(begun); });
    if (!name && may_open) return {};
    stage_ = name ? Stage::Thoughts : Stage::Answer;
    if (name) {
      name_ = *name;
      held_ = std::string(begun.substr(opening(*name).size()));
    }
  }
  if (stage_ == Stage::Thoughts) {
    const std::string close = closing(name_);
    const std::size_t end = held_.find(close);
    if (end == std::string::npos) {
      // The beginning of the closing tag may be at the end.
      if (held_.size() >= close.size()) held_.erase(0, held_.size() - close.size() + 1);
      return {};
    }
    held_.erase(0, end + close.size());
    stage_ = Stage::End;
  }
  if (stage_ == Stage::End) {
    held_ = std::string(without_leading_space(held_));
    if (held_.empty()) return {};
    stage_ = Stage::Answer;
  }
  std::string answer;
  answer.swap(held_);
  return answer;
}

}  // namespace tenon::inference
