#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "types/type_table.h"
#include "vm/value.h"

namespace tenon::vm {

/// Reads JSON as values of a program's types: what `parse_json` does. How a type is written is known to the layer that
/// asks models for values, so it comes from there. Pure: the same text gives the same value or the same complaint. Any
/// thread may use it, several at once.
class JsonReader {
 public:
  virtual ~JsonReader() = default;
  /// A value without labels that satisfies every refinement of the type; or why there is none, for people.
  [[nodiscard]] virtual Result<Value, std::string> read(types::TypeId type, std::string_view text) const = 0;
};

/// The table outlives the reader.
using JsonReaderMaker = std::unique_ptr<JsonReader>(const types::TypeTable& types);

}  // namespace tenon::vm
