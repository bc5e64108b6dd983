#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

struct link_map;

namespace tenon::tools {

enum class SymbolKind : std::uint8_t { Function, Data };

/// What a library defines and lets others see. Names are the library's own bytes, valid while it is loaded.
struct ExportedSymbol {
  std::string_view name;
  SymbolKind kind = SymbolKind::Function;
  std::size_t size = 0;  ///< bytes of data; 0 of what carries no size
};

/// The dynamic symbol table of a loaded library, its dependencies left out. Sorted by name.
[[nodiscard]] std::vector<ExportedSymbol> read_exported_symbols(const link_map& library);

}  // namespace tenon::tools
