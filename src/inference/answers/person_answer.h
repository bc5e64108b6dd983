#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "inference/answers/value_reader.h"

namespace tenon::inference::answers {

/// A person's answer to a question of this type: as ValueReader::read_argument reads it, or else as leniently as a
/// model's answer (find_word, parse_lenient). Mismatches are those of the first reading.
[[nodiscard]] Result<vm::Value, std::vector<Mismatch>> read_person_answer(const ValueReader& reader, types::TypeId type,
                                                                          std::string_view text);

}  // namespace tenon::inference::answers
