#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/message_version.h"
#include "types/table/type_table.h"
#include "vm/values/refinements.h"
#include "vm/values/value.h"

namespace tenon::vm {

/// Parses JSON as values of a program's types: the implementation of `parse_json`. The representation of a type belongs
/// to the layer that requests values from models, which implements this. Pure: the same text always has the same
/// result. Can be used by several threads at once.
class JsonReader {
 public:
  virtual ~JsonReader() = default;
  /// A value without labels that satisfies every refinement of the type; or the reason why there is none, for people.
  [[nodiscard]] virtual Result<Value, std::string> read(types::TypeId type, std::string_view text) const = 0;
};

/// For the types of `refinements`, which must outlive the reader. `version`: of its reasons.
using JsonReaderMaker = std::unique_ptr<JsonReader>(const Refinements& refinements, MessageVersion version);

}  // namespace tenon::vm
