#pragma once

#include <span>
#include <string>

#include "types/plan.h"

/// The three forms of `tenon plan`: docs/language/21-pursue.md.
namespace tenon::cli {

[[nodiscard]] std::string plan_text(const types::CheckedProgram& program, std::span<const types::PursuitPlan> plans);
/// A graph for Graphviz, a cluster for each `pursue`.
[[nodiscard]] std::string plan_dot(const types::CheckedProgram& program, std::span<const types::PursuitPlan> plans);
/// An object for each, in an array.
[[nodiscard]] std::string plan_json(const types::CheckedProgram& program, std::span<const types::PursuitPlan> plans);

}  // namespace tenon::cli
