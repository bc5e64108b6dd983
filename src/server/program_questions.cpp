#include "server/program_questions.h"

#include "json/reader.h"
#include "server/plan_drawing.h"
#include "server/program_replies.h"

namespace tenon::server {
namespace {

/// A place in a text of one of the programs.
struct Place {
  const ProgramFiles::File* file = nullptr;
  std::string text;
  std::size_t offset = 0;
};

/// Nothing after a refusal was answered.
std::optional<Place> read_place(const ProgramFiles* programs, const Api::Call& call) {
  const ProgramFiles::File* const file = find_program_file(programs, call);
  if (file == nullptr) return std::nullopt;
  const auto body = read_body(call.request, call.answer, {"text", "offset"});
  if (!body) return std::nullopt;
  const bool is_right = body->get("text").is_string() && body->get("offset").is_count() &&
                        body->get("offset").as_count() <= body->get("text").as_string().size();
  if (!is_right) {
    call.answer(whole(make_error(422, "wrong_input",
                                 "expected an object with `text`, a string, and `offset`, a place in it in bytes")));
    return std::nullopt;
  }
  return Place{file, body->get("text").as_string(), body->get("offset").as_count()};
}

void add_text(Json& json, const char* name, const std::string& text) {
  if (!text.empty()) json[name] = text;
}

/// A text of one of the programs; nothing after a refusal was answered.
std::optional<Place> read_text(const ProgramFiles* programs, const Api::Call& call) {
  const ProgramFiles::File* const file = find_program_file(programs, call);
  if (file == nullptr) return std::nullopt;
  const auto body = read_body(call.request, call.answer, {"text"});
  if (!body) return std::nullopt;
  if (!body->get("text").is_string()) {
    call.answer(whole(make_error(422, "wrong_input", "expected an object with `text`, a string")));
    return std::nullopt;
  }
  return Place{file, body->get("text").as_string(), 0};
}

Json to_json(const engine::ShownPrompt& prompt) {
  Json messages = Json::array();
  for (const inference::Message& message : prompt.messages) {
    messages.push_back(Json::object({{"role", inference::role_name(message.role)}, {"text", message.text}}));
  }
  Json json = Json::object({{"kind", prompt.kind},
                            {"function", prompt.function},
                            {"line", prompt.line},
                            {"column", prompt.column},
                            {"messages", std::move(messages)},
                            {"other_forms", prompt.other_forms}});
  add_text(json, "note", prompt.note);
  if (!prompt.schema.empty()) json["schema"] = parse_own_json(prompt.schema);
  return json;
}

}  // namespace

void show_prompts(const ProgramFiles* programs, const Api::Call& call) {
  const auto place = read_text(programs, call);
  if (!place) return;
  const auto shown = programs->prompts(place->file->path, place->text);
  Json prompts = Json::array();
  Json tools = Json::array();
  if (shown) {
    for (const engine::ShownPrompt& prompt : shown->prompts) {
      if (prompt.file == place->file->path) prompts.push_back(to_json(prompt));
    }
    for (const std::string& tool : shown->tools) tools.push_back(without_folder(tool, place->file->path));
  }
  call.answer(whole(make_json(
      Json::object({{"prompts", std::move(prompts)}, {"tools", std::move(tools)}, {"has_errors", !shown}}).dump())));
}

void show_plans(const ProgramFiles* programs, const Api::Call& call) {
  const auto place = read_text(programs, call);
  if (!place) return;
  auto plans = programs->plans(place->file->path, place->text);
  const bool has_errors = !plans;
  if (!plans) plans = Json::array();
  for (Json& plan : plans->mutable_items()) {
    plan["place"] = without_folder(plan.get("place").as_string(), place->file->path);
    plan["graph"] = draw_plan(plan);
  }
  call.answer(whole(make_json(Json::object({{"plans", std::move(*plans)}, {"has_errors", has_errors}}).dump())));
}

void complete_program(const ProgramFiles* programs, const Api::Call& call) {
  const auto place = read_place(programs, call);
  if (!place) return;
  const completion::Completions found = programs->complete(place->file->path, place->text, place->offset);
  Json suggestions = Json::array();
  for (const completion::Suggestion& one : found.suggestions) {
    Json json = Json::object({{"label", one.label}, {"kind", completion::name_of(one.kind)}});
    add_text(json, "detail", one.detail);
    add_text(json, "documentation", one.documentation);
    add_text(json, "inserted", one.inserted);
    suggestions.push_back(std::move(json));
  }
  call.answer(whole(make_json(Json::object({{"from", found.from},
                                            {"to", found.to},
                                            {"complete", found.is_complete},
                                            {"suggestions", std::move(suggestions)}})
                                  .dump())));
}

void explain_program(const ProgramFiles* programs, const Api::Call& call) {
  const auto place = read_place(programs, call);
  if (!place) return;
  Json json = Json::object();
  if (const auto meaning = programs->explain(place->file->path, place->text, place->offset)) {
    json = Json::object({{"from", meaning->from}, {"to", meaning->to}, {"title", meaning->title}});
    add_text(json, "documentation", meaning->documentation);
  }
  call.answer(whole(make_json(json.dump())));
}

}  // namespace tenon::server
