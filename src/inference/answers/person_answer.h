#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "inference/answers/value_reader.h"

namespace tenon::inference::answers {

/// A person's answer to a question of this type: as ValueReader::read_argument reads it, or else as leniently as a
/// model's answer (find_word, parse_lenient). An empty line, `none` and `null` leave out an optional answer, and an
/// optional text needs no quotes. Mismatches are those of the first reading; of one word or number they say what is
/// expected.
[[nodiscard]] Result<vm::Value, std::vector<Mismatch>> read_person_answer(const ValueReader& reader, types::TypeId type,
                                                                          std::string_view text);

/// A person's answer to `approve`, an Option of the type: the value that they were shown for `yes`, another value for
/// another value, None for `no`. `yes` and `no` are never a value, in quotes either.
[[nodiscard]] Result<vm::Value, std::vector<Mismatch>> read_approval(const ValueReader& reader, types::TypeId type,
                                                                     const vm::Value& shown, std::string_view text);

}  // namespace tenon::inference::answers
