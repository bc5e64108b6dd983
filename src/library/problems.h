#pragma once

#include "engine/engine_error.h"
#include "json/json.h"

namespace tenon::library {

/// A list with an object for each problem, as tenon_error_json has it.
[[nodiscard]] Json to_json(const engine::Problems& problems);

}  // namespace tenon::library
