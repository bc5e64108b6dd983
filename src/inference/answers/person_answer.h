#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "inference/answers/value_reader.h"

namespace tenon::inference::answers {

/// A person's answer to a question of this type: as ValueReader::read_argument reads it, or else as people write it,
/// like a model's. White space around it (such as the CR of a line that ends in CR LF) and quotes do not matter, `yes`,
/// `no`, `true` and `false` in any letters are Booleans, and an option of a union or a case without a payload may be
/// in other letters. Mismatches are those of the first reading.
[[nodiscard]] Result<vm::Value, std::vector<Mismatch>> read_person_answer(const ValueReader& reader, types::TypeId type,
                                                                          std::string_view text);

}  // namespace tenon::inference::answers
