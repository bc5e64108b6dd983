#pragma once

#include <nlohmann/json.hpp>

/// How long the proofs of trust (flows/flows.h) take beside the rest of a check.
namespace tenon::bench {

/// Prints milliseconds to check programs of 10,000 lines as `tenon check` does, and how many times as long that takes
/// as without the proofs. Returns the same by the programs' names.
[[nodiscard]] nlohmann::ordered_json measure_proofs();

}  // namespace tenon::bench
