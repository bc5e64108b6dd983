#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tenon::types {

// clang-format off
/// The functions of CallBuiltin. X(number, Name, argument count, meaning). A number is never reused. `Option` results
/// are cases or variants of the Option type; positions and lengths of strings count code points. Methods that modify
/// their receiver are separate instructions.
#define TENON_BUILTINS(X)                                                                                  \
  X(  1, StringContains,    2, "s.contains(part)")                                                         \
  X(  2, StringStartsWith,  2, "s.starts_with(part)")                                                      \
  X(  3, StringEndsWith,    2, "s.ends_with(part)")                                                        \
  X(  4, StringTrim,        1, "s.trim(): white space at both ends gone")                                   \
  X(  5, StringToUpper,     1, "s.to_uppercase()")                                                         \
  X(  6, StringToLower,     1, "s.to_lowercase()")                                                         \
  X(  7, StringReplace,     3, "s.replace(from, to): every occurrence")                                     \
  X(  8, StringSplit,       2, "s.split(separator): List<String>; an empty separator gives the code points") \
  X(  9, StringLines,       1, "s.lines()")                                                                \
  X( 10, StringChars,       1, "s.chars(): one string per code point")                                      \
  X( 11, StringSlice,       3, "s.slice(from, to): fails Index unless 0 <= from <= to <= len")               \
  X( 12, StringFind,        2, "s.find(part): Option<i32>, the position in code points")                    \
  X( 13, StringRepeat,      2, "s.repeat(n): fails Arithmetic when n < 0, Index past the text limit")        \
  X( 14, StringMatches,     2, "s.matches(pattern): the whole text; fails Conversion on a faulty pattern")    \
  X( 15, StringParseI32,    1, "s.parse<i32>(): fails Conversion")                                          \
  X( 16, StringParseI64,    1, "s.parse<i64>(): fails Conversion")                                          \
  X( 17, StringParseF64,    1, "s.parse<f64>(): fails Conversion")                                          \
  X( 18, StringParseBoolean, 1, "s.parse<Boolean>(): fails Conversion")                                     \
  X( 20, ListContains,      2, "xs.contains(x)")                                                           \
  X( 21, ListFirst,         1, "xs.first(): Option")                                                       \
  X( 22, ListLast,          1, "xs.last(): Option")                                                        \
  X( 23, ListGet,           2, "xs.get(i): Option")                                                        \
  X( 24, ListSlice,         3, "xs.slice(from, to): fails Index unless 0 <= from <= to <= len")              \
  X( 25, ListReverse,       1, "xs.reversed()")                                                            \
  X( 26, ListSort,          1, "xs.sorted(): numbers or strings, ascending, stable; NaN last")               \
  X( 27, ListJoin,          2, "xs.join(separator): items rendered")                                        \
  X( 28, ListConcatenate,   2, "xs + ys")                                                                  \
  X( 29, ListFind,          2, "xs.position(x): Option<i32>")                                              \
  X( 30, ListSumInteger,    1, "xs.sum() of i64: fails Arithmetic")                                         \
  X( 31, ListSumI32,        1, "xs.sum() of i32: fails Arithmetic")                                         \
  X( 32, ListSumF64,        1, "xs.sum() of f64")                                                          \
  X( 33, ListMinimum,       1, "xs.min(): Option; numbers or strings")                                      \
  X( 34, ListMaximum,       1, "xs.max(): Option; numbers or strings")                                      \
  X( 40, MapGet,            2, "m.get(key): Option")                                                       \
  X( 41, MapContains,       2, "m.contains_key(key)")                                                      \
  X( 42, MapKeys,           1, "m.keys(): List<String>, in insertion order")                                \
  X( 43, MapValues,         1, "m.values()")                                                               \
  X( 50, IntegerAbsoluteI32, 1, "n.abs(): fails Arithmetic")                                                \
  X( 51, IntegerAbsoluteI64, 1, "n.abs(): fails Arithmetic")                                                \
  X( 52, F64Absolute,       1, "x.abs()")                                                                  \
  X( 53, IntegerMinimum,    2, "a.min(b)")                                                                 \
  X( 54, IntegerMaximum,    2, "a.max(b)")                                                                 \
  X( 55, F64Minimum,        2, "a.min(b): the other one, if one is NaN")                                     \
  X( 56, F64Maximum,        2, "a.max(b): the other one, if one is NaN")                                     \
  X( 57, F64Floor,          1, "x.floor()")                                                                \
  X( 58, F64Ceil,           1, "x.ceil()")                                                                 \
  X( 59, F64Round,          1, "x.round(): half away from zero")                                            \
  X( 60, F64Sqrt,           1, "x.sqrt()")                                                                 \
  X( 61, I32Power,          2, "n.pow(e): fails Arithmetic on overflow and on e < 0")                        \
  X( 62, I64Power,          2, "n.pow(e): fails Arithmetic on overflow and on e < 0")                        \
  X( 63, F64Power,          2, "x.powf(y)")                                                                \
  X( 70, OptionUnwrap,      1, "o.unwrap(): fails Conversion on None")                                      \
  X( 71, ResultUnwrap,      1, "r.unwrap(): fails with the failure it holds")                                \
  X( 72, ContextText,       1, "ctx.text(): what a model would be sent")                                    \
  X( 73, ContextLength,     1, "ctx.len(): entries visible")                                               \
  X( 74, ToJson,            1, "value.to_json(): compact JSON, strings quoted")                             \
  X( 75, CutByTrust,        1, "value.parts(): List<String>; at odd positions texts and what is not trusted, at even ones the JSON around them") \
  X( 76, IsTrusted,         1, "value.is_trusted(): whether all that is in it comes from trusted sources")  \
  X( 77, ContextTrustedPart, 1, "ctx.trusted_part(): the context with its trusted entries alone")             \
  X(170, ToolNames,         1, "tools.names(): List<String>")                                              \
  X(171, ToolsOnly,         2, "tools.only(names): in the set's order; fails Index on a name that is not there") \
  X(172, ToolsWithout,      2, "tools.without(names): fails Index on a name that is not there")             \
  X(173, ToolsJoin,         2, "tools + tools: fails Conversion when both have a name")                     \
  X(174, ToolSignatures,    1, "tools.signatures(): List<String>, with doc comments")                      \
  X(175, ToolFind,          2, "the tool of a set with a name, for CallToolInParts: fails Index")           \
  X(176, ToolArguments,     2, "the missing arguments of a tool, from a map of texts: a list; fails Conversion")
