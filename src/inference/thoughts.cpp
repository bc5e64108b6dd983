#include "inference/thoughts.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace tenon::inference {
namespace {

constexpr std::string_view white_space = " \t\r\n";
struct Tag {
  std::string_view opening;
  std::string_view closing;
};
constexpr std::array<Tag, 4> tags = {{{"<think>", "</think>"},
                                      {"<thinking>", "</thinking>"},
                                      {"<thought>", "</thought>"},
                                      {"<reasoning>", "</reasoning>"}}};

std::string_view without_leading_space(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(white_space), text.size()));
}

/// The tag that a text begins with; null: none.
const Tag* find_opening(std::string_view text) {
  const auto found = std::ranges::find_if(tags, [&](const Tag& tag) { return text.starts_with(tag.opening); });
  return found == tags.end() ? nullptr : &*found;
}

}  // namespace

SeparatedText separate_thoughts(std::string_view text) {
  if (text.find('<') == std::string_view::npos) return {{}, text};
  const std::string_view begun = without_leading_space(text);
  if (const Tag* const tag = find_opening(begun)) {
    const std::string_view inside = begun.substr(tag->opening.size());
    const std::size_t end = inside.find(tag->closing);
    if (end == std::string_view::npos) return {trimmed(inside), {}, true};
    return {trimmed(inside.substr(0, end)), without_leading_space(inside.substr(end + tag->closing.size()))};
  }
  for (const Tag& tag : tags) {
    const std::size_t end = text.find(tag.closing);
    if (end == std::string_view::npos || text.find(tag.opening) < end) continue;
    return {trimmed(text.substr(0, end)), without_leading_space(text.substr(end + tag.closing.size()))};
  }
  return {{}, text};
}

std::string ThoughtFilter::add(std::string_view piece) {
  if (stage_ == Stage::Answer) return std::string(piece);
  held_ += piece;
  if (stage_ == Stage::Begin) {
    const std::string_view begun = without_leading_space(held_);
    const Tag* const tag = find_opening(begun);
    const bool may_open = std::ranges::any_of(tags, [&](const Tag& one) { return one.opening.starts_with(begun); });
    if (tag == nullptr && may_open) return {};
    stage_ = tag == nullptr ? Stage::Answer : Stage::Thoughts;
    if (tag != nullptr) {
      closing_ = tag->closing;
      held_ = std::string(begun.substr(tag->opening.size()));
    }
  }
  if (stage_ == Stage::Thoughts) {
    const std::size_t end = held_.find(closing_);
    if (end == std::string::npos) {
      // The beginning of the closing tag may be at the end.
      if (held_.size() >= closing_.size()) held_.erase(0, held_.size() - closing_.size() + 1);
      return {};
    }
    held_.erase(0, end + closing_.size());
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
