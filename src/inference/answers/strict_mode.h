#pragma once

#include <string_view>

namespace tenon::inference::answers {

/// Whether OpenAI's strict mode can take a schema that make_schema wrote: it knows no objects with free keys
/// (`Map<T>`), no `prefixItems` (tuples, and cases of several values), no `minLength` and `maxLength`, and bounds the
/// number of keys, of enumerated values and the nesting. Without strict mode the provider takes the schema as advice,
/// and what it then gives is read and repaired as ever.
[[nodiscard]] bool fits_strict_mode(std::string_view json_schema);

}  // namespace tenon::inference::answers
