// The programs' texts and graphs, and edits of them.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "graph/edit_json.h"
#include "graph/graph_json.h"
#include "server/api.h"
#include "syntax/parse.h"

namespace tenon::server {

using nlohmann::ordered_json;

namespace {

/// {"name","version","text","graph","problem"}: `problem` is there when the text cannot be edited as a graph.
ordered_json describe(const std::string& name, const std::string& text) {
  const source::SourceFile file({0}, name, text);
  diagnostics::Diagnostics diagnostics;
  const syntax::SyntaxTree tree = syntax::parse(file, diagnostics);
  ordered_json program = {{"name", name}, {"version", graph::version_of(text)}, {"text", text}};
  program["graph"] = ordered_json::parse(graph::to_json(graph::make_graph(tree), tree));
  if (const auto problem = graph::find_graph_problem(text)) program["problem"] = *problem;
  return program;
}

std::string dumped(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

const ProgramFiles::File* ProgramFiles::find(std::string_view name) const {
  const auto found = std::find_if(files.begin(), files.end(), [&](const File& file) { return file.name == name; });
  return found == files.end() ? nullptr : &*found;
}

/// The file that is asked for and its text; an answer was given when there is none.
std::optional<std::pair<const ProgramFiles::File*, std::string>> Api::read_program(const Call& call) {
  const auto wrong = [&](int status, std::string_view code, const std::string& message) {
    call.answer({make_error(status, code, message), nullptr, true});
    return std::nullopt;
  };
  if (parts_.programs == nullptr) {
    return wrong(404, "editing_is_off", "this server was started without --edit, and does not show its programs");
  }
  const ProgramFiles::File* const file = parts_.programs->find(call.names.front());
  if (file == nullptr) {
    return wrong(404, "not_found",
                 fmt::format("there is no program `{}`; GET /v1/programs lists them", call.names.front()));
  }
  auto text = parts_.programs->read(file->path);
  if (!text) return wrong(503, "unavailable", fmt::format("the program cannot be read: {}", text.error()));
  return std::pair(file, std::move(*text));
}

void Api::list_programs(const Call& call) {
  ordered_json programs = ordered_json::array();
  if (parts_.programs != nullptr) {
    for (const ProgramFiles::File& file : parts_.programs->files) programs.push_back({{"name", file.name}});
  }
  call.answer(whole(make_json(dumped({{"programs", std::move(programs)}}))));
}

void Api::show_program(const Call& call) {
  const auto program = read_program(call);
  if (!program) return;
  call.answer(whole(make_json(dumped(describe(program->first->name, program->second)))));
}

void Api::edit_program(const Call& call) {
  const auto program = read_program(call);
  if (!program) return;
  const auto& [file, text] = *program;
  const auto wrong = [&](int status, std::string_view code, const std::string& message, const ordered_json& more) {
    HttpResponse response = make_error(status, code, message);
    ordered_json body = ordered_json::parse(response.body);
    body.update(more);
    response.body = dumped(body);
    call.answer({std::move(response), nullptr, true});
  };
  if (!read_body(call.request, call.answer, {"version", "ops", "dry_run"})) return;
  const ordered_json body = ordered_json::parse(call.request.body.empty() ? "{}" : call.request.body, nullptr, false);
  const bool is_whole = body.is_object() && body.contains("version") && body["version"].is_string() &&
                        body.contains("ops") && (!body.contains("dry_run") || body["dry_run"].is_boolean());
  if (!is_whole) {
    return wrong(422, "wrong_input",
                 "the body is an object with `version`, a text, `ops`, and perhaps `dry_run`, a boolean",
                 ordered_json::object());
  }
  const auto conflicts = [&](std::string_view present) {
    const std::string version = graph::version_of(present);
    if (body["version"] == version) return false;
    wrong(409, "version_conflict", "the program has changed since that version; read it again, then edit",
          {{"version", version}});
    return true;
  };
  if (conflicts(text)) return;
  const auto refused = [&](const graph::Refusal& refusal) {
    wrong(422, "edit_refused", refusal.reason,
          refusal.edit ? ordered_json{{"edit", *refusal.edit}} : ordered_json::object());
  };
  const auto edits = graph::read_edits(body["ops"].dump());
  if (!edits) return refused(edits.error());
  const auto edited = graph::apply_edits(
      text, *edits, [&, path = file->path](std::string_view changed) { return parts_.programs->check(path, changed); });
  if (!edited) return refused(edited.error());
  const bool is_kept = body.contains("dry_run") && body["dry_run"].get<bool>();
  // Somebody may have saved the file while the new text was checked.
  if (const auto present = parts_.programs->read(file->path); present && conflicts(*present)) return;
  if (!is_kept && edited->text != text && !parts_.programs->write(file->path, edited->text)) {
    return wrong(503, "unavailable", "the program's file cannot be written; it is as it was", ordered_json::object());
  }
  ordered_json answer = describe(file->name, edited->text);
  answer["inverse"] = ordered_json::parse(graph::to_json(edited->inverse));
  call.answer(whole(make_json(dumped(answer))));
}

}  // namespace tenon::server
