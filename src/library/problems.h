#pragma once

#include <tenon/tenon.h>

#include <cstddef>

#include "engine/engine_error.h"
#include "json/json.h"

namespace tenon::library {

/// A list with an object for each problem, as tenon_error_json has it.
[[nodiscard]] Json to_json(const engine::Problems& problems);

/// The problem at `index` for the host. False: there are fewer.
bool give(const engine::Problems& problems, std::size_t index, tenon_problem* to);

}  // namespace tenon::library
