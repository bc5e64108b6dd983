#include "diagnostics/diagnostic.h"

#include <algorithm>
#include <iterator>

#include "base/utf8.h"

namespace tenon::diagnostics {

std::string Code::text() const {
  const char letter = severity == Severity::Error ? 'E' : severity == Severity::Warning ? 'W' : 'N';
  return fmt::format("{}{:04}", letter, number);
}

Diagnostic& Diagnostics::add(Diagnostic diagnostic) {
  if (diagnostic.message.size() > message_bytes_max) {
    diagnostic.message.resize(cut_utf8(diagnostic.message, message_bytes_max).size());
    diagnostic.message += "…";
  }
  if (diagnostic.code.severity == Severity::Error) ++error_count_;
  if (is_full()) {
    ++dropped_count_;
    dropped_ = std::move(diagnostic);
    return dropped_;
  }
  return all_.emplace_back(std::move(diagnostic));
}

void Diagnostics::append(const Diagnostics& others, const std::function<bool(const Diagnostic&)>& is_kept) {
  std::size_t kept_errors = 0;
  for (const Diagnostic& diagnostic : others.all_) {
    if (diagnostic.code.severity == Severity::Error) ++kept_errors;
    if (is_kept(diagnostic)) add(diagnostic);
  }
  error_count_ += others.error_count_ - kept_errors;
  dropped_count_ += others.dropped_count_;
}

void Diagnostics::replace_from(std::size_t first, std::vector<Diagnostic> kept) {
  const auto is_error = [](const Diagnostic& one) { return one.code.severity == Severity::Error; };
  const auto begin = all_.begin() + static_cast<std::ptrdiff_t>(std::min(first, all_.size()));
  error_count_ -= static_cast<std::size_t>(std::count_if(begin, all_.end(), is_error));
  error_count_ += static_cast<std::size_t>(std::count_if(kept.begin(), kept.end(), is_error));
  all_.erase(begin, all_.end());
  std::move(kept.begin(), kept.end(), std::back_inserter(all_));
}

void Diagnostics::sort() {
  std::stable_sort(all_.begin(), all_.end(), [](const Diagnostic& left, const Diagnostic& right) {
    if (left.span.file != right.span.file) return left.span.file < right.span.file;
    return left.span.offset < right.span.offset;
  });
}

}  // namespace tenon::diagnostics
