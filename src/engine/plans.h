#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/system.h"
#include "json/json.h"
#include "types/plan/plan.h"

namespace tenon::engine {

/// `FILE:3:5` of a `pursue`.
[[nodiscard]] std::string place_of(const types::CheckedProgram& program, const types::PursuitPlan& plan);
/// `start`, or the name of an action.
[[nodiscard]] std::string state_name(const types::PursuitPlan& plan, std::uint32_t state);
/// The name of an action, or `goal`.
[[nodiscard]] std::string target_name(const types::PursuitPlan& plan, std::uint32_t to);
inline constexpr std::string_view passage_names[] = {"always", "perhaps", "undecided", "never"};
/// One of these names.
[[nodiscard]] std::string_view passage(const types::PlanEdge& edge);
/// The actions that can or cannot be reached.
[[nodiscard]] std::vector<std::string> names_of(const types::PursuitPlan& plan, bool are_reachable);
/// As `tenon plan --format=json` prints it.
[[nodiscard]] Json describe_plan(const types::CheckedProgram& program, const types::PursuitPlan& plan);

/// The plans of a program, as if the file at `path` contained the text, each with its `range` in the text, in bytes.
/// Those of other files are left out. Nothing if the program has errors.
[[nodiscard]] std::optional<Json> find_plans(const std::string& path, std::string_view text, FileSystem& files);

}  // namespace tenon::engine
