#include "journal/postgres/parameters.h"

#include <endian.h>

#include <string_view>
#include <utility>

#include "base/ensure.h"

namespace tenon::journal::postgres {
namespace {

/// The numbers of these types in `pg_type`, which are the same in every server.
std::uint32_t type_of(ArrayValue::Element element) {
  switch (element) {
    case ArrayValue::Element::Bigint:
      return 20;
    case ArrayValue::Element::Bytea:
      return 17;
    case ArrayValue::Element::Text:
      return 25;
  }
  ENSURE(false);
}

constexpr std::size_t null_flag_at = 4;  // after the number of dimensions
constexpr std::size_t count_at = 12;     // after the flag and the element's type
constexpr std::uint32_t null_length = UINT32_MAX;
constexpr std::size_t value_bytes_max = INT32_MAX;

/// The value's bytes, the highest first; `last` gives those of a shorter number.
class BigEndian {
 public:
  explicit BigEndian(std::uint64_t value) : bytes_(htobe64(value)) {}
  [[nodiscard]] std::string_view last(std::size_t size) const {
    return {reinterpret_cast<const char*>(&bytes_) + sizeof bytes_ - size, size};
  }

 private:
  std::uint64_t bytes_;
};

}  // namespace

void append_big_endian(std::string& bytes, std::uint64_t value, std::size_t size) {
  bytes += BigEndian(value).last(size);
}

ArrayValue::ArrayValue(Element element) {
  append_big_endian(bytes_, 1, 4);  // dimensions
  append_big_endian(bytes_, 0, 4);  // whether there are nulls
  append_big_endian(bytes_, type_of(element), 4);
  append_big_endian(bytes_, 0, 4);  // number of elements
  append_big_endian(bytes_, 1, 4);  // the first one's index
}

void ArrayValue::add(std::int64_t value) {
  append_big_endian(bytes_, 8, 4);
  append_big_endian(bytes_, static_cast<std::uint64_t>(value), 8);
  ++size_;
}

void ArrayValue::add(std::string_view bytes) {
  ENSURE(bytes.size() <= value_bytes_max);
  append_big_endian(bytes_, bytes.size(), 4);
  bytes_ += bytes;
  ++size_;
}

void ArrayValue::add_null() {
  append_big_endian(bytes_, null_length, 4);
  has_null_ = true;
  ++size_;
}

std::string ArrayValue::take() {
  bytes_.replace(null_flag_at, 4, BigEndian(has_null_ ? 1 : 0).last(4));
  bytes_.replace(count_at, 4, BigEndian(size_).last(4));
  return std::move(bytes_);
}

Parameters& Parameters::integer(std::int64_t value) {
  std::string bytes;
  append_big_endian(bytes, static_cast<std::uint64_t>(value), 8);
  return own_bytes(std::move(bytes));
}

Parameters& Parameters::bytes(std::string_view value) {
  add(value.data() == nullptr ? "" : value.data(), value.size());  // null would be NULL
  return *this;
}

Parameters& Parameters::own_bytes(std::string value) {
  const std::string& owned = owned_.emplace_back(std::move(value));
  add(owned.data(), owned.size());
  return *this;
}

Parameters& Parameters::null() {
  add(nullptr, 0);
  return *this;
}

void Parameters::add(const char* value, std::size_t size) {
  ENSURE(size <= value_bytes_max);
  values_.push_back(value);
  lengths_.push_back(static_cast<int>(size));
  formats_.push_back(1);
}

}  // namespace tenon::journal::postgres
