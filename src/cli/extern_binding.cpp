#include "cli/extern_binding.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "diagnostics/kinds.h"
#include "diagnostics/render.h"
#include "journal/open_store.h"
#include "tools/native/native_library.h"
#include "tools/process/extern_worker.h"

namespace tenon::cli {
namespace {

/// Read by src/report/renderer.cpp.
constexpr const char* reports_variable = "TENON_REPORTS";
/// The extern of std::report (stdlib/report.tn), and the library that defines it, next to this executable.
constexpr std::string_view report_extern = "tenon_write_report";
constexpr std::string_view report_library = "tenon_report.so";

bool writes_reports(const bytecode::Program& program) {
  return std::any_of(program.externs.begin(), program.externs.end(),
                     [](const bytecode::Extern& declared) { return declared.name == report_extern; });
}

}  // namespace

Result<std::shared_ptr<const tools::ExternTable>, std::vector<tools::ExternProblem>> bind_externs(
    const std::vector<std::string>& libraries, const std::optional<project::Manifest>& manifest,
    std::shared_ptr<const bytecode::Program> program) {
  auto opened = tools::NativeLibraries::open(libraries);
  if (!opened) return failure(std::move(opened.error()));
  if (manifest) {
    auto more = tools::NativeLibraries::open(manifest->libraries, manifest->folder);
    if (!more) return failure(std::move(more.error()));
    opened->append(*more);
  }
  if (writes_reports(*program)) {
    std::error_code error;
    const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::vector<std::string> library = {(own.parent_path() / report_library).string()};
    auto more = tools::NativeLibraries::open(library);
    if (!more) return failure(std::move(more.error()));
    opened->append(*more);
  }
  return tools::ExternTable::bind(std::move(program), *opened);
}

std::shared_ptr<const tools::ExternTable> bind_or_report(const std::vector<std::string>& libraries,
                                                         const std::optional<project::Manifest>& manifest,
                                                         const vm::LoadedProgram& program,
                                                         const Environment& environment) {
  auto table = bind_externs(libraries, manifest, program.shared_program());
  if (table) return std::move(*table);
  const auto colour = environment.error_is_terminal ? diagnostics::Colour::On : diagnostics::Colour::Off;
  for (const tools::ExternProblem& problem : table.error()) {
    const std::string location = problem.place ? program.describe(*problem.place) + ": " : std::string();
    environment.write_styled(location + diagnostics::render(problem, {}, colour));
  }
  return nullptr;
}

void check_externs(types::Checked& checked, std::shared_ptr<const bytecode::Program> program,
                   const std::vector<std::string>& libraries) {
  // The compiler keeps the order of the declarations.
  const auto span_of = [&](std::uint32_t subject) {
    const types::ExternDeclaration& declared = checked.program.externs[subject];
    return checked.program.modules[declared.module.index].tree->main_span(declared.node);
  };
  std::uint32_t count = 0;  // the built-in externs follow the declared ones
  while (count < program->externs.size() && program->externs[count].builtin_effect == types::BuiltinEffect::Native)
    ++count;
  auto table = bind_externs(libraries, std::nullopt, std::move(program));
  if (!table) {
    for (tools::ExternProblem& problem : table.error()) {
      if (problem.subject) problem.span = span_of(*problem.subject);
      checked.diagnostics.add(std::move(static_cast<diagnostics::Diagnostic&>(problem)));
    }
  } else {
    for (std::uint32_t subject = 0; subject < count; ++subject) {
      // A process receives the key in its environment.
      if ((*table)->kind(subject) != tools::BindingKind::PlainSymbol || (*table)->is_process(subject)) continue;
      const std::string& name = checked.program.externs[subject].name;
      checked.diagnostics.report(diagnostics::PlainExtern, span_of(subject), name, (*table)->library(subject))
          .hint(
              "an interrupted call is repeated, and only the key lets a service recognize it: with tenon/extern.h, "
              "`tenon_effect_key(call)` returns the key");
    }
  }
  checked.diagnostics.sort();
}

tools::NativeCallerOptions calling_options(const Environment& environment, const std::string& reports,
                                           std::function<void()> notify) {
  tools::NativeCallerOptions options;
  options.notify = std::move(notify);
  // The link refers to this executable even if its file was replaced.
  options.worker = {"/proc/self/exe", {"tenon", std::string(tools::extern_worker_argument)}, environment.variables()};
  std::erase_if(options.worker.environment,
                [](const std::string& variable) { return variable.starts_with(std::string(reports_variable) + "="); });
  options.worker.environment.push_back(std::string(reports_variable) + "=" + reports);
  return options;
}

std::string reports_folder(const std::string& chosen, const std::string& store, const Environment& environment) {
  std::filesystem::path folder = chosen.empty() ? environment.variable(reports_variable) : chosen;
  if (folder.empty()) folder = std::filesystem::path(journal::file_of_store(store)).parent_path() / "reports";
  std::error_code error;
  const auto absolute = std::filesystem::absolute(folder, error);
  return (error ? folder : absolute).lexically_normal().string();
}

std::vector<std::string> library_paths(const std::vector<std::string>& given,
                                       const std::optional<project::Manifest>& manifest) {
  std::vector<std::string> paths;
  for (const std::string& library : given) {
    paths.push_back(std::filesystem::absolute(library).lexically_normal().string());
  }
  if (!manifest) return paths;
  for (const std::string& library : manifest->libraries) {
    paths.push_back((std::filesystem::path(manifest->folder) / library).lexically_normal().string());
  }
  return paths;
}

}  // namespace tenon::cli
