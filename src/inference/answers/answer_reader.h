#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inference/answers/answer_shape.h"
#include "inference/answers/value_reader.h"
#include "vm/values/value.h"

namespace tenon::inference::answers {

/// What a usable answer says.
struct AnswerValues {
  std::uint32_t clause = 0;  ///< Select: the chosen clause
  std::vector<vm::Value>
      values;  ///< Completion: one. Fill and Select: the missing arguments, in the order of the holes
};

/// What is wrong with an answer, for the model and for people: a sentence each, never none.
using AnswerProblems = std::vector<std::string>;

/// Reads what a model said at a site of that shape: leniently as JSON (see parse_lenient), strictly as values.
/// - Text: the text without the white space around it, which may not be nothing.
/// - A completion may come without its wrapping: `5` for `{"value": 5}`. An answer that is one word in the place of a
/// Boolean (true, false, yes, no),
///   a literal or an enum's case is that word; capitals, quotes around it and a full stop after it do not matter where
///   just one literal is meant.
/// - A select may come without `call`, and without one of `function` and `choice` where the other says all.
[[nodiscard]] Result<AnswerValues, AnswerProblems> read_answer(const ValueReader& reader, const AnswerShape& shape,
                                                               std::string_view text);

}  // namespace tenon::inference::answers
