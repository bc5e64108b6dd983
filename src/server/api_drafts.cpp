// What an editor of programs uses: drafts, which are checked and drawn but not written, saving, and the kinds of
// blocks.
#include "blocks/kinds.h"
#include "graph/edit_json.h"
#include "graph/graph_json.h"
#include "server/api.h"
#include "server/palette.h"
#include "server/program_replies.h"
#include "syntax/parse.h"

namespace tenon::server {
namespace {

Json to_json(const std::vector<graph::Patch>& patches) {
  Json json = Json::array();
  for (const graph::Patch& patch : patches) {
    json.push_back(Json::object({{"offset", patch.offset}, {"removed", patch.removed}, {"inserted", patch.inserted}}));
  }
  return json;
}

/// Draws the text and checks it. `drawings`: the ones before.
Json describe_draft(const ProgramFiles& programs, const ProgramFiles::File& program, const graph::Edited& draft,
                    std::map<std::string, graph::Places>& drawings) {
  const source::SourceFile file({0}, program.name, draft.text);
  diagnostics::Diagnostics ignored;
  const syntax::SyntaxTree tree = syntax::parse(file, ignored);
  const graph::Graph graph = graph::make_graph(tree);
  return Json::object({{"version", graph::version_of(draft.text)},
                       {"patches", to_json(draft.patches)},
                       {"agents", graph::placed_agents(graph, tree, drawings[program.name])},
                       {"calls", graph::placed_calls(tree, drawings[program.name + " calls"])},
                       {"declarations", graph::to_json(graph.declarations, tree)},
                       {"problems", diagnose_program(programs, program.path, draft.text)}});
}

}  // namespace

void Api::draft_program(const Call& call) {
  const ProgramFiles::File* const file = find_program_file(parts_.programs, call);
  if (file == nullptr) return;
  const auto body = read_body(call.request, call.answer, {"text", "ops"});
  if (!body) return;
  if (!body->get("text").is_string()) {
    return call.answer(
        whole(make_error(422, "wrong_input", "expected an object with `text`, a string, and optionally `ops`")));
  }
  graph::Edited draft{body->get("text").as_string(), {}, {}};
  if (const Json* const ops = body->find("ops")) {
    const auto edits = graph::read_edits(ops->dump());
    if (!edits) return call.answer(whole(make_refusal(edits.error())));
    auto edited = graph::edit_draft(draft.text, *edits);
    if (!edited) return call.answer(whole(make_refusal(edited.error())));
    draft = std::move(*edited);
  }
  call.answer(whole(make_json(describe_draft(*parts_.programs, *file, draft, parts_.drawings).dump())));
}

void Api::save_program(const Call& call) {
  const ProgramFiles::File* const file = find_program_file(parts_.programs, call);
  if (file == nullptr) return;
  const auto body = read_body(call.request, call.answer, {"version", "text"});
  if (!body) return;
  if (!body->get("version").is_string() || !body->get("text").is_string()) {
    return call.answer(
        whole(make_error(422, "wrong_input", "expected an object with the strings `version` and `text`")));
  }
  const ProgramFiles& programs = *parts_.programs;
  const std::string& text = body->get("text").as_string();
  auto present = read_program(programs, *file);
  if (!present) return call.answer(whole(std::move(present.error())));
  const std::string version = graph::version_of(*present);
  if (version != body->get("version").as_string() && *present != text) {
    return call.answer(whole(refuse_edit(409, "version_conflict", "the program has changed since that version",
                                         Json::object({{"version", version}, {"text", *present}}))));
  }
  if (*present != text && !programs.write(file->path, text)) {
    return call.answer(whole(make_error(503, "unavailable", "cannot write the program's file; it is unchanged")));
  }
  const bool is_loaded = reload(programs, *file, parts_.catalog);
  call.answer(whole(make_json(Json::object({{"version", graph::version_of(text)},
                                            {"problems", diagnose_program(programs, file->path, text)},
                                            {"runs", is_loaded ? "new" : "old"}})
                                  .dump())));
}

void Api::show_palette(const Call& call) {
  Json kinds = Json::array();
  for (const blocks::KindRule& rule : blocks::kind_rules()) {
    Json options = Json::array();
    for (const blocks::OptionRule& option : rule.options) {
      options.push_back(Json::object({{"name", option.name},
                                      {"required", option.need == blocks::OptionRule::Need::Required},
                                      {"meaning", option.meaning}}));
    }
    Json allowed = Json::array();
    for (const auto& [part, name] : palette_parts) {
      if (rule.allows(part)) allowed.push_back(name);
    }
    kinds.push_back(Json::object({{"name", rule.name},
                                  {"meaning", rule.meaning},
                                  {"options", std::move(options)},
                                  {"parts", std::move(allowed)},
                                  {"has_statements", rule.has_statements},
                                  {"is_restartable", rule.is_restartable}}));
  }
  call.answer(whole(make_json(Json::object({{"kinds", std::move(kinds)}}).dump())));
}

}  // namespace tenon::server
