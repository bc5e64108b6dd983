#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "bytecode/program.h"
#include "source/source_file.h"

/// Where the parts of a call are written. A compiled program has one place for a call; the rest is read from the text.
namespace tenon::flows {

/// From the place on: a name with its arguments, if these end in the same line; otherwise the word, or one character.
[[nodiscard]] source::Span span_at(const source::SourceFile& file, const bytecode::Place& place);
/// The argument of the call that begins there; nothing if the text there is not a call of `callee` with `count`
/// arguments in parentheses.
[[nodiscard]] std::optional<source::Span> find_argument(const source::SourceFile& file, const bytecode::Place& place,
                                                        std::string_view callee, std::size_t argument,
                                                        std::size_t count);

}  // namespace tenon::flows
