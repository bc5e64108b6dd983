#include "inference/answers/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "base/ensure.h"
#include "base/json_text.h"
#include "base/utf8.h"

namespace tenon::inference::answers {
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

bool equal_objects(const Json::Object& a, const Json::Object& b) {
  if (a.size() != b.size()) return false;
  std::unordered_map<std::string_view, const Json*> by_name;
  by_name.reserve(b.size());
  for (const JsonMember& member : b) by_name.emplace(member.name, &member.value);
  return std::ranges::all_of(a, [&](const JsonMember& member) {
    const auto found = by_name.find(member.name);
    return found != by_name.end() && equal(member.value, *found->second);
  });
}

}  // namespace

Json::Json() noexcept = default;
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;
Json::Json(Data data) : data_(std::move(data)) {}

Json Json::boolean(bool value) {
  return Json(Data(value));
}
Json Json::integer(std::int64_t value) {
  return Json(Data(value));
}
Json Json::number(double value) {
  return Json(Data(value));
}
Json Json::string(std::string_view text) {
  return Json(Data(std::string(text)));
}
Json Json::array() {
  return Json(Data(Array{}));
}
Json Json::array(Array items) {
  return Json(Data(std::move(items)));
}
Json Json::object() {
  return Json(Data(Object{}));
}

double Json::as_double() const {
  if (const auto* integer = std::get_if<std::int64_t>(&data_)) return static_cast<double>(*integer);
  return std::get<double>(data_);
}

const Json* Json::find(std::string_view name) const {
  const auto* members = std::get_if<Object>(&data_);
  if (members == nullptr) return nullptr;
  const auto found = std::ranges::find(*members, name, &JsonMember::name);
  return found == members->end() ? nullptr : &found->value;
}

Json& Json::set(std::string_view name, Json value) & {
  mutable_members().push_back({std::string(name), std::move(value)});
  return *this;
}

Json&& Json::set(std::string_view name, Json value) && {
  return std::move(set(name, std::move(value)));
}

std::string Json::dump() const {
  std::string out;
  dump_to(out);
  return out;
}

void Json::dump_to(std::string& out) const {
  switch (kind()) {
    case Kind::Null:
      out += "null";
      return;
    case Kind::Boolean:
      out += as_boolean() ? "true" : "false";
      return;
    case Kind::Integer:
      fmt::format_to(std::back_inserter(out), "{}", as_integer());
      return;
    case Kind::Number: {
      char digits[32];
      const auto [end, error] = std::to_chars(digits, digits + sizeof digits, std::get<double>(data_));
      ENSURE(error == std::errc{});
      out.append(digits, end);
      return;
    }
    case Kind::String:
      append_json_string(out, as_string());
      return;
    case Kind::Array: {
      out += '[';
      for (const Json& item : items()) {
        if (&item != &items().front()) out += ',';
        item.dump_to(out);
      }
      out += ']';
      return;
    }
    case Kind::Object: {
      out += '{';
      for (const JsonMember& member : members()) {
        if (&member != &members().front()) out += ',';
        append_json_string(out, member.name);
        out += ':';
        member.value.dump_to(out);
      }
      out += '}';
      return;
    }
  }
}

bool equal(const Json& a, const Json& b) {
  if (a.is_numeric() && b.is_numeric()) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Json::Kind::Null:
    case Json::Kind::Integer:
    case Json::Kind::Number:
      return true;  // numbers are compared above
    case Json::Kind::Boolean:
      return a.as_boolean() == b.as_boolean();
    case Json::Kind::String:
      return a.as_string() == b.as_string();
    case Json::Kind::Array:
      return std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(),
                        [](const Json& x, const Json& y) { return equal(x, y); });
    case Json::Kind::Object:
      return equal_objects(a.members(), b.members());
  }
  return false;
}

int compare_numbers(const Json& a, const Json& b) {
  const bool a_is_integer = a.is(Json::Kind::Integer);
  const bool b_is_integer = b.is(Json::Kind::Integer);
  if (a_is_integer && b_is_integer)
    return a.as_integer() < b.as_integer() ? -1 : (a.as_integer() > b.as_integer() ? 1 : 0);
  if (a_is_integer) return compare(a.as_integer(), b.as_double());
  if (b_is_integer) return -compare(b.as_integer(), a.as_double());
  return sign(a.as_double() - b.as_double());
}

std::string describe(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::Null:
    case Json::Kind::Boolean:
      return value.dump();
    case Json::Kind::Integer:
    case Json::Kind::Number:
      return "the number " + value.dump();
    case Json::Kind::String: {
      const std::string_view shown = cut_utf8(value.as_string(), described_bytes_max);
      return "the text " + make_json_string(shown) + (shown.size() < value.as_string().size() ? "…" : "");
    }
    case Json::Kind::Array:
      return value.items().empty() ? "an empty list" : fmt::format("a list of {}", value.items().size());
    case Json::Kind::Object:
      return value.members().empty() ? "an empty object" : "an object";
  }
  return {};
}

}  // namespace tenon::inference::answers
