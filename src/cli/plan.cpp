#include "types/plan/plan.h"

#include <fmt/format.h>

#include <set>

#include "cli/commands.h"
#include "cli/diagnostics_output.h"
#include "cli/plan_forms.h"
#include "cli/plan_judging.h"
#include "cli/replace_file.h"

namespace tenon::cli {
namespace {

/// The questions of the plans, each once, in their order.
std::vector<types::EntailmentQuestion> questions_of(const std::vector<types::PursuitPlan>& plans) {
  std::vector<types::EntailmentQuestion> questions;
  std::set<Hash> seen;
  for (const types::PursuitPlan& plan : plans) {
    for (const types::PlanEdge& edge : plan.edges) {
      for (const types::PlannedRequirement& requirement : edge.requirements) {
        if (requirement.question && seen.insert(requirement.question->key()).second) {
          questions.push_back(*requirement.question);
        }
      }
    }
  }
  return questions;
}

/// Asks the model the questions that have no verdict yet, and updates the plan file next to the program, without the
/// verdicts that the program no longer needs. Returns the exit code.
int judge_open_questions(const types::Checked& checked, const PlanCommand& command, const Environment& environment) {
  const types::PlanVerdicts& known = checked.program.verdicts;
  types::PlanVerdicts verdicts;
  std::vector<types::EntailmentQuestion> open;
  for (types::EntailmentQuestion& question : questions_of(types::make_plans(checked.program, known))) {
    const auto found = known.find(question.key());
    if (found != known.end()) {
      verdicts.insert(*found);
    } else {
      open.push_back(std::move(question));
    }
  }
  int code = exit_done;
  if (!open.empty()) {
    Judged judged = judge_entailments(open, command.model, command.show_prompts, environment);
    code = judged.exit;
    for (types::PlanVerdict& verdict : judged.verdicts) verdicts.emplace(verdict.question.key(), std::move(verdict));
    if (judged.verdicts.empty()) return code;
  }
  if (verdicts == known) return code;
  const std::string path = types::plan_path(command.file);
  if (replace_file(path, types::write_plan(verdicts))) return code;
  return fail(fmt::format("cannot write `{}`", path), environment);
}

}  // namespace

int plan(const PlanCommand& command, const Environment& environment) {
  types::Checked checked = types::check(command.file, environment.system.files, types::Strictness::Relaxed);
  if (!checked.diagnostics.has_errors() && !command.model.spec.empty()) {
    if (const int code = judge_open_questions(checked, command, environment); code != exit_done) return code;
    checked = types::check(command.file, environment.system.files, types::Strictness::Relaxed);
  }
  std::vector<types::PursuitPlan> plans;
  if (!checked.diagnostics.has_errors()) plans = types::make_plans(checked.program, checked.program.verdicts);
  print_diagnostics(checked, ShownDiagnostics::WithoutNotes, environment);
  if (checked.diagnostics.has_errors()) return exit_failed;
  if (plans.empty()) return fail("the program has no `pursue`", environment, exit_usage);
  const auto form = command.format == "dot" ? plan_dot : command.format == "json" ? plan_json : plan_text;
  environment.write_output(form(checked.program, plans));
  return exit_done;
}

}  // namespace tenon::cli
