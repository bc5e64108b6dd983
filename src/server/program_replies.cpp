#include "server/program_replies.h"

#include <fmt/format.h>

#include "json/reader.h"

namespace tenon::server {
namespace {

/// Makes the names of files in all texts of the data relative to the program's folder.
void remove_folder(Json& json, const std::string& path) {
  if (json.is_string()) {
    json = Json(without_folder(json.as_string(), path));
  } else if (json.is_array()) {
    for (Json& item : json.mutable_items()) remove_folder(item, path);
  } else if (json.is_object()) {
    for (JsonMember& member : json.mutable_members()) remove_folder(member.value, path);
  }
}

}  // namespace

HttpResponse make_editing_is_off() {
  return make_error(404, "editing_is_off", "this server was started without --edit");
}

HttpResponse refuse_edit(int status, std::string_view code, std::string_view message, const Json& more) {
  HttpResponse response = make_error(status, code, message);
  Json body = parse_own_json(response.body);
  body.update(more);
  response.body = body.dump();
  return response;
}

HttpResponse make_refusal(const graph::Refusal& refusal) {
  return refuse_edit(422, "edit_refused", refusal.reason,
                     refusal.edit ? Json::object({{"edit", *refusal.edit}}) : Json::object());
}

Result<std::string, HttpResponse> read_program(const ProgramFiles& programs, const ProgramFiles::File& file) {
  auto text = programs.read(file.path);
  if (text) return std::move(*text);
  return failure(make_error(503, "unavailable",
                            without_folder(fmt::format("cannot read the program: {}", text.error()), file.path)));
}

Json diagnose_program(const ProgramFiles& programs, const std::string& path, std::string_view text) {
  Json problems = programs.diagnose(path, text);
  remove_folder(problems, path);
  return problems;
}

}  // namespace tenon::server