// clang-format on

enum class Builtin : std::uint16_t {
#define TENON_BUILTIN(number, name, arguments, meaning) name = number,
  TENON_BUILTINS(TENON_BUILTIN)
#undef TENON_BUILTIN
};

/// Whether it fails for some arguments that are not too large.
[[nodiscard]] constexpr bool can_fail(Builtin builtin) {
  switch (builtin) {
    case Builtin::StringSlice:
    case Builtin::StringRepeat:
    case Builtin::StringMatches:
    case Builtin::StringParseI32:
    case Builtin::StringParseI64:
    case Builtin::StringParseF64:
    case Builtin::StringParseBoolean:
    case Builtin::ListSlice:
    case Builtin::ListSumInteger:
    case Builtin::ListSumI32:
    case Builtin::IntegerAbsoluteI32:
    case Builtin::IntegerAbsoluteI64:
    case Builtin::I32Power:
    case Builtin::I64Power:
    case Builtin::OptionUnwrap:
    case Builtin::ResultUnwrap:
    case Builtin::ToolsOnly:
    case Builtin::ToolsWithout:
    case Builtin::ToolsJoin:
    case Builtin::ToolFind:
    case Builtin::ToolArguments:
      return true;
    default:
      return false;
  }
}

/// The first of the arguments that decide whether it fails, with those after it.
[[nodiscard]] constexpr std::size_t first_deciding_argument(Builtin builtin) {
  return builtin == Builtin::StringMatches ? 1 : 0;  // the pattern, and not the text
}

struct BuiltinInfo {
  Builtin builtin;
  std::string_view name;
  std::uint8_t argument_count;
  std::string_view meaning;
};

/// Nothing if no built-in has this number.
[[nodiscard]] const BuiltinInfo* find_builtin(std::uint16_t number);

/// The names of the types that every program has: `String`, `List`.
[[nodiscard]] std::vector<std::string_view> builtin_type_names();

}  // namespace tenon::types
