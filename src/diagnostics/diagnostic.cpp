#include "diagnostics/diagnostic.h"

#include <algorithm>

namespace tenon::diagnostics {

std::string Code::text() const {
  const char letter = severity == Severity::Error ? 'E' : severity == Severity::Warning ? 'W' : 'N';
  return fmt::format("{}{:04}", letter, number);
}

Diagnostic& Diagnostics::add(Diagnostic diagnostic) {
  if (diagnostic.message.size() > message_bytes_max) {
    std::size_t end = message_bytes_max;
    while (end > 0 && (static_cast<unsigned char>(diagnostic.message[end]) & 0xC0U) == 0x80U) --end;
    diagnostic.message.resize(end);
    diagnostic.message += "…";
  }
  if (diagnostic.code.severity == Severity::Error) ++error_count_;
  if (all_.size() >= diagnostics_per_file_max) {
    ++dropped_count_;
    dropped_ = std::move(diagnostic);
    return dropped_;
  }
  return all_.emplace_back(std::move(diagnostic));
}

void Diagnostics::sort() {
  std::stable_sort(all_.begin(), all_.end(), [](const Diagnostic& left, const Diagnostic& right) {
    if (left.span.file != right.span.file) return left.span.file < right.span.file;
    return left.span.offset < right.span.offset;
  });
}

}  // namespace tenon::diagnostics
