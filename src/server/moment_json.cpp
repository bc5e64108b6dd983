#include "server/moment_json.h"

#include "json/reader.h"

namespace tenon::server {
namespace {

Json to_json(const engine::Moment::Prompt& prompt) {
  Json entries = Json::array();
  for (const engine::Moment::Entry& entry : prompt.entries) {
    entries.push_back(Json::object({{"origin", entry.origin}, {"role", entry.role}, {"text", entry.text}}));
  }
  Json messages = Json::array();
  for (const inference::Message& message : prompt.messages) {
    messages.push_back(Json::object({{"role", inference::role_name(message.role)}, {"text", message.text}}));
  }
  Json json = Json::object({{"generation", prompt.generation},
                            {"label", prompt.label},
                            {"entries", std::move(entries)},
                            {"messages", std::move(messages)}});
  if (!prompt.schema.empty()) json["schema"] = parse_own_json(prompt.schema);
  if (prompt.cost) {
    json["tokens"] = Json::object({{"computed", prompt.cost->computed},
                                   {"reused", prompt.cost->reused},
                                   {"generated", prompt.cost->generated},
                                   {"forced", prompt.cost->forced}});
  }
  return json;
}

void add_value(Json& json, const std::string& value, bool is_cut) {
  if (is_cut) {
    json["cut"] = value;
  } else if (!value.empty()) {
    json["value"] = parse_own_json(value);
  }
}

Json to_json(const engine::Moment::Variable& variable) {
  Json json = Json::object({{"name", variable.name}});
  add_value(json, variable.value, variable.is_cut);
  if (!variable.origin.empty()) json["origin"] = variable.origin;
  return json;
}

Json to_json(const engine::Moment::Pursuit& pursuit) {
  Json states = Json::array();
  for (const engine::Moment::PursuitState& state : pursuit.states) {
    Json json = Json::object({{"action", state.action}});
    add_value(json, state.value, state.is_cut);
    states.push_back(std::move(json));
  }
  return Json::object({{"place", pursuit.place}, {"states", std::move(states)}});
}

void add_state(Json& json, const engine::Moment::AgentState& state) {
  if (!state.state.empty()) json["state"] = parse_own_json(state.state);
  if (!state.scratchpad.empty()) json["scratchpad"] = parse_own_json(state.scratchpad);
}

}  // namespace

Json describe_moment(const engine::Moment& moment) {
  Json stack = Json::array();
  for (const engine::Moment::Call& call : moment.stack) {
    Json variables = Json::array();
    for (const engine::Moment::Variable& variable : call.variables) variables.push_back(to_json(variable));
    Json json = Json::object({{"function", call.function}, {"place", call.place}, {"variables", std::move(variables)}});
    for (const engine::Moment::Pursuit& pursuit : call.pursuits) json["pursuits"].push_back(to_json(pursuit));
    stack.push_back(std::move(json));
  }
  Json json = Json::object({{"stack", std::move(stack)}});
  if (!moment.agent.empty()) json["agent"] = moment.agent;
  add_state(json, moment.after);
  Json before = Json::object();
  add_state(before, moment.before);
  if (!before.members().empty()) json["before"] = std::move(before);
  if (moment.prompt) json["prompt"] = to_json(*moment.prompt);
  return json;
}

}  // namespace tenon::server
