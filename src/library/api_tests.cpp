// Tests and pictures of programs of tenon/tenon.h.
#include "engine/program_tests.h"
#include "graph/graph_json.h"
#include "graph/pictures.h"
#include "json/json.h"
#include "library/handles.h"
#include "syntax/parse.h"

using namespace tenon;
using library::guarded;
using library::report;
using library::text_or_empty;

namespace {

std::string list_tests(const bytecode::Program& code) {
  Json list = Json::array();
  for (const bytecode::TestCase& test : code.tests) {
    list.push_back(Json::object({{"name", test.name},
                                 {"path", code.sources[test.place.file].path},
                                 {"line", static_cast<std::int64_t>(test.place.line)}}));
  }
  return list.dump();
}

}  // namespace

tenon_string* tenon_program_tests(const tenon_program* program) {
  return library::text_for_host(program, [&] { return list_tests(program->program.code()); });
}

tenon_status tenon_program_run_test(const tenon_program* program, size_t index, uint32_t flags, tenon_string** problem,
                                    tenon_error** error) {
  if (!library::prepare(error, {program}, problem)) return TENON_USAGE;
  return guarded(*program->state, error, [&]() -> tenon_status {
    const auto& tests = program->program.code().tests;
    if (index >= tests.size()) return report(TENON_USAGE, "the program has no such test", error);
    const auto mode = (flags & TENON_TEST_INTERRUPTED) != 0 ? engine::TestMode::Journalled : engine::TestMode::Plain;
    auto found = engine::run_test(program->program.image->loaded(), tests[index], mode, nullptr);
    *problem = new tenon_string{found ? std::move(*found) : std::string()};
    return TENON_OK;
  });
}

tenon_status tenon_program_graph(const tenon_program* program, const char* form, tenon_string** graph,
                                 tenon_error** error) {
  if (!library::prepare(error, {program}, graph)) return TENON_USAGE;
  const std::string_view wanted = text_or_empty(form);
  return guarded(*program->state, error, [&]() -> tenon_status {
    if (wanted != "svg" && wanted != "dot" && wanted != "json") {
      return report(TENON_USAGE, "expected the form `svg`, `dot` or `json`, got `" + std::string(wanted) + "`", error);
    }
    const bytecode::SourceText& entry = program->program.code().sources.front();
    const source::SourceFile file({0}, entry.path, entry.text);
    diagnostics::Diagnostics diagnostics;
    const syntax::SyntaxTree tree = syntax::parse(file, diagnostics);
    const graph::Graph made = graph::make_graph(tree);
    std::string text;
    if (wanted == "json") {
      text = graph::to_json(made, tree);
    } else if (!made.agents.empty()) {
      text = wanted == "svg" ? graph::to_svg(made) : graph::to_dot(made);
    }
    *graph = new tenon_string{std::move(text)};
    return TENON_OK;
  });
}
