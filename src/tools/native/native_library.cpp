#include "tools/native/native_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "diagnostics/kinds.h"

namespace tenon::tools {
namespace {

constexpr std::string_view system_prefix = "system:";

std::string take_loader_error() {
  const char* const error = dlerror();
  return error == nullptr ? "the dynamic linker reported no reason" : error;
}

/// The loader begins most of its messages with the path, which ours have already.
std::string without_path(std::string error, const std::string& path) {
  if (error.starts_with(path + ": ")) error.erase(0, path.size() + 2);
  return error;
}

ExternProblem explain_missing(const std::string& name, const std::string& path) {
  ExternProblem problem = make_problem(diagnostics::LibraryNotFound, name);
  if (name.find('/') == std::string::npos) {
    problem.hints.push_back(fmt::format("write `system:{}` for a system library", name));
  } else if (path != name) {
    problem.hints.push_back(fmt::format("looked for at `{}`", path));
  }
  return problem;
}

Result<std::shared_ptr<const NativeLibrary>, ExternProblem> open_library(const std::string& name,
                                                                         const std::string& folder) {
  std::string target;
  if (name.starts_with(system_prefix)) {
    target = name.substr(system_prefix.size());
    if (target.empty() || target.find('/') != std::string::npos) {
      ExternProblem problem = make_problem(diagnostics::LibraryNotLoadable, name, "it does not name a library");
      problem.hint("`system:` must be followed by a name such as `libm.so.6`; write a path without it");
      return failure(std::move(problem));
    }
  } else {
    if (name.empty() || name.find('\0') != std::string::npos) {
      return failure(make_problem(diagnostics::LibraryNotLoadable, name, "not a valid path"));
    }
    const std::filesystem::path path =
        std::filesystem::path(name).is_absolute() ? std::filesystem::path(name) : std::filesystem::path(folder) / name;
    // With a `/` in it the loader takes it for a path and searches nowhere.
    target = path.has_parent_path() ? path.string() : "./" + path.string();
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(target, error);
    if (!std::filesystem::exists(status)) return failure(explain_missing(name, target));
    if (!std::filesystem::is_regular_file(status)) {
      ExternProblem problem = make_problem(diagnostics::LibraryNotLoadable, name, "it is not a file");
      problem.hint("a library must be a shared object (`.so`)");
      return failure(std::move(problem));
    }
  }
  void* const handle = dlopen(target.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return failure(make_problem(diagnostics::LibraryNotLoadable, name, without_path(take_loader_error(), target)));
  }
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0) {
    return failure(make_problem(diagnostics::LibraryNotLoadable, name, take_loader_error()));
  }
  std::string full_name = name.starts_with(system_prefix) ? name : std::filesystem::absolute(target).string();
  return std::make_shared<const NativeLibrary>(name, std::move(full_name), handle, read_exported_symbols(*map));
}

}  // namespace

NativeLibrary::NativeLibrary(std::string name, std::string full_name, void* handle, std::vector<ExportedSymbol> symbols)
    : name_(std::move(name)), full_name_(std::move(full_name)), handle_(handle), symbols_(std::move(symbols)) {}

const ExportedSymbol* NativeLibrary::find_symbol(std::string_view name) const {
  const auto found = std::ranges::lower_bound(symbols_, name, {}, &ExportedSymbol::name);
  return found != symbols_.end() && found->name == name ? &*found : nullptr;
}

void* NativeLibrary::address_of(const ExportedSymbol& symbol) const {
  return dlsym(handle_, symbol.name.data());
}

Result<NativeLibraries, std::vector<ExternProblem>> NativeLibraries::open(std::span<const std::string> names,
                                                                          const std::string& folder) {
  NativeLibraries libraries;
  std::vector<ExternProblem> problems;
  for (const std::string& name : names) {
    auto library = open_library(name, folder);
    if (library) {
      libraries.add(std::move(*library));
    } else {
      problems.push_back(std::move(library.error()));
    }
  }
  if (!problems.empty()) return failure(std::move(problems));
  return libraries;
}

void NativeLibraries::append(const NativeLibraries& more) {
  for (const auto& library : more.libraries_) add(library);
}

std::string NativeLibraries::describe() const {
  std::string text;
  for (const auto& library : libraries_) {
    if (!text.empty()) text += ", ";
    text += library->name();
  }
  return text;
}

void NativeLibraries::add(std::shared_ptr<const NativeLibrary> library) {
  const auto same = [&](const auto& other) { return other->identity() == library->identity(); };
  if (std::ranges::none_of(libraries_, same)) libraries_.push_back(std::move(library));
}

}  // namespace tenon::tools
