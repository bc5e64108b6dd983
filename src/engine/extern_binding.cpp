#include "engine/extern_binding.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "diagnostics/kinds.h"
#include "diagnostics/render.h"
#include "journal/open_store.h"
#include "tools/native/native_library.h"
#include "tools/process/extern_worker.h"

namespace tenon::engine {
namespace {

/// Read by src/report/renderer.cpp.
constexpr const char* reports_variable = "TENON_REPORTS";
/// The extern of std::report (stdlib/report.tn), and the library that defines it, in the folder of `tenon`.
constexpr std::string_view report_extern = "tenon_write_report";
constexpr std::string_view report_library = "tenon_report.so";

bool writes_reports(const bytecode::Program& program) {
  return std::any_of(program.externs.begin(), program.externs.end(),
                     [](const bytecode::Extern& declared) { return declared.name == report_extern; });
}

}  // namespace

Result<std::shared_ptr<const tools::ExternTable>, std::vector<tools::ExternProblem>> bind_externs(
    const ExternSources& sources, const std::optional<project::Manifest>& manifest,
    std::shared_ptr<const bytecode::Program> program, const System& system) {
  auto opened = tools::NativeLibraries::open(sources.libraries);
  if (!opened) return failure(std::move(opened.error()));
  if (manifest) {
    auto more = tools::NativeLibraries::open(manifest->libraries, manifest->folder);
    if (!more) return failure(std::move(more.error()));
    opened->append(*more);
  }
  if (writes_reports(*program)) {
    std::error_code error;
    auto own = std::filesystem::read_symlink(system.executable, error);
    if (error) own = system.executable;
    const std::vector<std::string> library = {(own.parent_path() / report_library).string()};
    auto more = tools::NativeLibraries::open(library);
    if (!more) return failure(std::move(more.error()));
    opened->append(*more);
  }
  return tools::ExternTable::bind(std::move(program), *opened, sources.provided);
}

void check_externs(types::Checked& checked, std::shared_ptr<const bytecode::Program> program,
                   const std::vector<std::string>& libraries, const System& system) {
  // The compiler keeps the order of the declarations.
  const auto span_of = [&](std::uint32_t subject) {
    const types::ExternDeclaration& declared = checked.program.externs[subject];
    return checked.program.modules[declared.module.index].tree->main_span(declared.node);
  };
  std::uint32_t count = 0;  // the built-in externs follow the declared ones
  while (count < program->externs.size() && program->externs[count].builtin_effect == types::BuiltinEffect::Native)
    ++count;
  auto table = bind_externs({libraries}, std::nullopt, std::move(program), system);
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

tools::NativeCallerOptions calling_options(const System& system, const std::string& reports,
                                           std::optional<std::uint32_t> threads, std::function<void()> notify) {
  tools::NativeCallerOptions options;
  if (threads) options.threads = *threads;
  options.notify = std::move(notify);
  options.worker = {system.executable, {"tenon", std::string(tools::extern_worker_argument)}, system.variables()};
  std::erase_if(options.worker.environment,
                [](const std::string& variable) { return variable.starts_with(std::string(reports_variable) + "="); });
  options.worker.environment.push_back(std::string(reports_variable) + "=" + reports);
  return options;
}

std::string reports_folder(const std::string& chosen, const std::string& store, const System& system) {
  std::filesystem::path folder = chosen.empty() ? system.variable(reports_variable) : chosen;
  if (folder.empty()) folder = std::filesystem::path(journal::file_of_store(store)).parent_path() / "reports";
  std::error_code error;
  const auto absolute = std::filesystem::absolute(folder, error);
  return (error ? folder : absolute).lexically_normal().string();
}

}  // namespace tenon::engine
