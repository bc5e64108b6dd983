#include "tools/native/exported_symbols.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tenon::tools {
namespace {

/// The symbol's number is not written anywhere: the hash table that the loader finds symbols by tells it.
std::size_t count_by_gnu_hash(const std::uint32_t* table) {
  const std::uint32_t bucket_count = table[0], first_symbol = table[1], bloom_words = table[2];
  const std::uint32_t* const buckets = table + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* const chains = buckets + bucket_count;
  std::uint32_t last = 0;
  for (std::uint32_t bucket = 0; bucket < bucket_count; ++bucket) last = std::max(last, buckets[bucket]);
  if (last < first_symbol) return first_symbol;
  while ((chains[last - first_symbol] & 1U) == 0) ++last;  // the lowest bit ends a chain
  return last + 1;
}

/// Pointers of the dynamic section are relocated in place by glibc on most machines, and stand as offsets on the
/// others.
template <class T>
const T* at(const link_map& library, ElfW(Addr) address) {
  return std::bit_cast<const T*>(address < library.l_addr ? address + library.l_addr : address);
}

}  // namespace

std::vector<ExportedSymbol> read_exported_symbols(const link_map& library) {
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  std::size_t names_size = 0;
  std::size_t count = 0;
  for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB:
        symbols = at<ElfW(Sym)>(library, entry->d_un.d_ptr);
        break;
      case DT_STRTAB:
        names = at<char>(library, entry->d_un.d_ptr);
        break;
      case DT_STRSZ:
        names_size = entry->d_un.d_val;
        break;
      case DT_HASH:
        count = std::max<std::size_t>(count, at<std::uint32_t>(library, entry->d_un.d_ptr)[1]);
        break;
      case DT_GNU_HASH:
        count = std::max(count, count_by_gnu_hash(at<std::uint32_t>(library, entry->d_un.d_ptr)));
        break;
      default:
        break;
    }
  }
  std::vector<ExportedSymbol> exported;
  if (symbols == nullptr || names == nullptr) return exported;
  for (std::size_t index = 1; index < count; ++index) {
    const ElfW(Sym)& symbol = symbols[index];
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names_size) continue;
    const unsigned binding = symbol.st_info >> 4U, type = symbol.st_info & 0xFU, visibility = symbol.st_other & 0x3U;
    if (binding != STB_GLOBAL && binding != STB_WEAK && binding != STB_GNU_UNIQUE) continue;
    if (visibility == STV_HIDDEN || visibility == STV_INTERNAL) continue;
    // A function written in assembler often has no type.
    const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
    if (!is_function && type != STT_OBJECT) continue;
    exported.push_back({names + symbol.st_name, is_function ? SymbolKind::Function : SymbolKind::Data, symbol.st_size});
  }
  std::ranges::sort(exported, {}, &ExportedSymbol::name);
  return exported;
}

}  // namespace tenon::tools
