#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/extern_problem.h"
#include "tools/native/exported_symbols.h"

namespace tenon::tools {

/// A shared library in this process. It is never unloaded, because its texts, threads and exit handlers may refer to it
/// as long as the process lives.
class NativeLibrary final {
 public:
  NativeLibrary(std::string name, std::string full_name, void* handle, std::vector<ExportedSymbol> symbols);
  NativeLibrary(const NativeLibrary&) = delete;
  NativeLibrary& operator=(const NativeLibrary&) = delete;

  /// The name as it was given.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The name under which NativeLibraries::open finds it from any folder: an absolute path, or `system:NAME`.
  [[nodiscard]] const std::string& full_name() const { return full_name_; }
  /// Sorted by name; of this library alone, not of those that it depends on.
  [[nodiscard]] const std::vector<ExportedSymbol>& symbols() const { return symbols_; }
  [[nodiscard]] const ExportedSymbol* find_symbol(std::string_view name) const;
  /// The address of an exported symbol; null if the loader does not find it.
  [[nodiscard]] void* address_of(const ExportedSymbol& symbol) const;
  /// The loader's handle: equal for two names of one file.
  [[nodiscard]] const void* identity() const { return handle_; }

 private:
  std::string name_;
  std::string full_name_;
  void* handle_;
  std::vector<ExportedSymbol> symbols_;
};

/// The libraries in which a program's externs are searched, in the given order.
class NativeLibraries final {
 public:
  /// No libraries.
  NativeLibraries() = default;

  /// Loads each library, its constructors included. A name is the path of a file, relative to `folder` when it does not
  /// begin with `/`; `system:NAME` (`system:libm.so.6`) is searched as the dynamic linker searches. A file that is
  /// named twice is one library. Reports all that cannot be opened.
  [[nodiscard]] static Result<NativeLibraries, std::vector<ExternProblem>> open(std::span<const std::string> names,
                                                                                const std::string& folder = ".");
  /// Adds those of `more` after its own.
  void append(const NativeLibraries& more);

  [[nodiscard]] std::span<const std::shared_ptr<const NativeLibrary>> all() const { return libraries_; }
  /// Their names, for messages: `libops.so, libtext.so`.
  [[nodiscard]] std::string describe() const;

 private:
  void add(std::shared_ptr<const NativeLibrary> library);

  std::vector<std::shared_ptr<const NativeLibrary>> libraries_;
};

}  // namespace tenon::tools
