#include "cli/plan_forms.h"

#include <fmt/format.h>

#include "engine/plans.h"
#include "json/json.h"
#include "json/text.h"

namespace tenon::cli {
namespace {

using engine::names_of;
using engine::passage;
using engine::place_of;
using engine::state_name;
using engine::target_name;
using types::DecidedBy;
using types::PlanEdge;
using types::PlannedRequirement;
using types::PursuitPlan;
using types::Relation;

/// Describes what is known about one requirement.
std::string explain(const PlannedRequirement& requirement) {
  const std::string words = requirement.is_judged ? requirement.words : fmt::format("`{}`", requirement.words);
  if (requirement.relation == Relation::Open) {
    switch (requirement.by) {
      case DecidedBy::Undecided:
        return fmt::format("undecided without --model: {}", words);
      case DecidedBy::Model:
        return fmt::format("left open by the model: {}", words);
      default:
        return fmt::format("{} in the run: {}", requirement.is_judged ? "judged" : "computed", words);
    }
  }
  const std::string_view verb = requirement.relation == Relation::Entails ? "entailed" : "contradicted";
  return fmt::format("{}, by {}: {}", verb, types::decider_name(requirement.by), words);
}

std::string joined(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string text_of_one(const types::CheckedProgram& program, const PursuitPlan& plan) {
  std::string text = fmt::format("{}: pursue {}\nfrom `{}` to `{}`\n\n", place_of(program, plan), plan.goal,
                                 plan.start_type, plan.goal_type);
  for (const PlanEdge& edge : plan.edges) {
    if (!edge.fits) continue;
    text += fmt::format("  {} -> {}: {}\n", state_name(plan, edge.from), target_name(plan, edge.to), passage(edge));
    for (const PlannedRequirement& requirement : edge.requirements) {
      text += fmt::format("      {}\n", explain(requirement));
      if (!requirement.reason.empty()) text += fmt::format("        {}\n", requirement.reason);
    }
  }
  text += fmt::format("\n  reachable: {}\n  dead: {}\n", joined(names_of(plan, true)), joined(names_of(plan, false)));
  std::vector<std::string> missing;
  for (const types::MissingAction& one : plan.missing) {
    missing.push_back(fmt::format("{}: {}", target_name(plan, one.action), one.words));
  }
  text += missing.empty() ? "  missing: none\n" : "  missing (not entailed by anything):\n";
  for (const std::string& line : missing) text += fmt::format("      {}\n", line);
  return text;
}

/// A string literal of Graphviz, which writes a line break as `\n` too.
std::string quote(const std::string& text) {
  return make_json_string(text);
}

}  // namespace

std::string plan_text(const types::CheckedProgram& program, std::span<const PursuitPlan> plans) {
  std::string text;
  for (const PursuitPlan& plan : plans) text += (text.empty() ? "" : "\n") + text_of_one(program, plan);
  return text;
}

std::string plan_json(const types::CheckedProgram& program, std::span<const PursuitPlan> plans) {
  Json all = Json::array();
  for (const PursuitPlan& plan : plans) all.push_back(engine::describe_plan(program, plan));
  return all.dump(JsonForm::Pretty) + "\n";
}

std::string plan_dot(const types::CheckedProgram& program, std::span<const PursuitPlan> plans) {
  std::string text = "digraph plan {\n  rankdir=LR;\n  node [shape=box];\n";
  for (std::size_t at = 0; at < plans.size(); ++at) {
    const PursuitPlan& plan = plans[at];
    const auto node = [&](std::uint32_t state) { return fmt::format("p{}_{}", at, state); };
    const auto goal = static_cast<std::uint32_t>(plan.actions.size() + 1);
    text += fmt::format("  subgraph cluster_{} {{\n    label={};\n", at,
                        quote(fmt::format("{}: {}", place_of(program, plan), plan.goal)));
    text +=
        fmt::format("    {} [label={}, shape=circle];\n", node(0), quote(fmt::format("start\n{}", plan.start_type)));
    for (std::uint32_t action = 0; action < plan.actions.size(); ++action) {
      const types::PlannedAction& one = plan.actions[action];
      text += fmt::format("    {} [label={}{}];\n", node(action + 1), quote(fmt::format("{}\n{}", one.name, one.gives)),
                          one.is_reachable ? "" : ", style=dotted");
    }
    text += fmt::format("    {} [label={}, shape=doublecircle];\n  }}\n", node(goal),
                        quote(fmt::format("goal\n{}", plan.goal_type)));
    for (const PlanEdge& edge : plan.edges) {
      if (!edge.fits) continue;
      std::string label(passage(edge));
      for (const PlannedRequirement& requirement : edge.requirements) label += "\n" + explain(requirement);
      const std::string_view style = edge.is_closed() ? "dotted" : edge.is_certain() ? "solid" : "dashed";
      text +=
          fmt::format("  {} -> {} [label={}, style={}];\n", node(edge.from), node(edge.to + 1), quote(label), style);
    }
  }
  return text + "}\n";
}

}  // namespace tenon::cli
