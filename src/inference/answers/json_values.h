#pragma once

#include "vm/values/json_reader.h"

namespace tenon::inference::answers {

/// Implements a program's `parse_json`: strict JSON (RFC 8259), whose values are read by a ValueReader.
[[nodiscard]] std::unique_ptr<vm::JsonReader> make_json_reader(const vm::Refinements& refinements,
                                                               MessageVersion version);

}  // namespace tenon::inference::answers
