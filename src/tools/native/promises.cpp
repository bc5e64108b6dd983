#include "tools/native/promises.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/utf8.h"

namespace tenon::tools {
namespace {

using types::TypeId;
using types::TypeKind;
using vm::Tag;
using vm::Value;

constexpr std::size_t shown_code_points_max = 40;

}  // namespace

std::optional<std::string> find_broken_promise(const vm::Refinements& refinements, TypeId type, const Value& value) {
  const types::TypeTable& types = refinements.types();
  if (types.kind(type) == TypeKind::Secret) {
    // What is wrong with a secret would say what it is.
    if (!find_broken_promise(refinements, types.get(type).arguments[0], value)) return std::nullopt;
    return fmt::format("it is not a `{}`", types.describe(type));
  }
  if (const TypeId broken = refinements.find_broken(type, value); broken.exists()) {
    return fmt::format("{} is not a value of `{}`", describe_value(value), types.describe(broken));
  }
  const bool is_i32 = types.kind(types.base(type)) == TypeKind::I32;
  if (is_i32 && value.as_integer() != static_cast<std::int32_t>(value.as_integer())) {
    return fmt::format("{} is out of range for `i32`", describe_value(value));
  }
  return std::nullopt;
}

std::string describe_value(const Value& value) {
  switch (value.tag()) {
    case Tag::Unit:
      return "`()`";
    case Tag::Boolean:
      return value.as_boolean() ? "`true`" : "`false`";
    case Tag::Integer:
      return fmt::format("`{}`", value.as_integer());
    case Tag::Float:
      return fmt::format("`{}`", value.as_float());
    case Tag::String: {
      const std::string_view text = value.as_text();
      const std::size_t end = offset_of_code_point(text, shown_code_points_max);
      return fmt::format("`\"{}{}\"`", text.substr(0, end), end < text.size() ? "…" : "");
    }
    case Tag::List:
      return fmt::format("a list of {}", value.items().size());
    case Tag::Map:
      return fmt::format("a map of {}", value.entries().size());
    case Tag::Case:
    case Tag::Variant:
      return "an enum's case";
    case Tag::Record:
      return "a struct or tuple";
    case Tag::Secret:
      return "a secret";
    case Tag::Context:
      return "a `Context`";
  }
  return "";
}

}  // namespace tenon::tools
