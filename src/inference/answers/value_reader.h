#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inference/answers/mismatch.h"
#include "json/json.h"
#include "types/table/type_table.h"
#include "vm/values/refinements.h"
#include "vm/values/value.h"

namespace tenon::inference::answers {

/// Reads JSON as values of a program's types, strictly: its values satisfy every refinement. The inverse of
/// vm::to_json, with these liberties, none of which can change a meaning: a whole number may be written `5.0` (below
/// 2^53), an f64 without a point, and an absent key of a field that is an Option is None. Patterns are compiled once.
/// Thread-safe.
class ValueReader {
 public:
  /// Of the types of `refinements`, which outlive this.
  explicit ValueReader(const vm::Refinements& refinements) : refinements_(refinements) {}

  /// `path` is put before the paths of the mismatches. `version`: of their messages. No value has a label.
  [[nodiscard]] Result<vm::Value, std::vector<Mismatch>> read(types::TypeId type, const Json& json,
                                                              std::string_view path = {},
                                                              MessageVersion version = newest_messages) const;

  /// Whether a command line gives a value of the type as raw text: texts, and unions of texts.
  [[nodiscard]] bool is_written_raw(types::TypeId type) const;
  /// A value from a command line or a test script: text types raw, the rest as JSON.
  [[nodiscard]] Result<vm::Value, std::vector<Mismatch>> read_argument(types::TypeId type, std::string_view text) const;

  [[nodiscard]] const types::TypeTable& types() const { return refinements_.types(); }

 private:
  friend class ValueReading;

  const vm::Refinements& refinements_;
};

}  // namespace tenon::inference::answers
