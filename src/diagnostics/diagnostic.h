#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "source/source_file.h"

namespace tenon::diagnostics {

enum class Severity : std::uint8_t { Error, Warning, Note };

/// Identifies a diagnostic in `tenon explain` and in tests. The number is unique forever, whatever the severity.
struct Code {
  std::uint16_t number = 0;
  Severity severity = Severity::Error;

  /// `E2104`, `W3001`, `N2901`.
  [[nodiscard]] std::string text() const;
  friend bool operator==(Code, Code) = default;
};

/// A kind of diagnostic with the types of its message arguments. A message that does not match them does not compile.
template <class... Arguments>
struct DiagnosticKind {
  Code code;
  fmt::format_string<Arguments...> message;
};

struct Label {
  source::Span span;
  std::string text;
};

/// A change that fixes the problem: replace `span` with `replacement`.
struct Fix {
  source::Span span;
  std::string replacement;
};

struct Diagnostic {
  Code code;
  source::Span span;
  std::string message;
  std::vector<Label> labels;       ///< related locations
  std::vector<std::string> hints;  ///< how to fix it; shown last
  std::optional<Fix> fix;

  Diagnostic& label(source::Span where, std::string text) {
    labels.push_back({where, std::move(text)});
    return *this;
  }
  Diagnostic& hint(std::string text) {
    hints.push_back(std::move(text));
    return *this;
  }
};

/// Longer messages, which quote very long names, are truncated.
inline constexpr std::size_t message_bytes_max = 600;
/// Diagnostics of one file beyond this limit are only counted.
inline constexpr std::size_t diagnostics_per_file_max = 200;

/// Collects the diagnostics of one compilation in the order in which they are reported.
class Diagnostics {
 public:
  /// `room`: how many are kept; further ones are only counted.
  explicit Diagnostics(std::size_t room = diagnostics_per_file_max) : room_(room) {}

  template <class... Arguments>
  Diagnostic& report(const DiagnosticKind<Arguments...>& kind, source::Span span,
                     const std::type_identity_t<Arguments>&... arguments) {
    if (is_full()) return add({kind.code, span, {}, {}, {}, {}});
    const fmt::string_view message = kind.message;
    return add({kind.code, span, fmt::vformat(message, fmt::make_format_args(arguments...)), {}, {}, {}});
  }
  Diagnostic& add(Diagnostic diagnostic);

  [[nodiscard]] bool has_errors() const { return error_count_ > 0; }
  [[nodiscard]] std::size_t error_count() const { return error_count_; }
  /// Whether further diagnostics are only counted, so that computing hints for them is pointless.
  [[nodiscard]] bool is_full() const { return all_.size() >= room_; }
  [[nodiscard]] std::size_t room() const { return room_; }
  /// The number of diagnostics beyond the limit.
  [[nodiscard]] std::size_t dropped_count() const { return dropped_count_; }
  [[nodiscard]] const std::vector<Diagnostic>& all() const { return all_; }
  /// Puts `kept` in place of the diagnostics from position `first` on.
  void replace_from(std::size_t first, std::vector<Diagnostic> kept);
  /// Adds those of `others` for which `is_kept` is true, in their order, and what `others` has only counted.
  void append(const Diagnostics& others, const std::function<bool(const Diagnostic&)>& is_kept);
  /// Sorts by location in the files; stable.
  void sort();

 private:
  std::size_t room_;
  std::vector<Diagnostic> all_;
  Diagnostic dropped_;
  std::size_t error_count_ = 0;
  std::size_t dropped_count_ = 0;
};

}  // namespace tenon::diagnostics
