#include "cli/commands.h"

#include <fmt/format.h>

#include <memory>
#include <set>

#include "cli/diagnostics_output.h"
#include "cli/engine_report.h"
#include "cli/program_files.h"
#include "compiler/compile.h"
#include "diagnostics/render.h"
#include "engine/extern_binding.h"
#include "engine/program.h"
#include "flows/report.h"
#include "json/json.h"

namespace tenon::cli {
namespace {

/// As diagnostics::render_json.
std::string to_json(const engine::Problem& problem) {
  const Json json = Json::object({{"code", problem.code},
                                  {"severity", "error"},
                                  {"message", problem.message},
                                  {"file", problem.path},
                                  {"line", problem.line},
                                  {"column", problem.column},
                                  {"end_line", problem.line},
                                  {"end_column", problem.column},
                                  {"labels", Json::array()},
                                  {"hints", Json::array()}});
  return json.dump();
}

/// Reports the manifest's errors, which several programs may share, once. Returns whether there are none.
bool check_manifest(const std::string& program, const CheckCommand& command, std::set<std::string>& reported,
                    const Environment& environment) {
  const auto manifest = engine::read_manifest(program, environment.system);
  if (manifest) return true;
  const engine::Problems& problems = manifest.error().problems;
  const bool is_new = problems.list.empty() || reported.insert(problems.list.front().path).second;
  if (is_new && !command.json) report(manifest.error(), environment);
  if (is_new && command.json) {
    for (const engine::Problem& problem : problems.list) environment.write_output(to_json(problem) + "\n");
  }
  return false;
}

/// Returns whether the program has no errors.
bool check_program(const std::string& path, const CheckCommand& command, const Environment& environment) {
  const auto strictness = command.strict ? types::Strictness::Strict : types::Strictness::Relaxed;
  types::Checked checked =
      types::check(path, environment.system.files,
                   {.strictness = strictness, .trust = engine::trust_policy(path, environment.system.files)});
  // The compiler checks the limits of a program that has no other errors.
  if (!checked.diagnostics.has_errors()) {
    auto program = std::make_shared<bytecode::Program>(compiler::compile(checked.program, checked.diagnostics));
    if (!checked.diagnostics.has_errors()) {
      const auto proofs = command.strict ? flows::Proofs::Required : flows::Proofs::Wanted;
      flows::report(*program, flows::find_flows(*program), proofs, checked.files(), checked.diagnostics);
    }
    if (!checked.diagnostics.has_errors() && !command.externs.empty()) {
      engine::check_externs(checked, std::move(program), command.externs, environment.system);
    }
  }
  if (!command.json) {
    print_diagnostics(checked, ShownDiagnostics::All, environment);
  } else {
    const std::vector<const source::SourceFile*> files = checked.files();
    for (const diagnostics::Diagnostic& diagnostic : checked.diagnostics.all()) {
      environment.write_output(diagnostics::render_json(diagnostic, files) + "\n");
    }
  }
  return !checked.diagnostics.has_errors();
}

}  // namespace

int check(const CheckCommand& command, const Environment& environment) {
  bool is_good = true;
  std::set<std::string> manifests;  ///< with errors
  const auto files = find_programs(command.files);
  if (!files) return fail(files.error(), environment);
  for (const std::string& path : *files) {
    is_good = check_manifest(path, command, manifests, environment) && is_good;
    is_good = check_program(path, command, environment) && is_good;
  }
  return is_good ? exit_done : exit_failed;
}

}  // namespace tenon::cli
