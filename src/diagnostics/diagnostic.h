#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "source/source_file.h"

namespace tenon::diagnostics {

enum class Severity : std::uint8_t { Error, Warning, Note };

/// What `tenon explain` and the tests know a diagnostic by. The number is unique for ever, whatever its severity.
struct Code {
  std::uint16_t number = 0;
  Severity severity = Severity::Error;

  /// `E2104`, `W3001`, `N2901`.
  [[nodiscard]] std::string text() const;
  friend bool operator==(Code, Code) = default;
};

/// A kind of diagnostic with the types of what its message names. A message that does not fit them does not compile.
template <class... Arguments>
struct DiagnosticKind {
  Code code;
  fmt::format_string<Arguments...> message;
};

struct Label {
  source::Span span;
  std::string text;
};

/// A change that mends it: `span` becomes `replacement`.
struct Fix {
  source::Span span;
  std::string replacement;
};

struct Diagnostic {
  Code code;
  source::Span span;
  std::string message;
  std::vector<Label> labels;       ///< other places that matter
  std::vector<std::string> hints;  ///< ways out, last in the message
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

/// `1 argument`, `2 arguments`.
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);
/// `1 is`, `2 are`.
[[nodiscard]] std::string counted_are(std::size_t count);

/// A longer message, which quotes a very long name, is cut.
inline constexpr std::size_t message_bytes_max = 600;
/// Past this many of one file the rest is only counted.
inline constexpr std::size_t diagnostics_per_file_max = 200;

/// Collects the diagnostics of one compilation, in the order in which they are found.
class Diagnostics {
 public:
  template <class... Arguments>
  Diagnostic& report(const DiagnosticKind<Arguments...>& kind, source::Span span,
                     const std::type_identity_t<Arguments>&... arguments) {
    if (all_.size() >= diagnostics_per_file_max) return add({kind.code, span, {}, {}, {}, {}});
    const fmt::string_view message = kind.message;
    return add({kind.code, span, fmt::vformat(message, fmt::make_format_args(arguments...)), {}, {}, {}});
  }
  Diagnostic& add(Diagnostic diagnostic);

  [[nodiscard]] bool has_errors() const { return error_count_ > 0; }
  [[nodiscard]] std::size_t error_count() const { return error_count_; }
  /// Whether a further one is only counted: then hints need not be looked for.
  [[nodiscard]] bool is_full() const { return all_.size() >= diagnostics_per_file_max; }
  /// Those that were over the limit.
  [[nodiscard]] std::size_t dropped_count() const { return dropped_count_; }
  [[nodiscard]] const std::vector<Diagnostic>& all() const { return all_; }
  /// By place in the files; stable.
  void sort();

 private:
  std::vector<Diagnostic> all_;
  Diagnostic dropped_;
  std::size_t error_count_ = 0;
  std::size_t dropped_count_ = 0;
};

}  // namespace tenon::diagnostics
