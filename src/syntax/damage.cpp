#include "syntax/damage.h"

#include <algorithm>
#include <utility>

#include "diagnostics/kinds.h"

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

void add_damage(std::vector<source::Span>& damage, std::span<const source::Span> spans) {
  std::vector<source::Span> all = std::exchange(damage, {});
  all.insert(all.end(), spans.begin(), spans.end());
  std::ranges::stable_sort(all, {}, &source::Span::offset);
  for (const source::Span& span : all) {
    if (damage.empty() || damage.back().end() < span.offset) {
      damage.push_back(span);
    } else {
      damage.back().length = std::max(damage.back().end(), span.end()) - damage.back().offset;
    }
  }
}

void report_lexical(const source::SourceFile& file, const diagnostics::Diagnostics& lexical,
                    diagnostics::Diagnostics& diagnostics, std::vector<source::Span>& damage) {
  const std::string_view text = file.text();
  const auto is_open_end = [](const diagnostics::Diagnostic& found) {
    return found.code == diagnostics::UnterminatedString.code || found.code == diagnostics::UnterminatedComment.code ||
           found.code == diagnostics::UnterminatedTemplate.code;
  };
  for (const diagnostics::Diagnostic& found : lexical.all()) {
    if (!is_open_end(found)) continue;
    const bool is_string_of_line = found.code == diagnostics::UnterminatedString.code && found.span.length == 1;
    if (is_string_of_line || found.code == diagnostics::UnterminatedTemplate.code) {
      add_damage(damage, line_at(file, found.span.offset));
      continue;
    }
    // The rest of the file is part of it. The missing end may belong earlier, in the same declaration.
    std::uint32_t begin = line_at(file, found.span.offset).offset;
    while (begin > 0 && (text[begin] == ' ' || text[begin] == '\n' || text[begin] == '}')) {
      begin = line_at(file, begin - 1).offset;
    }
    add_damage(damage, {file.id(), begin, static_cast<std::uint32_t>(text.size()) - begin});
  }
  // After an unterminated string, its line is read from the wrong side of a quotation mark.
  for (const diagnostics::Diagnostic& found : lexical.all()) {
    if (is_open_end(found) || !is_damaged(damage, found.span.offset)) diagnostics.add(found);
  }
}

}  // namespace tenon::syntax
