#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "journal/postgres/parameters.h"

namespace tenon::journal::postgres {

/// Writes a statement's text, if it is new, and its parameters in the same order.
class Composer {
 public:
  Composer(std::string* sql, Parameters& parameters) : sql_(sql), parameters_(parameters) {}

  Composer& text(std::string_view text) {
    if (sql_ != nullptr) *sql_ += text;
    return *this;
  }
  Composer& integer(std::int64_t value) {
    parameters_.integer(value);
    return placeholder("bigint");
  }
  Composer& integer(std::uint64_t value) { return integer(static_cast<std::int64_t>(value)); }
  Composer& optional(const std::optional<std::int64_t>& value) {
    parameters_.optional(value);
    return placeholder("bigint");
  }
  Composer& bytes(std::string_view value) {
    parameters_.bytes(value);
    return placeholder("bytea");
  }
  Composer& optional_bytes(const std::string* value) {
    value == nullptr ? parameters_.null() : parameters_.bytes(*value);
    return placeholder("bytea");
  }
  /// A table of arrays, `(SELECT unnest(…) AS column, …) AS alias`: each column has what `value` adds to its array for
  /// each item. The server reads such arrays side by side; those of `unnest(…, …)` it copies first.
  template <class Items>
  struct Column {
    std::string_view name;
    ArrayValue::Element element;
    void (*value)(ArrayValue& to, const typename Items::value_type& item);
  };
  template <class Items>
  Composer& table(std::string_view alias, const Items& items,
                  const std::vector<Column<std::type_identity_t<Items>>>& columns) {
    std::string_view separator = "(SELECT unnest(";
    for (const auto& column : columns) {
      ArrayValue array(column.element);
      for (const auto& item : items) column.value(array, item);
      parameters_.array(std::move(array));
      text(separator);
      placeholder(type_of(column.element));
      text(") AS ").text(column.name);
      separator = ", unnest(";
    }
    return text(") AS ").text(alias);
  }

 private:
  Composer& placeholder(std::string_view type) {
    ++count_;
    return text("$").text(std::to_string(count_)).text("::").text(type);
  }

  static std::string_view type_of(ArrayValue::Element element) {
    return element == ArrayValue::Element::Bigint  ? "bigint[]"
           : element == ArrayValue::Element::Bytea ? "bytea[]"
                                                   : "text[]";
  }

  std::string* sql_;
  Parameters& parameters_;
  int count_ = 0;
};

}  // namespace tenon::journal::postgres
