#include "json/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/counted.h"
#include "base/ensure.h"
#include "base/utf8.h"
#include "json/text.h"
#include "json/writer.h"

namespace tenon {
namespace {

/// What `describe` shows of a text or number.
constexpr std::size_t described_bytes_max = 60;

int sign(double value) {
  return value < 0 ? -1 : (value > 0 ? 1 : 0);
}

int compare(std::int64_t integer, double number) {
  if (number >= two_to_63) return -1;
  if (number < -two_to_63) return 1;
  const double whole = std::trunc(number);
  const auto truncated = static_cast<std::int64_t>(whole);
  if (integer != truncated) return integer < truncated ? -1 : 1;
  return sign(whole - number);
}

/// `integer` is above INT64_MAX.
int compare(std::uint64_t integer, double number) {
  if (number >= 2 * two_to_63) return -1;
  if (number < two_to_63) return 1;
  const auto truncated = static_cast<std::uint64_t>(number);  // doubles of this size are whole
  return integer < truncated ? -1 : (integer > truncated ? 1 : 0);
}

bool equal_objects(const Json::Object& a, const Json::Object& b) {
  if (a.size() != b.size()) return false;
  std::unordered_map<std::string_view, const Json*> by_name;
  by_name.reserve(b.size());
  for (const JsonMember& member : b) by_name.emplace(member.name, &member.value);
  return std::ranges::all_of(a, [&](const JsonMember& member) {
    const auto found = by_name.find(member.name);
    return found != by_name.end() && member.value == *found->second;
  });
}

}  // namespace

Json::Json() noexcept = default;
Json::Json(std::nullptr_t) noexcept {}
Json::Json(double value) {
  if (std::isfinite(value)) data_ = value;
}
Json::Json(const char* text) : data_(std::string(text)) {}
Json::Json(std::string_view text) : data_(std::string(text)) {}
Json::Json(std::string text) : data_(std::move(text)) {}
Json::Json(Array items) : data_(std::move(items)) {}
Json::Json(Object members) : data_(std::move(members)) {}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json Json::array() {
  return Array{};
}
Json Json::array(std::initializer_list<Json> items) {
  return Array(items);
}
Json Json::object() {
  return Object{};
}
Json Json::object(std::initializer_list<JsonEntry> entries) {
  Object members;
  members.reserve(entries.size());
  for (const JsonEntry& entry : entries) members.push_back({std::string(entry.name), std::move(entry.value)});
  return members;
}

bool Json::is_count() const {
  return kind() == Kind::Unsigned || (is_integer() && as_integer() >= 0);
}

std::uint64_t Json::as_count() const {
  if (const auto* large = std::get_if<std::uint64_t>(&data_)) return *large;
  ENSURE(as_integer() >= 0);
  return static_cast<std::uint64_t>(as_integer());
}

double Json::as_double() const {
  if (const auto* integer = std::get_if<std::int64_t>(&data_)) return static_cast<double>(*integer);
  if (const auto* large = std::get_if<std::uint64_t>(&data_)) return static_cast<double>(*large);
  return std::get<double>(data_);
}

const Json::Array& Json::items_or_none() const {
  static const Array none;
  return is_array() ? items() : none;
}

std::size_t Json::size() const {
  return is_array() ? items().size() : (is_object() ? members().size() : 0);
}

const Json* Json::find(std::string_view name) const {
  const auto* members = std::get_if<Object>(&data_);
  if (members == nullptr) return nullptr;
  const auto found = std::ranges::find(*members, name, &JsonMember::name);
  return found == members->end() ? nullptr : &found->value;
}

const Json& Json::get(std::string_view name) const {
  static const Json null;
  const Json* const found = find(name);
  return found == nullptr ? null : *found;
}

std::string Json::text_or(std::string_view name, std::string_view otherwise) const {
  const Json& found = get(name);
  return found.is_string() ? found.as_string() : std::string(otherwise);
}

std::uint64_t Json::count_or(std::string_view name, std::uint64_t otherwise) const {
  const Json& found = get(name);
  return found.is_count() ? found.as_count() : otherwise;
}

bool Json::boolean_or(std::string_view name, bool otherwise) const {
  const Json& found = get(name);
  return found.is_boolean() ? found.as_boolean() : otherwise;
}

Json& Json::set(std::string_view name, Json value) & {
  Object& members = mutable_members();
  const auto found = std::ranges::find(members, name, &JsonMember::name);
  if (found != members.end()) {
    found->value = std::move(value);
  } else {
    members.push_back({std::string(name), std::move(value)});
  }
  return *this;
}

Json&& Json::set(std::string_view name, Json value) && {
  return std::move(set(name, std::move(value)));
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) data_ = Object{};
  Object& members = mutable_members();
  const auto found = std::ranges::find(members, name, &JsonMember::name);
  if (found != members.end()) return found->value;
  members.push_back({std::string(name), {}});
  return members.back().value;
}

