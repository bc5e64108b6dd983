#pragma once

#include <span>
#include <string>
#include <string_view>

#include "json/json.h"

namespace tenon::inference::answers {

/// More options than these are not listed.
inline constexpr std::size_t shown_options_max = 20;

/// What a person can answer, in words, from the JSON Schema of the answer: `yes or no`, `Red, Green or Blue`, `a whole
/// number from 1 to 30`, `{"city": text, "nights": a whole number}`, `[text, …]`. Empty for any text or number.
[[nodiscard]] std::string describe_choices(const Json& schema);

/// The question with what can be answered, for where nothing else says it: `Publish? (yes or no)`. Unchanged if it
/// names the options itself.
[[nodiscard]] std::string question_with_choices(std::string_view question, const Json& schema);

/// The same for a `wait_for_input` event or what the store has of the wait. The value that is to be approved is shown
/// with what it depends on. Characters that are not seen are shown (show_hidden).
[[nodiscard]] std::string shown_question(const Json& wait);
/// What a person looks at: `"DE89", which depends on extern payments`. `value`: as JSON.
[[nodiscard]] std::string shown_approval(std::string_view value, std::span<const std::string> sources);

}  // namespace tenon::inference::answers
