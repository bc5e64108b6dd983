#include "syntax/damage.h"

#include <algorithm>

namespace tenon::syntax {

source::Span line_at(const source::SourceFile& file, std::uint32_t offset) {
  const std::string_view text = file.text();
  const std::size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::size_t end = std::min(text.find('\n', offset), text.size());
  return {file.id(), static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)};
}

bool is_damaged(std::span<const source::Span> damage, std::uint32_t offset) {
  const auto after = std::ranges::upper_bound(damage, offset, {}, &source::Span::offset);
  return after != damage.begin() && offset <= std::prev(after)->end();
}

void add_damage(std::vector<source::Span>& damage, source::Span span) {
  auto first = std::ranges::upper_bound(damage, span.offset, {}, &source::Span::offset);
  if (first != damage.begin() && std::prev(first)->end() >= span.offset) --first;
  auto last = first;
  std::uint32_t end = span.end();
  for (; last != damage.end() && last->offset <= end; ++last) {
    span.offset = std::min(span.offset, last->offset);
    end = std::max(end, last->end());
  }
  span.length = end - span.offset;
  damage.insert(damage.erase(first, last), span);
}

}  // namespace tenon::syntax
