#pragma once

#include <string>
#include <vector>

#include "inference/answers/answer_shape.h"
#include "types/table/type_table.h"

namespace tenon::inference::answers {

/// What a doc comment says about one key of a JSON answer.
struct KeyWords {
  std::string key;    ///< with those around it: `order.total`, and a case of an enum after it; empty: the whole answer
  std::string words;  ///< on one line
  friend bool operator==(const KeyWords&, const KeyWords&) = default;
};

/// The doc comments of an answer's types, each once, in the order of the outline. They are what an outline says and a
/// mask does not.
[[nodiscard]] std::vector<KeyWords> list_key_words(const types::TypeTable& types, const AnswerShape& shape);

}  // namespace tenon::inference::answers
