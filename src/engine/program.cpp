#include "engine/program.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file_names.h"
#include "base/file_with_text.h"
#include "compiler/compile.h"
#include "diagnostics/render.h"
#include "flows/report.h"
#include "inference/answers/json_values.h"
#include "types/check.h"

namespace tenon::engine {
namespace {

EngineError program_error(Problems problems) {
  return {EngineError::Kind::Program, {}, {}, std::move(problems)};
}

Result<CompiledProgram, EngineError> compile_file(const std::string& path, ProgramSource::Names names,
                                                  FileSystem& files) {
  types::Checked checked = types::check(path, files, {.trust = trust_policy(path, files)});
  std::shared_ptr<const bytecode::Program> program;
  if (!checked.diagnostics.has_errors()) {
    bytecode::Program compiled = compiler::compile(checked.program, checked.diagnostics);
    if (names == ProgramSource::Names::Public) {
      for (bytecode::SourceText& file : compiled.sources) file.path = std::string(public_file_name(file.path));
    }
    program = std::make_shared<const bytecode::Program>(std::move(compiled));
  }
  Problems problems = problems_of(checked);
  if (checked.diagnostics.has_errors()) return failure(program_error(std::move(problems)));
  auto loaded = vm::LoadedProgram::load(program, inference::answers::make_json_reader);
  if (!loaded) {
    Problem& problem = problems.list.emplace_back();
    problem.path = path;
    problem.message = "internal error: the compiled program is not valid: " + loaded.error().message;
    problem.text = fmt::format("{}: error: {}\n", path, problem.message);
    return failure(program_error(std::move(problems)));
  }
  return CompiledProgram{std::move(*loaded), std::move(problems)};
}

}  // namespace

Result<CompiledProgram, EngineError> compile(const ProgramSource& source, const System& system) {
  if (!source.text) return compile_file(source.path, source.names, system.files);
  FileWithText files(system.files, source.path, *source.text);
  return compile_file(source.path, source.names, files);
}

std::optional<std::string> find_errors(const ProgramSource& source, const System& system) {
  const auto compiled = compile(source, system);
  if (compiled) return std::nullopt;
  std::string text;
  for (const Problem& problem : compiled.error().problems.list) {
    if (problem.severity == diagnostics::Severity::Error) text += problem.text;
  }
  return text;
}

Json diagnose(const std::string& path, const std::string& text, const System& system) {
  FileWithText files(system.files, path, text);
  types::Checked checked = types::check(path, files, {.trust = trust_policy(path, files)});
  // The compiler checks the limits of a program that has no other errors.
  if (!checked.diagnostics.has_errors()) {
    const bytecode::Program program = compiler::compile(checked.program, checked.diagnostics);
    if (!checked.diagnostics.has_errors()) {
      flows::report(program, flows::find_flows(program), flows::Proofs::Wanted, checked.files(), checked.diagnostics);
    }
  }
  Json problems = Json::array();
  for (const diagnostics::Diagnostic& diagnostic : checked.diagnostics.all()) {
    problems.push_back(diagnostics::to_json(diagnostic, checked.files()));
  }
  return problems;
}

types::TrustPolicy trust_policy(const std::string& path, FileSystem& files) {
  const auto manifest = project::find_manifest(files, std::filesystem::absolute(path).lexically_normal().string());
  if (!manifest || !*manifest) return {};
  return {(*manifest)->trusts_person, (*manifest)->allows_endorse};
}

Result<std::optional<project::Manifest>, EngineError> read_manifest(const std::string& program_path,
                                                                    const System& system) {
  const std::string absolute = std::filesystem::absolute(program_path).lexically_normal().string();
  auto manifest = project::find_manifest(system.files, absolute);
  if (!manifest) return failure(program_error(problems_of(manifest.error())));
  return std::move(*manifest);
}

Result<inference::prompting::PromptTemplates, EngineError> load_prompt_templates(const std::string& style,
                                                                                 const System& system) {
  auto templates = inference::prompting::PromptTemplates::load(style, system.files);
  if (templates) return std::move(*templates);
  const auto& error = templates.error();
  if (error.file.empty()) return failure(EngineError{EngineError::Kind::Usage, error.message});
  const std::string location = error.line > 0 ? fmt::format("{}:{}", error.file, error.line) : error.file;
  return failure(EngineError{EngineError::Kind::Usage, fmt::format("{}: {}", location, error.message)});
}

std::shared_ptr<const runtime::ProgramImage> make_image(std::shared_ptr<const vm::LoadedProgram> program,
                                                        inference::prompting::PromptTemplates templates) {
  return std::make_shared<const runtime::ProgramImage>(std::move(program), std::move(templates), nullptr);
}

Result<std::shared_ptr<const runtime::ProgramImage>, EngineError> make_bound_image(
    std::shared_ptr<const vm::LoadedProgram> program, inference::prompting::PromptTemplates templates,
    const ExternSources& externs, const std::optional<project::Manifest>& manifest, const System& system) {
  auto bound = bind_externs(externs, manifest, program->shared_program(), system);
  if (!bound) return failure(program_error(problems_of(bound.error(), *program)));
  return std::make_shared<const runtime::ProgramImage>(std::move(program), std::move(templates), std::move(*bound));
}

Result<Program, EngineError> prepare(CompiledProgram compiled, Settings settings,
                                     const std::optional<project::Manifest>& manifest, const System& system) {
  complete(settings, manifest);
  auto templates = load_prompt_templates(settings.prompts, system);
  if (!templates) return failure(std::move(templates.error()));
  auto image = make_bound_image(std::move(compiled.loaded), std::move(*templates),
                                {settings.externs, settings.provided}, manifest, system);
  if (!image) return failure(std::move(image.error()));
  runtime::RunOptions options = run_options(settings, manifest);
  return Program{std::move(*image),
                 std::move(settings),
                 std::move(options),
                 manifest ? manifest->threads : std::nullopt,
                 manifest ? manifest->placements : project::AgentPlacements(),
                 std::move(compiled.warnings)};
}

Result<Program, EngineError> load(const ProgramSource& source, const Settings& settings, const System& system) {
  const auto manifest = read_manifest(source.path, system);
  if (!manifest) return failure(manifest.error());
  auto compiled = compile(source, system);
  if (!compiled) return failure(std::move(compiled.error()));
  return prepare(std::move(*compiled), settings, *manifest, system);
}

Result<Program, EngineError> load_unbound(const ProgramSource& source, Settings settings, const System& system) {
  const auto manifest = read_manifest(source.path, system);
  if (!manifest) return failure(manifest.error());
  auto compiled = compile(source, system);
  if (!compiled) return failure(std::move(compiled.error()));
  complete(settings, *manifest);
  auto templates = load_prompt_templates(settings.prompts, system);
  if (!templates) return failure(std::move(templates.error()));
  runtime::RunOptions options = run_options(settings, *manifest);
  return Program{make_image(std::move(compiled->loaded), std::move(*templates)),
                 std::move(settings),
                 std::move(options),
                 std::nullopt,
                 *manifest ? (*manifest)->placements : project::AgentPlacements(),
                 std::move(compiled->warnings)};
}

}  // namespace tenon::engine
