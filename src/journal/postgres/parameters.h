#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::journal::postgres {

/// PostgreSQL's binary form of numbers: highest byte first.
void append_big_endian(std::string& bytes, std::uint64_t value, std::size_t size);

/// An array of one dimension in PostgreSQL's binary form, to which elements are added.
class ArrayValue {
 public:
  enum class Element : std::uint8_t { Bigint, Bytea, Text };
  explicit ArrayValue(Element element);

  void add(std::int64_t value);
  void add(std::uint64_t value) { add(static_cast<std::int64_t>(value)); }
  /// The bytes of a text or a bytea.
  void add(std::string_view bytes);
  void add(const std::string& bytes) { add(std::string_view(bytes)); }
  void add_null();
  void add(const std::optional<std::int64_t>& value) { value ? add(*value) : add_null(); }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }
  /// The whole array; nothing is to be added afterwards.
  [[nodiscard]] std::string take();

 private:
  std::string bytes_;
  std::size_t size_ = 0;
  bool has_null_ = false;
};

/// The values of a statement's parameters `$1`, `$2`, …, in binary form. What is added as a view must outlive it.
class Parameters {
 public:
  Parameters& integer(std::int64_t value);
  Parameters& integer(std::uint64_t value) { return integer(static_cast<std::int64_t>(value)); }
  Parameters& optional(const std::optional<std::int64_t>& value) { return value ? integer(*value) : null(); }
  Parameters& boolean(bool value) { return own_bytes(std::string(1, value ? '\1' : '\0')); }
  /// A text or a bytea.
  Parameters& bytes(std::string_view value);
  Parameters& own_bytes(std::string value);
  Parameters& array(ArrayValue value) { return own_bytes(value.take()); }
  Parameters& null();

  [[nodiscard]] int count() const { return static_cast<int>(values_.size()); }
  [[nodiscard]] const char* const* values() const { return values_.data(); }
  [[nodiscard]] const int* lengths() const { return lengths_.data(); }
  [[nodiscard]] const int* formats() const { return formats_.data(); }

 private:
  void add(const char* value, std::size_t size);

  std::deque<std::string> owned_;  ///< never moves its elements
  std::vector<const char*> values_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
};

/// A limit of rows as the server takes it: a signed number.
[[nodiscard]] inline std::int64_t row_limit(std::size_t limit) {
  return static_cast<std::int64_t>(std::min<std::size_t>(limit, INT64_MAX));
}

/// An array of texts or byteas.
template <class Range>
[[nodiscard]] ArrayValue make_array(ArrayValue::Element element, const Range& values) {
  ArrayValue array(element);
  for (const auto& value : values) array.add(value);
  return array;
}

}  // namespace tenon::journal::postgres
