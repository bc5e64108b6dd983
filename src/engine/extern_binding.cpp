#include "engine/extern_binding.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "diagnostics/kinds.h"
#include "diagnostics/render.h"
#include "journal/open_store.h"
#include "tools/native/native_library.h"
#include "tools/process/extern_worker.h"
#include "tools/python/python_file.h"

namespace tenon::engine {
namespace {

/// Read by src/report/renderer.cpp.
constexpr const char* reports_variable = "TENON_REPORTS";
/// The path of the Python that runs functions of Python files.
constexpr const char* python_variable = "TENON_PYTHON";
/// The extern of std::report (stdlib/report.tn), and the library that defines it, in the folder of `tenon`.
constexpr std::string_view report_extern = "tenon_write_report";
constexpr std::string_view report_library = "tenon_report.so";

struct Libraries {
  std::vector<std::string> native;
  std::vector<std::string> python;
};

Libraries sort_libraries(const std::vector<std::string>& names) {
  Libraries sorted;
  for (const std::string& name : names) (tools::is_python_file(name) ? sorted.python : sorted.native).push_back(name);
  return sorted;
}

/// Adds the opened files to `to`. Returns what is wrong with them, if anything.
std::optional<std::vector<tools::ExternProblem>> open_python(const std::vector<std::string>& names,
                                                             const std::string& folder,
                                                             const bytecode::Program& program, const System& system,
                                                             std::vector<tools::PythonFile>& to) {
  std::vector<tools::ExternProblem> problems;
  for (const std::string& name : names) {
    auto file =
        tools::PythonFile::open(name, folder, program, tools::python_command(find_python(system), system.variables()));
    if (!file) {
      problems.push_back(std::move(file.error()));
    } else if (std::ranges::none_of(to, [&](const auto& known) { return known.path() == file->path(); })) {
      to.push_back(std::move(*file));
    }
  }
  return problems.empty() ? std::nullopt : std::optional(std::move(problems));
}

/// The path of the library of std::report; empty: this program has none.
std::string find_report_library(const System& system) {
  if (!system.report_library.empty() || system.executable.empty()) return system.report_library;
  std::error_code error;
  auto own = std::filesystem::read_symlink(system.executable, error);
  if (error) own = system.executable;
  return (own.parent_path() / report_library).string();
}

bool writes_reports(const bytecode::Program& program) {
  return std::any_of(program.externs.begin(), program.externs.end(),
                     [](const bytecode::Extern& declared) { return declared.name == report_extern; });
}

}  // namespace

std::string find_python(const System& system) {
  if (std::string chosen = system.variable(python_variable); !chosen.empty()) return chosen;
  std::string folders = system.variable("PATH");
  for (std::size_t start = 0; start <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', start), folders.size());
    const std::string path = folders.substr(start, end - start) + "/python3";
    if (end > start && ::access(path.c_str(), X_OK) == 0) return path;
    start = end + 1;
  }
  return {};
}

Result<std::shared_ptr<const tools::ExternTable>, std::vector<tools::ExternProblem>> bind_externs(
    const ExternSources& sources, const std::optional<project::Manifest>& manifest,
    std::shared_ptr<const bytecode::Program> program, const System& system) {
  const Libraries given = sort_libraries(sources.libraries);
  auto opened = tools::NativeLibraries::open(given.native);
  if (!opened) return failure(std::move(opened.error()));
  std::vector<tools::PythonFile> python;
  if (auto problems = open_python(given.python, {}, *program, system, python)) return failure(std::move(*problems));
  if (manifest) {
    const Libraries of_project = sort_libraries(manifest->libraries);
    auto more = tools::NativeLibraries::open(of_project.native, manifest->folder);
    if (!more) return failure(std::move(more.error()));
    opened->append(*more);
    auto problems = open_python(of_project.python, manifest->folder, *program, system, python);
    if (problems) return failure(std::move(*problems));
  }
  if (writes_reports(*program)) {
    const std::string library = find_report_library(system);
    if (library.empty()) {
      auto problem = tools::make_problem(diagnostics::LibraryNotLoadable, std::string(report_library),
                                         "it is not beside libtenon");
      problem.hint("`std::report` needs it; the option `report-library` is its path, such as that beside `tenon`");
      return failure(std::vector{std::move(problem)});
    }
    auto more = tools::NativeLibraries::open(std::vector{library});
    if (!more) {
      for (tools::ExternProblem& problem : more.error()) {
        problem.hint(fmt::format("`std::report` needs it; `{}` is installed beside `tenon`", report_library));
      }
      return failure(std::move(more.error()));
    }
    opened->append(*more);
  }
  return tools::ExternTable::bind(std::move(program), *opened, sources.provided, std::move(python));
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
                                           std::optional<std::uint32_t> threads, std::function<void()> notify,
                                           std::function<bool()> may_begin) {
  tools::NativeCallerOptions options;
  if (threads) options.threads = *threads;
  options.notify = std::move(notify);
  options.may_begin = std::move(may_begin);
  options.worker = {system.executable, {"tenon", std::string(tools::extern_worker_argument)}, system.variables()};
  if (!system.worker.empty()) {
    options.worker.path = system.worker.front();
    options.worker.arguments = system.worker;
  }
  options.python = tools::python_command(find_python(system), system.variables());
  std::erase_if(options.worker.environment,
                [](const std::string& variable) { return variable.starts_with(std::string(reports_variable) + "="); });
  options.worker.environment.push_back(std::string(reports_variable) + "=" + reports);
  return options;
}

std::string reports_folder(const std::string& chosen, const std::string& store, const System& system) {
  std::filesystem::path folder = chosen.empty() ? system.variable(reports_variable) : chosen;
  // Without a store, or with one in a database, in the current folder.
  if (folder.empty())
    folder = std::filesystem::path(journal::file_of_store(store).value_or("")).parent_path() / "reports";
  std::error_code error;
  const auto absolute = std::filesystem::absolute(folder, error);
  return (error ? folder : absolute).lexically_normal().string();
}

}  // namespace tenon::engine
