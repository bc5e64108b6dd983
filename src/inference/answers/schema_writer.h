#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "inference/answers/answer_shape.h"
#include "types/table/type_table.h"

namespace tenon::inference::answers {

/// The numbers that a schema allows where the program sets no limit.
enum class UnlimitedNumbers : std::uint8_t {
  Bounded,  ///< those up to `schema_number_max`: a decoder that follows the schema then ends
  All,      ///< all of the machine's type, but NaN and the infinities, which JSON cannot write
};

/// The JSON Schema (2020-12) of a type's values, as compact JSON: properties in the order of the fields, all required,
/// nothing else allowed; `anyOf` for what can be several things; doc comments as descriptions. Repeated parts are under
/// `$defs`. A `Result`, which no one supplies, is as `to_json` writes it: `{"Ok": …}` or `{"Err": …}`. The type must be
/// one that can leave a run (types::can_leave_run). `documentation`, if it is not empty, replaces the description of
/// the type: that of a parameter with this type.
[[nodiscard]] std::string make_schema(const types::TypeTable& types, types::TypeId type,
                                      UnlimitedNumbers numbers = UnlimitedNumbers::Bounded,
                                      std::string_view documentation = {});

/// The schema of a person's answer to a question: exactly what is accepted, with all numbers of the type.
[[nodiscard]] std::string make_question_schema(const types::TypeTable& types, types::TypeId type);

/// A person's resolution of an interrupted call: `{"value": …}` of the type (none: a value is not possible),
/// `{"retry": true}` or `{"fail": "why"}`.
[[nodiscard]] std::string make_verdict_schema(const types::TypeTable& types, std::optional<types::TypeId> value);

/// The schema of a whole answer: always an object at the root, as OpenAI's strict mode asks.
[[nodiscard]] std::string make_schema(const types::TypeTable& types, const AnswerShape& shape,
                                      const bytecode::Site& site);

}  // namespace tenon::inference::answers
