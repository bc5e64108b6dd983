#include "journal/sqlite/page_runs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "journal/store.h"

namespace tenon::journal::sqlite {
namespace {

/// The first byte of a page of a B-tree.
enum class PageKind : std::uint8_t { IndexInterior = 0x02, IndexLeaf = 0x0a, TableLeaf = 0x0d };

constexpr std::size_t leaf_header_bytes = 8;
constexpr std::size_t interior_header_bytes = 12;
constexpr std::size_t child_bytes = 4;  ///< the number of a page, before the payload of an interior page's cell

/// The types of a record's columns, as numbers.
constexpr std::uint64_t null_type = 0;
constexpr std::uint64_t integer_type_max = 9;
constexpr std::uint64_t type_of_name = 13 + 2 * run_name_bytes;
constexpr std::uint64_t type_of_chain = 12 + 2 * Hash::size;

/// Reads a cell from its beginning; nothing after its end.
class Cell {
 public:
  explicit Cell(std::string_view bytes) : rest_(bytes) {}

  void skip(std::size_t bytes) { rest_.remove_prefix(std::min(bytes, rest_.size())); }
  [[nodiscard]] std::optional<std::uint64_t> take_number() {
    constexpr int bytes_max = 9;
    std::uint64_t number = 0;
    for (int at = 0; at < bytes_max && !rest_.empty(); ++at) {
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      if (at == bytes_max - 1) return number << 8U | byte;
      number = number << 7U | (byte & 0x7fU);
      if ((byte & 0x80U) == 0) return number;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// The name that a record begins with, if it is a row of `runs`, or one of the index of its names.
std::optional<std::string> name_in(std::string_view record, PageKind kind) {
  Cell header(record);
  const auto header_bytes = header.take_number();
  if (!header_bytes || *header_bytes > record.size()) return std::nullopt;
  header = Cell(record.substr(0, *header_bytes));
  static_cast<void>(header.take_number());
  std::vector<std::uint64_t> types;
  while (const auto type = header.take_number()) types.push_back(*type);
  const bool is_row = kind == PageKind::TableLeaf && types.size() >= 5 && types[0] == null_type &&
                      types[1] == type_of_name && types[4] == type_of_chain;
  const bool is_entry = kind != PageKind::TableLeaf && types.size() == 2 && types[0] == type_of_name &&
                        types[1] > null_type && types[1] <= integer_type_max;
  if (!is_row && !is_entry) return std::nullopt;
  const std::string_view name = record.substr(*header_bytes).substr(0, run_name_bytes);
  return is_run_name(name) ? std::optional(std::string(name)) : std::nullopt;
}

}  // namespace

std::vector<std::string> run_names_on(std::string_view page) {
  std::vector<std::string> names;
  const auto number_at = [&](std::size_t at) {
    return std::size_t{static_cast<std::uint8_t>(page[at])} << 8U | static_cast<std::uint8_t>(page[at + 1]);
  };
  if (page.size() < interior_header_bytes) return names;
  const auto kind = static_cast<PageKind>(page.front());
  if (kind != PageKind::TableLeaf && kind != PageKind::IndexLeaf && kind != PageKind::IndexInterior) return names;
  const bool is_interior = kind == PageKind::IndexInterior;
  const std::size_t pointers = is_interior ? interior_header_bytes : leaf_header_bytes;
  const std::size_t cells = number_at(3);
  for (std::size_t index = 0; index < cells && pointers + 2 * index + 2 <= page.size(); ++index) {
    const std::size_t at = number_at(pointers + 2 * index);
    if (at >= page.size()) continue;
    Cell cell(page.substr(at));
    if (is_interior) cell.skip(child_bytes);
    static_cast<void>(cell.take_number());                                   // the size of the payload
    if (kind == PageKind::TableLeaf) static_cast<void>(cell.take_number());  // the id of the row
    if (auto name = name_in(cell.rest(), kind)) names.push_back(std::move(*name));
  }
  return names;
}

}  // namespace tenon::journal::sqlite
