#include <locale.h>
#include <re2/re2.h>
#include <clocale>
#include <cwctype>

#include <charconv>
#include <cstring>
#include <limits>

#include "base/utf8.h"
#include "json/text.h"
#include "vm/builtins/builtins.h"
#include "vm/limits.h"
#include "vm/messages.h"
#include "vm/values/render.h"
#include "vm/values/text.h"

namespace tenon::vm {
namespace {

using types::Builtin;
using types::FailureKind;

constexpr std::size_t patterns_kept_max = 64;

// Cost, as the number of bytes that are copied in the same time.
constexpr std::uint64_t cost_per_part = 32;         ///< of cutting a part out of a text
constexpr std::uint64_t cost_per_mapped_byte = 4;   ///< of changing the case of a text
constexpr std::uint64_t cost_per_matched_byte = 4;  ///< of matching a pattern with a text
constexpr std::uint64_t cost_per_pattern = 16'384;  ///< of compiling a pattern
constexpr std::uint64_t cost_per_pattern_step = 64;

bool are_texts(const BuiltinCall& call, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (call.arguments[i].tag() != Tag::String) return false;
  }
  return true;
}

OpStatus damage_texts(BuiltinCall& call) {
  return damage(call.state, "a text was expected");
}

OpStatus fail_too_long(BuiltinCall& call) {
  return fail(call.state, FailureKind::Index, describe(RenderError::TooLong), call.label);
}

OpStatus fail_too_many(BuiltinCall& call) {
  return fail(call.state, FailureKind::Index,
              "the text falls into more than " + std::to_string(list_items_max) + " parts", call.label);
}

std::string_view bytes_of(const Value& text) {
  return text_of(text).bytes;
}

/// For a message: the text in quotes, truncated if it is long.
std::string show(std::string_view text) {
  constexpr std::size_t shown_max = 60;
  const std::size_t end = offset_of_code_point(text, shown_max);
  std::string shown = make_json_string(text.substr(0, end));
  return end < text.size() ? shown + "…" : shown;
}

/// Like std::string_view::find, in time linear in both.
std::size_t find_from(std::string_view text, std::string_view pattern, std::size_t at) {
  if (at > text.size()) return std::string_view::npos;
  const void* const found = ::memmem(text.data() + at, text.size() - at, pattern.data(), pattern.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

char32_t decode(std::string_view text, std::size_t& offset) {
  const auto at = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
  const char32_t lead = at(offset);
  if (lead < 0x80) {
    offset += 1;
    return lead;
  }
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  char32_t point = lead & (0x7FU >> length);
  for (std::size_t k = 1; k < length; ++k) point = (point << 6U) | (at(offset + k) & 0x3FU);
  offset += length;
  return point;
}

/// Unicode's White_Space.
bool is_space(char32_t point) {
  return (point >= 0x09 && point <= 0x0D) || point == 0x20 || point == 0x85 || point == 0xA0 || point == 0x1680 ||
         (point >= 0x2000 && point <= 0x200A) || point == 0x2028 || point == 0x2029 || point == 0x202F ||
         point == 0x205F || point == 0x3000;
}

OpStatus contains(BuiltinCall& call) {
  if (!are_texts(call, 2)) return damage_texts(call);
  const std::string_view text = bytes_of(call.arguments[0]);
  defer_cost(call.state, text.size());
  call.result = Value::boolean(find_from(text, bytes_of(call.arguments[1]), 0) != std::string_view::npos);
  return OpStatus::Ok;
}

OpStatus starts_with(BuiltinCall& call) {
  if (!are_texts(call, 2)) return damage_texts(call);
  defer_cost(call.state, bytes_of(call.arguments[1]).size());
  call.result = Value::boolean(bytes_of(call.arguments[0]).starts_with(bytes_of(call.arguments[1])));
  return OpStatus::Ok;
}

OpStatus ends_with(BuiltinCall& call) {
  if (!are_texts(call, 2)) return damage_texts(call);
  defer_cost(call.state, bytes_of(call.arguments[1]).size());
  call.result = Value::boolean(bytes_of(call.arguments[0]).ends_with(bytes_of(call.arguments[1])));
  return OpStatus::Ok;
}

OpStatus trim(BuiltinCall& call) {
  if (!are_texts(call, 1)) return damage_texts(call);
  const std::string_view text = bytes_of(call.arguments[0]);
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t next = begin;
    if (!is_space(decode(text, next))) break;
    begin = next;
  }
  std::size_t end = text.size();
  while (end > begin) {
    std::size_t last = end - 1;
    while (is_utf8_continuation(text[last])) --last;
    std::size_t next = last;
    if (!is_space(decode(text, next))) break;
    end = last;
  }
  defer_cost(call.state, text.size());
  call.result = part_of(call.arguments[0], begin, end, call.state.labels);
  return OpStatus::Ok;
}

/// The C library's own UTF-8 locale, which is always available; its simple mappings (one code point to one).
OpStatus map_letters(BuiltinCall& call, wint_t (*map)(wint_t, locale_t)) {
  if (!are_texts(call, 1)) return damage_texts(call);
  defer_cost(call.state, bytes_of(call.arguments[0]).size() * cost_per_mapped_byte);
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  TextBuilder builder(call.state.labels);
  for (const LabelledPiece& piece : pieces_of(call.arguments[0])) {
    std::string mapped;
    for (std::size_t offset = 0; offset < piece.text.size();) {
      const char32_t point = decode(piece.text, offset);
      const bool is_known = locale != nullptr || point < 0x80;
      append_utf8(mapped, is_known ? static_cast<char32_t>(map(static_cast<wint_t>(point), locale)) : point);
    }
    builder.append(mapped, piece.label);
  }
  if (builder.is_too_long()) return fail_too_long(call);
  call.result = builder.finish();
  return OpStatus::Ok;
}

OpStatus to_upper(BuiltinCall& call) {
  return map_letters(call, towupper_l);
}
OpStatus to_lower(BuiltinCall& call) {
  return map_letters(call, towlower_l);
}

OpStatus replace(BuiltinCall& call) {
  if (!are_texts(call, 3)) return damage_texts(call);
  const std::string_view text = bytes_of(call.arguments[0]);
  const std::string_view from = bytes_of(call.arguments[1]);
  const Value& to = call.arguments[2];
  TextBuilder builder(call.state.labels);
  std::size_t copied = 0;
  std::uint64_t parts = 0;
  for (std::size_t at = 0; at <= text.size() && !builder.is_too_long();) {
    const std::size_t found = find_from(text, from, at);
    if (found == std::string_view::npos) break;
    ++parts;
    builder.append_part(call.arguments[0], copied, found);
    builder.append(to);
    copied = found + from.size();
    at = copied;
    // An empty pattern occurs before every code point and at the end.
    if (from.empty()) {
      do ++at;
      while (at < text.size() && is_utf8_continuation(text[at]));
    }
  }
  builder.append_part(call.arguments[0], copied, text.size());
  defer_cost(call.state, text.size() + builder.size() + parts * cost_per_part);
  if (builder.is_too_long()) return fail_too_long(call);
  call.result = builder.finish();
  return OpStatus::Ok;
}

OpStatus chars_of(BuiltinCall& call) {
  if (!are_texts(call, 1)) return damage_texts(call);
  const std::string_view text = bytes_of(call.arguments[0]);
  defer_cost(call.state, text.size());
  if (code_points(call.arguments[0]) > list_items_max) return fail_too_many(call);
  defer_cost(call.state, code_points(call.arguments[0]) * cost_per_part);
  std::vector<Value> items;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t begin = offset;
    static_cast<void>(decode(text, offset));
    items.push_back(part_of(call.arguments[0], begin, offset, call.state.labels));
  }
  call.result = Value::list(std::move(items));
  return OpStatus::Ok;
}

OpStatus split(BuiltinCall& call) {
  if (!are_texts(call, 2)) return damage_texts(call);
  const std::string_view text = bytes_of(call.arguments[0]);
  const std::string_view separator = bytes_of(call.arguments[1]);
  if (separator.empty()) return chars_of(call);
  defer_cost(call.state, text.size());
  std::vector<Value> items;
  std::size_t begin = 0;
  for (;;) {
    if (items.size() >= list_items_max) return fail_too_many(call);
    const std::size_t end = std::min(find_from(text, separator, begin), text.size());
    items.push_back(part_of(call.arguments[0], begin, end, call.state.labels));
    if (end == text.size()) break;
    begin = end + separator.size();
    if (begin == text.size()) {
      items.push_back(part_of(call.arguments[0], begin, begin, call.state.labels));
      break;
    }
  }
  defer_cost(call.state, items.size() * cost_per_part);
  call.result = Value::list(std::move(items));
  return OpStatus::Ok;
}

OpStatus lines(BuiltinCall& call) {
  if (!are_texts(call, 1)) return damage_texts(call);
  const std::string_view text = bytes_of(call.arguments[0]);
  std::vector<Value> items;
  for (std::size_t begin = 0; begin < text.size();) {
    if (items.size() >= list_items_max) return fail_too_many(call);
    const std::size_t newline = std::min(text.find('\n', begin), text.size());
    const bool has_return = newline < text.size() && newline > begin && text[newline - 1] == '\r';
    items.push_back(part_of(call.arguments[0], begin, has_return ? newline - 1 : newline, call.state.labels));
    begin = newline + 1;
  }
  defer_cost(call.state, text.size() + items.size() * cost_per_part);
  call.result = Value::list(std::move(items));
  return OpStatus::Ok;
}

OpStatus slice(BuiltinCall& call) {
  if (!are_texts(call, 1)) return damage_texts(call);
  const std::uint64_t from = call.arguments[1].bits();
  const std::uint64_t to = call.arguments[2].bits();
  const std::uint64_t length = code_points(call.arguments[0]);
  if (from > to || to > length) {
    return fail(call.state, FailureKind::Index,
                "slice(" + std::to_string(static_cast<std::int64_t>(from)) + ", " +
                    std::to_string(static_cast<std::int64_t>(to)) + ") of a text of " +
                    text_length(call.state.program->program(), length),
                call.label);
  }
  const std::string_view text = bytes_of(call.arguments[0]);
  const bool is_ascii = length == text.size();
  const std::size_t begin = is_ascii ? from : offset_of_code_point(text, from);
  const std::size_t end = is_ascii ? to : begin + offset_of_code_point(text.substr(begin), to - from);
  // In other texts, everything before the end is counted.
  defer_cost(call.state, (end - begin) + (is_ascii ? 0 : end));
  call.result = part_of(call.arguments[0], begin, end, call.state.labels);
  return OpStatus::Ok;
}

OpStatus find(BuiltinCall& call) {
  if (!are_texts(call, 2)) return damage_texts(call);
  const std::string_view text = bytes_of(call.arguments[0]);
  defer_cost(call.state, text.size());
  const std::size_t offset = find_from(text, bytes_of(call.arguments[1]), 0);
  call.result = offset == std::string_view::npos
                    ? Value::none()
                    : Value::some(Value::integer(static_cast<std::int64_t>(count_code_points(text.substr(0, offset)))));
  return OpStatus::Ok;
}

OpStatus repeat(BuiltinCall& call) {
  if (!are_texts(call, 1)) return damage_texts(call);
  const auto count = static_cast<std::int64_t>(call.arguments[1].bits());
  const std::size_t size = bytes_of(call.arguments[0]).size();
  if (count < 0) {
    return fail(call.state, FailureKind::Arithmetic,
                "repeat(" + std::to_string(count) + "): the number must be 0 or more", call.label);
  }
  if (size > 0 && static_cast<std::uint64_t>(count) > text_bytes_max / size) return fail_too_long(call);
  const std::size_t total = size * static_cast<std::size_t>(count);
  defer_cost(call.state, total);
  if (total == 0) {
    call.result = Value::string({});
    return OpStatus::Ok;
  }
  if (text_of(call.arguments[0]).spans) {
    TextBuilder builder(call.state.labels);
    for (std::int64_t i = 0; i < count; ++i) builder.append(call.arguments[0]);
    call.result = builder.finish();
    return OpStatus::Ok;
  }
  std::string repeated;
  repeated.reserve(total);
  repeated += bytes_of(call.arguments[0]);
  while (repeated.size() < total) repeated.append(repeated, 0, total - repeated.size());
  call.result = Value::string(std::move(repeated));
  return OpStatus::Ok;
}

std::uint64_t compiled_steps(const re2::RE2& pattern) {
  return pattern.ok() ? static_cast<std::uint64_t>(pattern.ProgramSize()) : 0;
}

OpStatus matches(BuiltinCall& call) {
  if (!are_texts(call, 2)) return damage_texts(call);
  auto& patterns = call.state.patterns;
  const std::string_view source = bytes_of(call.arguments[1]);
  auto found = patterns.find(source);
  if (found == patterns.end()) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(pattern_memory_max);
    auto pattern = std::make_shared<const re2::RE2>(re2::StringPiece(source.data(), source.size()), options);
    defer_cost(call.state, cost_per_pattern + source.size() + compiled_steps(*pattern) * cost_per_pattern_step);
    if (!pattern->ok()) {
      std::string message = show(source);
      message += messages_of(call.state.program->program()).wrong_pattern;
      return fail(call.state, FailureKind::Conversion, message + replace_invalid_utf8(pattern->error()),
                  call.arguments[1].label());
    }
    if (patterns.size() >= patterns_kept_max) patterns.clear();
    found = patterns.emplace(std::string(source), std::move(pattern)).first;
  }
  const std::string_view text = bytes_of(call.arguments[0]);
  defer_cost(call.state, text.size() * cost_per_matched_byte);
  call.result = Value::boolean(re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *found->second));
  return OpStatus::Ok;
}

