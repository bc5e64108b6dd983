#pragma once

#include <string>
#include <string_view>

#include "json/json.h"

namespace tenon::inference::answers {

/// More options than these are not listed.
inline constexpr std::size_t shown_options_max = 20;

/// What a person can answer, in words, from the JSON Schema of the answer: `yes or no`, `Red, Green or Blue`, `a whole
/// number from 1 to 30`, `{"city": text, "nights": a whole number}`. Empty for any text or number, and for lists.
[[nodiscard]] std::string describe_choices(const Json& schema);

/// The question with what can be answered, for where nothing else says it: `Publish? (yes or no)`. Unchanged if it
/// names the options itself.
[[nodiscard]] std::string question_with_choices(std::string_view question, const Json& schema);

}  // namespace tenon::inference::answers