void Json::update(Json other) {
  for (JsonMember& member : other.mutable_members()) (*this)[member.name] = std::move(member.value);
}

void Json::erase(std::string_view name) {
  std::erase_if(mutable_members(), [&](const JsonMember& member) { return member.name == name; });
}

void Json::push_back(Json item) {
  if (is_null()) data_ = Array{};
  mutable_items().push_back(std::move(item));
}

std::string Json::dump(JsonForm form) const {
  std::string out;
  append_json(out, *this, form);
  return out;
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_numeric() && b.is_numeric()) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Json::Kind::Null:
    case Json::Kind::Integer:
    case Json::Kind::Unsigned:
    case Json::Kind::Number:
      return true;  // numbers are compared above
    case Json::Kind::Boolean:
      return a.as_boolean() == b.as_boolean();
    case Json::Kind::String:
      return a.as_string() == b.as_string();
    case Json::Kind::Array:
      return a.items() == b.items();
    case Json::Kind::Object:
      return equal_objects(a.members(), b.members());
  }
  return false;
}

int compare_numbers(const Json& a, const Json& b) {
  using Kind = Json::Kind;
  if (a.kind() == Kind::Number && b.kind() == Kind::Number) return sign(a.as_double() - b.as_double());
  if (a.kind() == Kind::Number) return -compare_numbers(b, a);
  if (b.kind() == Kind::Number) {
    return a.is_integer() ? compare(a.as_integer(), b.as_double()) : compare(a.as_count(), b.as_double());
  }
  if (a.is_integer() && b.is_integer()) {
    return a.as_integer() < b.as_integer() ? -1 : (a.as_integer() > b.as_integer() ? 1 : 0);
  }
  if (a.is_integer() || b.is_integer()) return a.is_integer() ? -1 : 1;
  return a.as_count() < b.as_count() ? -1 : (a.as_count() > b.as_count() ? 1 : 0);
}

std::string describe(const Json& value, MessageVersion version) {
  const bool is_first = version == MessageVersion::First;
  switch (value.kind()) {
    case Json::Kind::Null:
    case Json::Kind::Boolean:
      return value.dump();
    case Json::Kind::Integer:
    case Json::Kind::Number:
      return "the number " + value.dump(JsonForm::Shortest);
    case Json::Kind::Unsigned:
      // Rounded: programs see this text, so a replayed run must get the same one again.
      return "the number " + Json(value.as_double()).dump(JsonForm::Shortest);
    case Json::Kind::String: {
      const std::string_view shown = cut_utf8(value.as_string(), described_bytes_max);
      return (is_first ? "the text " : "the string ") + make_json_string(shown) +
             (shown.size() < value.as_string().size() ? "…" : "");
    }
    case Json::Kind::Array:
      if (value.items().empty()) return "an empty list";
      if (is_first) return fmt::format("a list of {}", value.items().size());
      return "a list of " + counted(value.items().size(), "item");
    case Json::Kind::Object:
      return value.members().empty() ? "an empty object" : "an object";
  }
  return {};
}

}  // namespace tenon
