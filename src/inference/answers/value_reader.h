#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "inference/answers/mismatch.h"
#include "json/json.h"
#include "types/table/type_table.h"
#include "vm/values/value.h"

namespace re2 {
class RE2;
}

namespace tenon::inference::answers {

/// Reads JSON as values of a program's types, strictly: what comes out satisfies every refinement. The inverse of
/// vm::to_json, with these liberties, none of which can change a meaning: a whole number may be written `5.0` (below
/// 2^53), an f64 without a point, and an absent key of a field that is an Option is None. Patterns are compiled once.
/// Any thread may use it, several at once.
class ValueReader {
 public:
  /// `types` outlives this.
  explicit ValueReader(const types::TypeTable& types);
  ~ValueReader();
  ValueReader(const ValueReader&) = delete;
  ValueReader& operator=(const ValueReader&) = delete;

  /// `path` is put before the paths of the mismatches. No value has a label.
  [[nodiscard]] Result<vm::Value, std::vector<Mismatch>> read(types::TypeId type, const Json& json,
                                                              std::string_view path = {}) const;

  /// Whether a command line gives a value of the type as raw text: texts, and unions of texts.
  [[nodiscard]] bool is_written_raw(types::TypeId type) const;
  /// A value from a command line or a test script: text types raw, the rest as JSON.
  [[nodiscard]] Result<vm::Value, std::vector<Mismatch>> read_argument(types::TypeId type, std::string_view text) const;

  [[nodiscard]] const types::TypeTable& types() const { return types_; }

 private:
  friend class ValueReading;

  /// Null when the pattern is none.
  [[nodiscard]] const re2::RE2* find_pattern(const std::string& pattern) const;

  const types::TypeTable& types_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, std::unique_ptr<re2::RE2>> patterns_;
};

}  // namespace tenon::inference::answers
