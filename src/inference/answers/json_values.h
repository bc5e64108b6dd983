#pragma once

#include "vm/values/json_reader.h"

namespace tenon::inference::answers {

/// Reads what a program calls `parse_json` with: JSON as RFC 8259 has it, as a ValueReader reads it.
[[nodiscard]] std::unique_ptr<vm::JsonReader> make_json_reader(const types::TypeTable& types);

}  // namespace tenon::inference::answers
