#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"

struct pg_result;

namespace tenon::journal::postgres {

/// What a statement has returned, in binary form. A column is read as the type that the statement gives it; one of
/// another type, or a null that is not expected, is a bug.
class Rows {
 public:
  Rows() = default;
  explicit Rows(pg_result* result) : result_(result, &clear) {}

  [[nodiscard]] std::size_t size() const;
  /// Valid as long as the rows.
  [[nodiscard]] std::string_view get_bytes(std::size_t row, int column) const;
  [[nodiscard]] std::optional<std::string_view> find_bytes(std::size_t row, int column) const;
  [[nodiscard]] std::string get_text(std::size_t row, int column) const { return std::string(get_bytes(row, column)); }
  /// A smallint, an integer or a bigint.
  [[nodiscard]] std::int64_t get_integer(std::size_t row, int column) const;
  [[nodiscard]] std::uint64_t get_unsigned(std::size_t row, int column) const {
    return static_cast<std::uint64_t>(get_integer(row, column));
  }
  [[nodiscard]] std::optional<std::int64_t> find_integer(std::size_t row, int column) const;
  [[nodiscard]] bool get_boolean(std::size_t row, int column) const;
  /// Zero if the bytes are not a hash.
  [[nodiscard]] Hash get_hash(std::size_t row, int column) const;
  /// A `bigint[]` without nulls; a null is an empty one.
  [[nodiscard]] std::vector<std::int64_t> get_integers(std::size_t row, int column) const;

 private:
  static void clear(pg_result* result);

  std::unique_ptr<pg_result, void (*)(pg_result*)> result_{nullptr, &clear};
};

}  // namespace tenon::journal::postgres
