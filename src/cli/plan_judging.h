#pragma once

#include <vector>

#include "cli/command_line.h"
#include "cli/environment.h"
#include "types/plan/plan_verdicts.h"

namespace tenon::cli {

struct Judged {
  std::vector<types::PlanVerdict> verdicts;  ///< in the order of the questions; only the first ones after an error
  int exit = 0;                              ///< the process's exit code; errors are printed
};

/// Asks the model all questions, several per call.
[[nodiscard]] Judged judge_entailments(const std::vector<types::EntailmentQuestion>& questions,
                                       const ModelChoice& model, bool show_prompts, const Environment& environment);

}  // namespace tenon::cli
