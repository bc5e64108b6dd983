#include "journal/postgres/rows.h"

#include "base/ensure.h"
#include "journal/postgres/pq_library.h"

namespace tenon::journal::postgres {
namespace {

std::int64_t from_big_endian(std::string_view bytes) {
  ENSURE(bytes.size() == 2 || bytes.size() == 4 || bytes.size() == 8);
  std::uint64_t value = (static_cast<unsigned char>(bytes.front()) & 0x80U) != 0 ? UINT64_MAX : 0;
  for (const char byte : bytes) value = value << 8U | static_cast<unsigned char>(byte);
  return static_cast<std::int64_t>(value);
}

}  // namespace

void Rows::clear(pg_result* result) {
  pq().clear(result);
}

std::size_t Rows::size() const {
  return result_ ? static_cast<std::size_t>(pq().ntuples(result_.get())) : 0;
}

std::optional<std::string_view> Rows::find_bytes(std::size_t row, int column) const {
  const int at = static_cast<int>(row);
  if (pq().getisnull(result_.get(), at, column) != 0) return std::nullopt;
  return std::string_view(pq().getvalue(result_.get(), at, column),
                          static_cast<std::size_t>(pq().getlength(result_.get(), at, column)));
}

std::string_view Rows::get_bytes(std::size_t row, int column) const {
  const auto bytes = find_bytes(row, column);
  ENSURE(bytes.has_value());
  return *bytes;
}

std::int64_t Rows::get_integer(std::size_t row, int column) const {
  return from_big_endian(get_bytes(row, column));
}

std::optional<std::int64_t> Rows::find_integer(std::size_t row, int column) const {
  const auto bytes = find_bytes(row, column);
  if (!bytes) return std::nullopt;
  return from_big_endian(*bytes);
}

bool Rows::get_boolean(std::size_t row, int column) const {
  const std::string_view bytes = get_bytes(row, column);
  ENSURE(bytes.size() == 1);
  return bytes.front() != 0;
}

Hash Rows::get_hash(std::size_t row, int column) const {
  return Hash::from_bytes(get_bytes(row, column)).value_or(Hash{});
}

std::vector<std::int64_t> Rows::get_integers(std::size_t row, int column) const {
  std::vector<std::int64_t> values;
  const auto bytes = find_bytes(row, column);
  if (!bytes || from_big_endian(bytes->substr(0, 4)) == 0) return values;  // no dimensions
  constexpr std::size_t header_size = 20;
  constexpr std::size_t element_size = 12;  // its length and its value
  const auto count = static_cast<std::size_t>(from_big_endian(bytes->substr(12, 4)));
  ENSURE(bytes->size() == header_size + count * element_size);
  values.reserve(count);
  for (std::size_t at = 0; at < count; ++at)
    values.push_back(from_big_endian(bytes->substr(header_size + at * element_size + 4, 8)));
  return values;
}

}  // namespace tenon::journal::postgres
