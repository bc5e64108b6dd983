#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "json/json.h"
#include "types/table/type_table.h"

namespace tenon::inference::answers {

/// A longer answer is not one word.
inline constexpr std::size_t word_bytes_max = 200;

/// The value of an answer of one word: a Boolean (true, false, yes, no), a literal, an enum's case. The word is
/// compared exactly, then without its quotes and full stop, then without case; in each step it must match only one
/// value.
[[nodiscard]] std::optional<Json> find_word(const types::TypeTable& types, types::TypeId type, std::string_view text);

}  // namespace tenon::inference::answers
