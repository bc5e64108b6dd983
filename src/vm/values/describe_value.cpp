#include "vm/values/describe_value.h"

#include <algorithm>

#include "base/utf8.h"
#include "vm/values/render.h"

namespace tenon::vm {
namespace {

/// Bytes that are shown before the first difference of two long values.
constexpr std::size_t bytes_before_difference = 60;

/// A value that cannot be written completely is shown as far as it was.
std::string write_json(const Value& value, const types::TypeTable& types) {
  std::string json;
  if (!to_json(value, types, json)) json += "…";
  return json;
}

/// At most described_bytes_max bytes of the text, from `begin` on.
std::string excerpt(std::string_view text, std::size_t begin) {
  while (begin > 0 && is_utf8_continuation(text[begin])) --begin;
  const std::string_view shown = cut_utf8(text.substr(begin), described_bytes_max);
  std::string result = begin > 0 ? "…" : "";
  result += shown;
  if (begin + shown.size() < text.size()) result += "…";
  return result;
}

}  // namespace

Description describe_value(const Value& value, const types::TypeTable& types) {
  const std::string json = write_json(value, types);
  return {excerpt(json, 0), json.size()};
}

Description describe_sides(const Value& left, const Value& right, const types::TypeTable& types) {
  const std::string first = write_json(left, types);
  const std::string second = write_json(right, types);
  std::size_t begin = 0;
  if (std::max(first.size(), second.size()) > described_bytes_max) {
    const auto difference = static_cast<std::size_t>(std::ranges::mismatch(first, second).in1 - first.begin());
    begin = difference - std::min(difference, bytes_before_difference);
  }
  return {"  left:  " + excerpt(first, begin) + "\n  right: " + excerpt(second, begin), first.size() + second.size()};
}

}  // namespace tenon::vm
