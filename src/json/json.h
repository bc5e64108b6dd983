#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "json/message_version.h"

namespace tenon {

/// The first double above every integer of 64 bits.
inline constexpr double two_to_63 = 9223372036854775808.0;

struct JsonMember;
struct JsonEntry;

/// How a Json is written as text.
enum class JsonForm : std::uint8_t {
  Compact,    ///< no white space; a Number has a point or an exponent, so that it is read back as a Number
  Pretty,     ///< the same with line breaks, and two spaces for each level of nesting
  Shortest,   ///< compact; a Number has as few characters as possible: a whole one looks like an integer
  Canonical,  ///< RFC 8785: members sorted by name, all numbers as doubles; equal data have equal text
};

/// A JSON value. Objects keep the order of their members, and integers of 64 bits keep every digit. A value that was
/// read from a text is nested at most as deep as the reader's limits allow; functions on values recurse.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<JsonMember>;
  /// `Unsigned`: an integer above INT64_MAX. `Number`: any other number, also one without a fraction.
  enum class Kind : std::uint8_t { Null, Boolean, Integer, Unsigned, Number, String, Array, Object };

  /// null
  Json() noexcept;
  Json(std::nullptr_t) noexcept;
  template <std::same_as<bool> Boolean>
  Json(Boolean value);
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool> && !std::same_as<Integer, char>)
  Json(Integer value);
  /// A Number; null if the value is not finite.
  Json(double value);
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text);
  Json(Array items);
  Json(Object members);
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  [[nodiscard]] static Json array();
  [[nodiscard]] static Json array(std::initializer_list<Json> items);
  /// The elements of a range, such as a vector of strings.
  template <class Range>
  [[nodiscard]] static Json array_of(const Range& range) {
    Array items;
    for (const auto& item : range) items.emplace_back(item);
    return Json(std::move(items));
  }
  [[nodiscard]] static Json object();
  /// The names differ. The values are moved out of the list.
  [[nodiscard]] static Json object(std::initializer_list<JsonEntry> entries);

  [[nodiscard]] Kind kind() const;
  [[nodiscard]] bool is_null() const { return kind() == Kind::Null; }
  [[nodiscard]] bool is_boolean() const { return kind() == Kind::Boolean; }
  /// An integer that fits into a signed 64-bit one.
  [[nodiscard]] bool is_integer() const { return kind() == Kind::Integer; }
  [[nodiscard]] bool is_numeric() const {
    return kind() == Kind::Integer || kind() == Kind::Unsigned || kind() == Kind::Number;
  }
  [[nodiscard]] bool is_string() const { return kind() == Kind::String; }
  [[nodiscard]] bool is_array() const { return kind() == Kind::Array; }
  [[nodiscard]] bool is_object() const { return kind() == Kind::Object; }
  /// An integer from 0 to UINT64_MAX.
  [[nodiscard]] bool is_count() const;

  // Each of these requires the kind that it names; another one is a bug of the caller.
  [[nodiscard]] bool as_boolean() const;
  [[nodiscard]] std::int64_t as_integer() const;
  [[nodiscard]] std::uint64_t as_count() const;
  [[nodiscard]] const std::string& as_string() const;
  [[nodiscard]] const Array& items() const;
  [[nodiscard]] const Object& members() const;
  [[nodiscard]] Array& mutable_items();
  [[nodiscard]] Object& mutable_members();
  /// Any number; an integer beyond 2^53 is rounded.
  [[nodiscard]] double as_double() const;

  /// The items of an array; none for everything else.
  [[nodiscard]] const Array& items_or_none() const;
  /// The number of items or members; 0 for everything else.
  [[nodiscard]] std::size_t size() const;

  /// The member with that name, or null; null also if this is not an object.
  [[nodiscard]] const Json* find(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// The member with that name; JSON's null without one, or if this is not an object.
  [[nodiscard]] const Json& get(std::string_view name) const;
  // The member with that name if it has that type; otherwise the given value.
  [[nodiscard]] std::string text_or(std::string_view name, std::string_view otherwise) const;
  [[nodiscard]] std::uint64_t count_or(std::string_view name, std::uint64_t otherwise) const;
  [[nodiscard]] bool boolean_or(std::string_view name, bool otherwise) const;

  /// Replaces the member with that name, or appends it if there is none, and returns the object.
  Json& set(std::string_view name, Json value) &;
  [[nodiscard]] Json&& set(std::string_view name, Json value) &&;
  /// The member with that name, which is added if it is missing. null becomes an object.
  [[nodiscard]] Json& operator[](std::string_view name);
  /// Replaces or appends each member of another object.
  void update(Json other);
  /// Removes the member with that name if there is one.
  void erase(std::string_view name);
  /// Appends an item. null becomes an array.
  void push_back(Json item);

  [[nodiscard]] std::string dump(JsonForm form = JsonForm::Compact) const;

  /// Numbers are compared by their mathematical value, objects regardless of the order of their members.
  friend bool operator==(const Json& a, const Json& b);

 private:
  using Data = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object>;

  Data data_;
};

struct JsonMember {
  std::string name;
  Json value;
};

/// A member of an object that is being written down.
struct JsonEntry {
  std::string_view name;
  mutable Json value;  ///< moved into the object: the elements of an initializer list are constant
};

// Defined here because a Json is only complete where its members are.
template <std::same_as<bool> Boolean>
Json::Json(Boolean value) : data_(value) {}
template <std::integral Integer>
  requires(!std::same_as<Integer, bool> && !std::same_as<Integer, char>)
Json::Json(Integer value) {
  if (std::in_range<std::int64_t>(value)) {
    data_ = static_cast<std::int64_t>(value);
  } else {
    data_ = static_cast<std::uint64_t>(value);
  }
}
inline Json::Kind Json::kind() const {
  return static_cast<Kind>(data_.index());
}
inline bool Json::as_boolean() const {
  return std::get<bool>(data_);
}
inline std::int64_t Json::as_integer() const {
  return std::get<std::int64_t>(data_);
}
inline const std::string& Json::as_string() const {
  return std::get<std::string>(data_);
}
inline const Json::Array& Json::items() const {
  return std::get<Array>(data_);
}
inline const Json::Object& Json::members() const {
  return std::get<Object>(data_);
}
inline Json::Array& Json::mutable_items() {
  return std::get<Array>(data_);
}
inline Json::Object& Json::mutable_members() {
  return std::get<Object>(data_);
}

/// `a` compared with `b`, both numeric: below, at or above 0. Exact, also where doubles are not.
[[nodiscard]] int compare_numbers(const Json& a, const Json& b);
/// "a list of 2 items", "the number 3", `the string "billing"`: for messages; long values are cut.
[[nodiscard]] std::string describe(const Json& value, MessageVersion version = newest_messages);

}  // namespace tenon
