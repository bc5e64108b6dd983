#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

struct link_map;

namespace tenon::tools {

enum class SymbolKind : std::uint8_t { Function, Data };

/// A symbol that a library exports. Names are the library's own bytes, valid while it is loaded.
struct ExportedSymbol {
  std::string_view name;
  SymbolKind kind = SymbolKind::Function;
  std::size_t size = 0;  ///< bytes of data; 0 if unknown
};

/// The dynamic symbol table of a loaded library, without its dependencies. Sorted by name.
[[nodiscard]] std::vector<ExportedSymbol> read_exported_symbols(const link_map& library);

}  // namespace tenon::tools
