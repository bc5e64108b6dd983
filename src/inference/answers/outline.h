#pragma once

#include <string>

#include "inference/answers/answer_shape.h"
#include "json/message_version.h"
#include "types/table/type_table.h"

namespace tenon::inference::answers {

/// A JSON answer's shape in the few words that a small model can follow, doc comments as `//` comments:
/// `{"value": true or false}`, `{"name": string, "tags": [string, …]}`. A repeated part is named and defined after it.
[[nodiscard]] std::string make_outline(const types::TypeTable& types, const AnswerShape& shape,
                                       MessageVersion version = newest_messages);

/// The same of one type's values: `integer from 1 to 5`, `"billing" or "tech"`.
[[nodiscard]] std::string make_outline(const types::TypeTable& types, types::TypeId type,
                                       MessageVersion version = newest_messages);

/// `text` on one line: each run of white space is one space.
[[nodiscard]] std::string flatten(std::string_view text);

}  // namespace tenon::inference::answers
