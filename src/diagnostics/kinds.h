#pragma once

// Every diagnostic there is. A number is unique for ever and has a page in docs/diagnostics (`tenon explain E1101`), which a
// test checks. 1000: characters and tokens. 1100: grammar. 2000: names. 2100: types. 2200: context, holes and select.
// 2300: modules and tests. 3000: warnings about what is allowed and most likely not meant. 4000: running.

#include <string>
#include <string_view>

#include "diagnostics/diagnostic.h"

namespace tenon::diagnostics {

inline constexpr Severity error = Severity::Error;
inline constexpr Severity warning = Severity::Warning;
inline constexpr Severity note = Severity::Note;

// clang-format off
// Characters and tokens
inline constexpr DiagnosticKind<std::size_t, std::size_t> SourceTooLarge{{1001, error}, "the file has {} bytes; {} are the most"};
inline constexpr DiagnosticKind<unsigned char> NotUtf8{{1002, error}, "the byte 0x{:02X} is no UTF-8 text"};
inline constexpr DiagnosticKind<std::string> UnknownCharacter{{1003, error}, "`{}` begins nothing that the language knows"};
inline constexpr DiagnosticKind<> UnterminatedString{{1004, error}, "this string has no end"};
inline constexpr DiagnosticKind<> UnterminatedTemplate{{1005, error}, "this `{{{{` has no `}}}}`"};
inline constexpr DiagnosticKind<> UnterminatedComment{{1006, error}, "this comment has no end"};
inline constexpr DiagnosticKind<std::string> UnknownEscape{{1007, error}, "`{}` is no escape"};

// Grammar
inline constexpr DiagnosticKind<std::string_view, std::string_view> Expected{{1101, error}, "{} stands where {} is expected"};
inline constexpr DiagnosticKind<std::size_t> NestedTooDeeply{{1102, error}, "nested more than {} levels deep; the rest of the file was not read"};
inline constexpr DiagnosticKind<> ChainedComparison{{1103, error}, "a comparison cannot be compared again"};
inline constexpr DiagnosticKind<> InjectionInside{{1104, error}, "an injection gives no value to go on with"};
inline constexpr DiagnosticKind<std::string_view> NotAssignable{{1105, error}, "{} cannot be assigned to"};
inline constexpr DiagnosticKind<> StatementsOnOneLine{{1106, error}, "two statements on one line need a `;` between them"};
// clang-format on

}  // namespace tenon::diagnostics