OpStatus fail_parse(BuiltinCall& call, std::string_view type) {
  std::string message = show(bytes_of(call.arguments[0]));
  message += messages_of(call.state.program->program()).wrong_value;
  return fail(call.state, FailureKind::Conversion, message + std::string(type), call.label);
}

template <class Number>
OpStatus parse(BuiltinCall& call, std::string_view type, Value (*make)(Number)) {
  if (!are_texts(call, 1)) return damage_texts(call);
  std::string_view text = bytes_of(call.arguments[0]);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return fail_parse(call, type);
  call.result = make(number);
  return OpStatus::Ok;
}

OpStatus parse_i32(BuiltinCall& call) {
  return parse<std::int32_t>(call, "i32", [](std::int32_t number) { return Value::integer(number); });
}
OpStatus parse_i64(BuiltinCall& call) {
  return parse<std::int64_t>(call, "i64", [](std::int64_t number) { return Value::integer(number); });
}
OpStatus parse_f64(BuiltinCall& call) {
  return parse<double>(call, "f64", [](double number) { return Value::floating(number); });
}

OpStatus parse_boolean(BuiltinCall& call) {
  if (!are_texts(call, 1)) return damage_texts(call);
  const std::string_view text = bytes_of(call.arguments[0]);
  if (text != "true" && text != "false") return fail_parse(call, "Boolean");
  call.result = Value::boolean(text == "true");
  return OpStatus::Ok;
}

}  // namespace

