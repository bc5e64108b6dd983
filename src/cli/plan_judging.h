#pragma once

#include <vector>

#include "cli/command_line.h"
#include "cli/environment.h"
#include "types/plan_verdicts.h"

namespace tenon::cli {

struct Judged {
  std::vector<types::PlanVerdict> verdicts;  ///< in the questions' order; the first ones, where something went wrong
  int exit = 0;                              ///< the process's exit code; what went wrong is told
};

/// Asks the model about all of them, several in a call.
[[nodiscard]] Judged judge_entailments(const std::vector<types::EntailmentQuestion>& questions,
                                       const ModelChoice& model, bool show_prompts, const Environment& environment);

}  // namespace tenon::cli
