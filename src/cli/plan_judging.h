#pragma once

#include <optional>
#include <vector>

#include "cli/command_line.h"
#include "cli/environment.h"
#include "types/plan_verdicts.h"

namespace tenon::cli {

/// Asks the model about all of them; its answers, in their order. What goes wrong is told; then the error is the
/// process's exit code.
[[nodiscard]] Result<std::vector<types::PlanVerdict>, int> judge_entailments(
    const std::vector<types::EntailmentQuestion>& questions, const ModelChoice& model, bool show_prompts,
    const Environment& environment);

}  // namespace tenon::cli