BuiltinFunction* find_text_builtin(types::Builtin builtin) {
  if (builtin == types::Builtin::StringContains) return contains;
  if (builtin == types::Builtin::StringStartsWith) return starts_with;
  if (builtin == types::Builtin::StringEndsWith) return ends_with;
  if (builtin == types::Builtin::StringTrim) return trim;
  if (builtin == types::Builtin::StringToUpper) return to_upper;
  if (builtin == types::Builtin::StringToLower) return to_lower;
  if (builtin == types::Builtin::StringReplace) return replace;
  if (builtin == types::Builtin::StringSplit) return split;
  if (builtin == types::Builtin::StringLines) return lines;
  if (builtin == types::Builtin::StringChars) return chars_of;
  if (builtin == types::Builtin::StringSlice) return slice;
  if (builtin == types::Builtin::StringFind) return find;
  if (builtin == types::Builtin::StringRepeat) return repeat;
  if (builtin == types::Builtin::StringMatches) return matches;
  if (builtin == types::Builtin::StringParseI32) return parse_i32;
  if (builtin == types::Builtin::StringParseI64) return parse_i64;
  if (builtin == types::Builtin::StringParseF64) return parse_f64;
  if (builtin == types::Builtin::StringParseBoolean) return parse_boolean;
  return nullptr;
}

}  // namespace tenon::vm
