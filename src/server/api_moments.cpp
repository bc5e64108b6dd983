// A run as it was after one of its records.
#include <fmt/format.h>

#include "base/parse_number.h"
#include "engine/moment.h"
#include "json/reader.h"
#include "server/api.h"
#include "server/program_replies.h"

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
    json["tokens"] = Json::object(
        {{"computed", prompt.cost->computed}, {"reused", prompt.cost->reused}, {"generated", prompt.cost->generated}});
  }
  return json;
}

Json to_json(const engine::Moment& moment) {
  Json stack = Json::array();
  for (const engine::Moment::Call& call : moment.stack) {
    stack.push_back(Json::object({{"function", call.function}, {"place", call.place}}));
  }
  Json json = Json::object({{"stack", std::move(stack)}});
  if (!moment.agent.empty()) json["agent"] = moment.agent;
  if (!moment.state.empty()) json["state"] = parse_own_json(moment.state);
  if (moment.prompt) json["prompt"] = to_json(*moment.prompt);
  return json;
}

}  // namespace

void Api::show_record(const Call& call) {
  // Prompts are part of the program, which clients of other servers do not learn.
  if (parts_.programs == nullptr) return call.answer(whole(make_editing_is_off()));
  const auto head = find_run(call);
  if (!head) return;
  const auto record = parse_number<std::uint64_t>(call.names[1]);
  if (!record) {
    return call.answer(whole(make_error(404, "not_found", "a record is named by its number, from 1")));
  }
  const auto moment = engine::find_moment(parts_.store, head->run, *record);
  if (moment) return call.answer(whole(make_json(to_json(*moment).dump())));
  const engine::EngineError& error = moment.error();
  if (error.kind == engine::EngineError::Kind::NotFound) {
    return call.answer(whole(make_error(404, "not_found", error.message)));
  }
  call.answer(whole(make_error(500, "damaged", error.message)));
}

}  // namespace tenon::server
