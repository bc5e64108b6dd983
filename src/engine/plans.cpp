#include "engine/plans.h"

#include <fmt/format.h>

#include "base/file_with_text.h"
#include "types/check.h"

namespace tenon::engine {

using types::DecidedBy;
using types::PlanEdge;
using types::PlannedRequirement;
using types::PursuitPlan;

std::string place_of(const types::CheckedProgram& program, const PursuitPlan& plan) {
  const types::Module& module = program.modules[plan.module.index];
  const source::Position at = module.file->position(module.tree->span(plan.node).offset);
  return fmt::format("{}:{}:{}", module.file->path(), at.line, at.column);
}

std::string state_name(const PursuitPlan& plan, std::uint32_t state) {
  return state == 0 ? "start" : plan.actions[state - 1].name;
}
std::string target_name(const PursuitPlan& plan, std::uint32_t to) {
  return to == plan.actions.size() ? "goal" : plan.actions[to].name;
}

std::string_view passage(const PlanEdge& edge) {
  if (edge.is_closed()) return "never";
  if (edge.is_certain()) return "always";
  return edge.decided_by() == DecidedBy::Undecided ? "undecided" : "perhaps";
}

std::vector<std::string> names_of(const PursuitPlan& plan, bool are_reachable) {
  std::vector<std::string> names;
  for (const types::PlannedAction& action : plan.actions) {
    if (action.is_reachable == are_reachable) names.push_back(action.name);
  }
  return names;
}

namespace {

Json requirement_json(const PlannedRequirement& requirement) {
  Json json = Json::object({{"words", requirement.words},
                            {"judged", requirement.is_judged},
                            {"relation", types::relation_name(requirement.relation)},
                            {"by", types::decider_name(requirement.by)}});
  if (!requirement.reason.empty()) json["reason"] = requirement.reason;
  return json;
}

}  // namespace

Json describe_plan(const types::CheckedProgram& program, const PursuitPlan& plan) {
  Json actions = Json::array();
  for (const types::PlannedAction& action : plan.actions) {
    actions.push_back(Json::object(
        {{"name", action.name}, {"takes", action.takes}, {"gives", action.gives}, {"reachable", action.is_reachable}}));
  }
  Json edges = Json::array();
  for (const PlanEdge& edge : plan.edges) {
    Json requirements = Json::array();
    for (const PlannedRequirement& one : edge.requirements) requirements.push_back(requirement_json(one));
    edges.push_back(Json::object({{"from", state_name(plan, edge.from)},
                                  {"to", target_name(plan, edge.to)},
                                  {"passage", passage(edge)},
                                  {"by", types::decider_name(edge.decided_by())},
                                  {"requirements", std::move(requirements)}}));
  }
  Json missing = Json::array();
  for (const types::MissingAction& one : plan.missing) {
    missing.push_back(Json::object({{"of", target_name(plan, one.action)}, {"words", one.words}}));
  }
  return Json::object({{"place", place_of(program, plan)},
                       {"goal", plan.goal},
                       {"start_type", plan.start_type},
                       {"goal_type", plan.goal_type},
                       {"actions", std::move(actions)},
                       {"edges", std::move(edges)},
                       {"dead", Json::array_of(names_of(plan, false))},
                       {"missing", std::move(missing)},
                       {"goal_entailed", plan.is_goal_entailed()}});
}

std::optional<Json> find_plans(const std::string& path, std::string_view text, FileSystem& files) {
  FileWithText with_text(files, path, text);
  const types::Checked checked = types::check(path, with_text, types::Strictness::Relaxed);
  if (checked.diagnostics.has_errors()) return std::nullopt;
  Json plans = Json::array();
  for (const PursuitPlan& plan : types::make_plans(checked.program, checked.program.verdicts)) {
    if (plan.module != types::ModuleId{0}) continue;
    Json json = describe_plan(checked.program, plan);
    const source::Span span = checked.program.modules.front().tree->span(plan.node);
    json["range"] = Json::object({{"offset", span.offset}, {"length", span.length}});
    plans.push_back(std::move(json));
  }
  return plans;
}

}  // namespace tenon::engine
