#pragma once

#include <span>
#include <string>

#include "types/plan/plan.h"

/// The three formats of `tenon plan`; see docs/language/21-pursue.md.
namespace tenon::cli {

[[nodiscard]] std::string plan_text(const types::CheckedProgram& program, std::span<const types::PursuitPlan> plans);
/// A graph for Graphviz with a cluster for each `pursue`.
[[nodiscard]] std::string plan_dot(const types::CheckedProgram& program, std::span<const types::PursuitPlan> plans);
/// A JSON array with an object for each `pursue`.
[[nodiscard]] std::string plan_json(const types::CheckedProgram& program, std::span<const types::PursuitPlan> plans);

}  // namespace tenon::cli
