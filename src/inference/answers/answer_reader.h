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

/// The values of a valid answer.
struct AnswerValues {
  std::uint32_t clause = 0;  ///< Select: the chosen clause
  std::vector<vm::Value>
      values;  ///< Completion: one. Fill and Select: the missing arguments, in the order of the holes
};

/// What is wrong with an answer, for the model and for people: at least one message.
using AnswerProblems = std::vector<std::string>;

/// Reads a model's answer at a site of that shape: leniently as JSON (see parse_lenient), without
/// thoughts before it (inference/thoughts.h), strictly as values.
/// - Text: the text without the white space around it, which must not be empty.
/// - A completion may lack its wrapping: `5` instead of `{"value": 5}`. One word is accepted for a Boolean (true,
///   false, yes, no), a literal or an enum's case; case, quotes around it and a full stop after it are ignored if only
///   one literal matches.
/// - A select may lack `call`, and either `function` or `choice` if the other one determines the clause.
/// `version`: of the problems' messages.
[[nodiscard]] Result<AnswerValues, AnswerProblems> read_answer(const ValueReader& reader, const AnswerShape& shape,
                                                               std::string_view text,
                                                               MessageVersion version = newest_messages);

}  // namespace tenon::inference::answers
