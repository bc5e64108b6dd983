#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tenon::inference::answers {

/// The length of a JSON text. A longer one is refused before it is read.
inline constexpr std::size_t json_bytes_max = 16U * 1024U * 1024U;
/// Lists and objects within each other. What works on JSON recurses, and this bounds it.
inline constexpr std::size_t json_depth_max = 256;
/// Values in one text. A value takes 40 bytes, so that a hostile text takes at most about 20 times its own size.
inline constexpr std::size_t json_nodes_max = 4'000'000;

/// The first double above every integer of 64 bits.
inline constexpr double two_to_63 = 9223372036854775808.0;

struct JsonMember;

/// A JSON value. Objects keep the order of their members, and integers of 64 bits keep every digit. Made by the parser,
/// it is nested at most `json_depth_max` deep and its strings are UTF-8.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<JsonMember>;
  enum class Kind : std::uint8_t { Null, Boolean, Integer, Number, String, Array, Object };

  /// null
  Json() noexcept;
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  [[nodiscard]] static Json boolean(bool value);
  [[nodiscard]] static Json integer(std::int64_t value);
  /// `value` is finite.
  [[nodiscard]] static Json number(double value);
  [[nodiscard]] static Json string(std::string_view text);
  [[nodiscard]] static Json array();
  [[nodiscard]] static Json array(Array items);
  [[nodiscard]] static Json object();

  [[nodiscard]] Kind kind() const;
  [[nodiscard]] bool is(Kind wanted) const { return kind() == wanted; }
  [[nodiscard]] bool is_numeric() const { return is(Kind::Integer) || is(Kind::Number); }

  // Each of these requires the kind that it names; another one is a bug of the caller.
  [[nodiscard]] bool as_boolean() const;
  [[nodiscard]] std::int64_t as_integer() const;
  [[nodiscard]] const std::string& as_string() const;
  [[nodiscard]] const Array& items() const;
  [[nodiscard]] const Object& members() const;
  [[nodiscard]] Array& mutable_items();
  [[nodiscard]] Object& mutable_members();
  /// Integer or Number; an integer beyond 2^53 is rounded.
  [[nodiscard]] double as_double() const;

  /// The member of that name, or null; null also if this is not an object.
  [[nodiscard]] const Json* find(std::string_view name) const;
  /// Appends a member and gives the object back, so that objects are written as they look.
  Json& set(std::string_view name, Json value) &;
  [[nodiscard]] Json&& set(std::string_view name, Json value) &&;

  /// Compact JSON, members in order; a number is the shortest text that reads back as the same number.
  [[nodiscard]] std::string dump() const;
  void dump_to(std::string& out) const;

 private:
  using Data = std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object>;
  explicit Json(Data data);

  Data data_;
};

struct JsonMember {
  std::string name;
  Json value;
};

// Defined here because a Json is only complete where its members are.
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

/// As JSON Schema compares: numbers by their mathematical value, objects without regard to order.
[[nodiscard]] bool equal(const Json& a, const Json& b);
/// `a` compared with `b`, both numeric: below, at or above 0. Exact, also where doubles are not.
[[nodiscard]] int compare_numbers(const Json& a, const Json& b);
/// "a list", "the number 3", `the text "billing"`: for messages; long values are cut.
[[nodiscard]] std::string describe(const Json& value);

}  // namespace tenon::inference::answers
