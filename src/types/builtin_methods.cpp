#include "types/builtin_methods.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ensure.h"
#include "diagnostics/nearest.h"
#include "types/table/type_parts.h"

namespace tenon::types {
namespace {

using Form = MethodSignature::ResultForm;

/// Types in the table below: S String, I i32, L i64, F f64, B Boolean, U (), T the receiver's own type, E its element
/// (of a list, map, Option or Result), C an entry of a context, W a role, `[x]` a list, `{x}` a map, `?x` an Option,
/// `!x` a Result; as a parameter `|…|x` is a closure, where R is its result type. As a result
/// `[R]`, `?R` and `A` (the first argument's type).
struct MethodRow {
  TypeKind receiver;
  std::string_view name;
  std::string_view parameters;
  std::string_view result;
  Target target;
  bool changes_receiver = false;
};

constexpr Target builtin(Builtin value) {
  return {TargetKind::Builtin, static_cast<std::uint32_t>(value), 0};
}
constexpr Target method(BuiltinMethod value) {
  return {TargetKind::Method, static_cast<std::uint32_t>(value), 0};
}

// clang-format off
constexpr MethodRow rows[] = {
    {TypeKind::String, "len", "", "I", method(BuiltinMethod::Length)},
    {TypeKind::String, "is_empty", "", "B", method(BuiltinMethod::IsEmpty)},
    {TypeKind::String, "contains", "S", "B", builtin(Builtin::StringContains)},
    {TypeKind::String, "starts_with", "S", "B", builtin(Builtin::StringStartsWith)},
    {TypeKind::String, "ends_with", "S", "B", builtin(Builtin::StringEndsWith)},
    {TypeKind::String, "trim", "", "S", builtin(Builtin::StringTrim)},
    {TypeKind::String, "to_uppercase", "", "S", builtin(Builtin::StringToUpper)},
    {TypeKind::String, "to_lowercase", "", "S", builtin(Builtin::StringToLower)},
    {TypeKind::String, "replace", "SS", "S", builtin(Builtin::StringReplace)},
    {TypeKind::String, "split", "S", "[S]", builtin(Builtin::StringSplit)},
    {TypeKind::String, "lines", "", "[S]", builtin(Builtin::StringLines)},
    {TypeKind::String, "chars", "", "[S]", builtin(Builtin::StringChars)},
    {TypeKind::String, "slice", "II", "S", builtin(Builtin::StringSlice)},
    {TypeKind::String, "find", "S", "?I", builtin(Builtin::StringFind)},
    {TypeKind::String, "repeat", "I", "S", builtin(Builtin::StringRepeat)},
    {TypeKind::String, "matches", "S", "B", builtin(Builtin::StringMatches)},

    {TypeKind::List, "len", "", "I", method(BuiltinMethod::Length)},
    {TypeKind::List, "is_empty", "", "B", method(BuiltinMethod::IsEmpty)},
    {TypeKind::List, "push", "E", "U", method(BuiltinMethod::Push), true},
    {TypeKind::List, "pop", "", "?E", method(BuiltinMethod::Pop), true},
    {TypeKind::List, "insert", "IE", "U", method(BuiltinMethod::Insert), true},
    {TypeKind::List, "remove", "I", "E", method(BuiltinMethod::RemoveAt), true},
    {TypeKind::List, "contains", "E", "B", builtin(Builtin::ListContains)},
    {TypeKind::List, "first", "", "?E", builtin(Builtin::ListFirst)},
    {TypeKind::List, "last", "", "?E", builtin(Builtin::ListLast)},
    {TypeKind::List, "get", "I", "?E", builtin(Builtin::ListGet)},
    {TypeKind::List, "slice", "II", "T", builtin(Builtin::ListSlice)},
    {TypeKind::List, "reversed", "", "T", builtin(Builtin::ListReverse)},
    {TypeKind::List, "sorted", "", "T", builtin(Builtin::ListSort)},
    {TypeKind::List, "join", "S", "S", builtin(Builtin::ListJoin)},
    {TypeKind::List, "position", "E", "?I", builtin(Builtin::ListFind)},
    {TypeKind::List, "sum", "", "E", builtin(Builtin::ListSumI32)},
    {TypeKind::List, "min", "", "?E", builtin(Builtin::ListMinimum)},
    {TypeKind::List, "max", "", "?E", builtin(Builtin::ListMaximum)},
    {TypeKind::List, "map", "|E|R", "[R]", method(BuiltinMethod::Map)},
    {TypeKind::List, "filter", "|E|B", "T", method(BuiltinMethod::Filter)},
    {TypeKind::List, "any", "|E|B", "B", method(BuiltinMethod::Any)},
    {TypeKind::List, "all", "|E|B", "B", method(BuiltinMethod::All)},
    {TypeKind::List, "find", "|E|B", "?E", method(BuiltinMethod::Find)},
    {TypeKind::List, "fold", "A|AE|A", "A", method(BuiltinMethod::Fold)},

    {TypeKind::Map, "len", "", "I", method(BuiltinMethod::Length)},
    {TypeKind::Map, "is_empty", "", "B", method(BuiltinMethod::IsEmpty)},
    {TypeKind::Map, "get", "S", "?E", builtin(Builtin::MapGet)},
    {TypeKind::Map, "contains_key", "S", "B", builtin(Builtin::MapContains)},
    {TypeKind::Map, "keys", "", "[S]", builtin(Builtin::MapKeys)},
    {TypeKind::Map, "values", "", "[E]", builtin(Builtin::MapValues)},
    {TypeKind::Map, "insert", "SE", "U", method(BuiltinMethod::MapInsert), true},
    {TypeKind::Map, "remove", "S", "?E", method(BuiltinMethod::MapRemove), true},

    {TypeKind::Option, "is_some", "", "B", method(BuiltinMethod::IsSome)},
    {TypeKind::Option, "is_none", "", "B", method(BuiltinMethod::IsNone)},
    {TypeKind::Option, "unwrap", "", "E", builtin(Builtin::OptionUnwrap)},
    {TypeKind::Option, "unwrap_or", "E", "E", method(BuiltinMethod::UnwrapOr)},
    {TypeKind::Option, "map", "|E|R", "?R", method(BuiltinMethod::OptionMap)},

    {TypeKind::Result, "is_ok", "", "B", method(BuiltinMethod::IsOk)},
    {TypeKind::Result, "is_err", "", "B", method(BuiltinMethod::IsErr)},
    {TypeKind::Result, "unwrap", "", "E", builtin(Builtin::ResultUnwrap)},
    {TypeKind::Result, "unwrap_or", "E", "E", method(BuiltinMethod::UnwrapOr)},

    {TypeKind::I32, "abs", "", "T", builtin(Builtin::IntegerAbsoluteI32)},
    {TypeKind::I32, "min", "T", "T", builtin(Builtin::IntegerMinimum)},
    {TypeKind::I32, "max", "T", "T", builtin(Builtin::IntegerMaximum)},
    {TypeKind::I32, "pow", "I", "T", builtin(Builtin::I32Power)},
    {TypeKind::I64, "abs", "", "T", builtin(Builtin::IntegerAbsoluteI64)},
    {TypeKind::I64, "min", "T", "T", builtin(Builtin::IntegerMinimum)},
    {TypeKind::I64, "max", "T", "T", builtin(Builtin::IntegerMaximum)},
    {TypeKind::I64, "pow", "I", "T", builtin(Builtin::I64Power)},
    {TypeKind::F64, "abs", "", "T", builtin(Builtin::F64Absolute)},
    {TypeKind::F64, "min", "T", "T", builtin(Builtin::F64Minimum)},
    {TypeKind::F64, "max", "T", "T", builtin(Builtin::F64Maximum)},
    {TypeKind::F64, "floor", "", "T", builtin(Builtin::F64Floor)},
    {TypeKind::F64, "ceil", "", "T", builtin(Builtin::F64Ceil)},
    {TypeKind::F64, "round", "", "T", builtin(Builtin::F64Round)},
    {TypeKind::F64, "sqrt", "", "T", builtin(Builtin::F64Sqrt)},
    {TypeKind::F64, "powf", "F", "T", builtin(Builtin::F64Power)},

    {TypeKind::Context, "inject", "*", "U", method(BuiltinMethod::Inject), true},
    {TypeKind::Context, "inject_as", "W*", "U", method(BuiltinMethod::InjectAs), true},
    {TypeKind::Context, "say", "*", "U", method(BuiltinMethod::Say), true},
    {TypeKind::Context, "entries", "", "[C]", method(BuiltinMethod::Entries)},
    {TypeKind::Context, "text", "", "S", builtin(Builtin::ContextText)},
    {TypeKind::Context, "len", "", "I", builtin(Builtin::ContextLength)},
    {TypeKind::Context, "trusted_part", "", "T", builtin(Builtin::ContextTrustedPart)},

    {TypeKind::Tools, "len", "", "I", method(BuiltinMethod::Length)},
    {TypeKind::Tools, "is_empty", "", "B", method(BuiltinMethod::IsEmpty)},
    {TypeKind::Tools, "names", "", "[S]", builtin(Builtin::ToolNames)},
    {TypeKind::Tools, "only", "[S]", "T", builtin(Builtin::ToolsOnly)},
    {TypeKind::Tools, "without", "[S]", "T", builtin(Builtin::ToolsWithout)},
    {TypeKind::Tools, "signatures", "", "[S]", builtin(Builtin::ToolSignatures)},
    {TypeKind::Tools, "call", "S{S}", "![S]", method(BuiltinMethod::CallTool)},
};
// clang-format on

/// Methods of every value.
constexpr MethodRow common_rows[] = {
    {TypeKind::Error, "to_string", "", "S", method(BuiltinMethod::ToString)},
    {TypeKind::Error, "to_json", "", "S", builtin(Builtin::ToJson)},
    {TypeKind::Error, "parts", "", "[S]", builtin(Builtin::CutByTrust)},
    {TypeKind::Error, "is_trusted", "", "B", builtin(Builtin::IsTrusted)},
    {TypeKind::Error, "clone", "", "T", method(BuiltinMethod::Clone)},
};

struct OtherName {
  std::string_view written;  ///< in lower case, without `_`
  std::string_view method;
  bool is_function = false;  ///< a function in these languages, too: `upper(name)`
};

/// Names for the same methods in other languages: Rust, Python, JavaScript, Java, Jinja, spreadsheets. The first method
/// that the receiver has is meant.
constexpr OtherName other_names[] = {
    {"absolute", "abs"},
    {"add", "push"},
    {"add", "insert"},
    {"add", "inject"},
    {"addlast", "push"},
    {"allmatch", "all"},
    {"anymatch", "any"},
    {"append", "push", true},
    {"append", "inject"},
    {"at", "get"},
    {"beginswith", "starts_with"},
    {"capitalize", "to_uppercase", true},
    {"ceiling", "ceil"},
    {"characters", "chars"},
    {"chomp", "trim"},
    {"containskey", "contains"},
    {"contains", "contains_key"},
    {"copy", "clone"},
    {"count", "len", true},
    {"deepcopy", "clone"},
    {"default", "unwrap_or", true},
    {"del", "remove"},
    {"delete", "remove"},
    {"deserialize", "parse_json"},
    {"detect", "find"},
    {"display", "to_string"},
    {"dumps", "to_json"},
    {"dup", "clone"},
    {"elementat", "get"},
    {"endswith", "ends_with", true},
    {"enqueue", "push"},
    {"erase", "remove"},
    {"every", "all", true},
    {"exists", "any", true},
    {"exists", "contains_key"},
    {"exists", "is_some"},
    {"expect", "unwrap"},
    {"filternot", "filter"},
    {"findall", "filter"},
    {"float", "parse", true},
    {"foldl", "fold"},
    {"foldleft", "fold"},
    {"force", "unwrap"},
    {"format", "to_string"},
    {"fromjson", "parse_json", true},
    {"front", "first"},
    {"get", "unwrap"},
    {"getorelse", "unwrap_or"},
    {"getvalue", "unwrap"},
    {"gsub", "replace"},
    {"has", "contains", true},
    {"has", "contains_key"},
    {"haskey", "contains_key"},
    {"hasprefix", "starts_with"},
    {"hassuffix", "ends_with"},
    {"hasvalue", "is_some"},
    {"head", "first"},
    {"history", "entries"},
    {"includes", "contains", true},
    {"includes", "contains_key"},
    {"index", "position"},
    {"index", "find"},
    {"indexof", "position"},
    {"indexof", "find"},
    {"int", "parse", true},
    {"isabsent", "is_none"},
    {"isblank", "is_empty"},
    {"isdefined", "is_some"},
    {"iserror", "is_err"},
    {"isfailure", "is_err"},
    {"ismatch", "matches"},
    {"isnil", "is_none"},
    {"isnotnull", "is_some"},
    {"isnull", "is_none"},
    {"ispresent", "is_some"},
    {"issuccess", "is_ok"},
    {"json", "to_json", true},
    {"keep", "filter"},
    {"length", "len", true},
    {"loads", "parse_json"},
    {"lower", "to_lowercase", true},
    {"lowercase", "to_lowercase", true},
    {"lstrip", "trim"},
    {"match", "matches", true},
    {"maximum", "max"},
    {"messages", "entries"},
    {"minimum", "min"},
    {"nth", "get"},
    {"number", "parse", true},
    {"popback", "pop"},
    {"poplast", "pop"},
    {"power", "pow"},
    {"power", "powf"},
    {"pow", "powf"},
    {"pushback", "push"},
    {"put", "insert"},
    {"reduce", "fold", true},
    {"reject", "filter", true},
    {"removeat", "remove"},
    {"replaceall", "replace"},
    {"rev", "reversed"},
    {"reverse", "reversed", true},
    {"rstrip", "trim"},
    {"select", "filter", true},
    {"serialize", "to_json"},
    {"set", "insert"},
    {"size", "len", true},
    {"some", "any", true},
    {"sort", "sorted", true},
    {"splitlines", "lines"},
    {"startswith", "starts_with", true},
    {"str", "to_string", true},
    {"string", "to_string", true},
    {"strip", "trim", true},
    {"stringify", "to_json", true},
    {"sub", "slice"},
    {"sublist", "slice"},
    {"substr", "slice"},
    {"substring", "slice", true},
    {"tolower", "to_lowercase"},
    {"toreversed", "reversed"},
    {"tosorted", "sorted"},
    {"tostr", "to_string"},
    {"total", "sum"},
    {"toupper", "to_uppercase"},
    {"trimend", "trim"},
    {"trimleft", "trim"},
    {"trimright", "trim"},
    {"trimstart", "trim"},
    {"unwrapordefault", "unwrap_or"},
    {"update", "insert"},
    {"upper", "to_uppercase", true},
    {"uppercase", "to_uppercase", true},
    {"value", "unwrap"},
    {"valueor", "unwrap_or"},
    {"where", "filter"},
    {"write", "inject"},
};

struct Advice {
  TypeKind receiver;
  std::string_view written;  ///< in lower case, without `_`
  std::string_view text;
};

constexpr std::string_view iterate_list = "remove it: a list is iterated directly, with `for x in xs { … }`";
constexpr std::string_view join_lists = "join lists with `+`";
constexpr std::string_view join_texts = "join texts with `+`, or write a template string: `\"{{ x }}\"`";
constexpr std::string_view parse_text = "parse the number with `.parse<i32>()`";
constexpr std::string_view iterate_map = "iterate with `for (key, value) in m { … }`";
constexpr std::string_view use_if_let = "use `if let Some(value) = x { … }` instead";
constexpr std::string_view use_other = "use `??` instead: `x ?? other`";
constexpr std::string_view to_float = "convert it with `as f64`";
constexpr std::string_view to_integer = "convert it with `as i32`, which drops the fraction";
constexpr std::string_view to_wide_integer = "convert it with `as i64`";

/// Methods of other languages for which something else is written.
constexpr Advice advices[] = {
    {TypeKind::String, "append", join_texts},
    {TypeKind::String, "capitalize", "use `s.slice(0, 1).to_uppercase() + s.slice(1, s.len())` instead"},
    {TypeKind::String, "format", "write a template string: `\"{{ x }}\"`"},
    {TypeKind::String, "charat", "use `.slice(i, i + 1)` instead"},
    {TypeKind::String, "at", "use `.slice(i, i + 1)` instead"},
    {TypeKind::String, "concat", join_texts},
    {TypeKind::String, "pushstr", join_texts},
    {TypeKind::String, "push", join_texts},
    {TypeKind::String, "parseint", parse_text},
    {TypeKind::String, "parsefloat", "parse the number with `.parse<f64>()`"},
    {TypeKind::String, "splitwhitespace", "use `.split(\" \")` instead"},
    {TypeKind::String, "tofloat", "parse the number with `.parse<f64>()`"},
    {TypeKind::String, "tof64", "parse the number with `.parse<f64>()`"},
    {TypeKind::String, "toint", parse_text},
    {TypeKind::String, "toi32", parse_text},
    {TypeKind::String, "toi64", "parse the number with `.parse<i64>()`"},
    {TypeKind::String, "tonumber", parse_text},
    {TypeKind::String, "words", "use `.split(\" \")` instead"},

    {TypeKind::List, "addall", join_lists},
    {TypeKind::List, "average", "divide `.sum()` by `.len()`"},
    {TypeKind::List, "clear", "assign an empty list: `xs = []`"},
    {TypeKind::List, "collect", iterate_list},
    {TypeKind::List, "concat", join_lists},
    {TypeKind::List, "each", iterate_list},
    {TypeKind::List, "enumerate", "count with a variable: `for i in 0..xs.len() { … }`"},
    {TypeKind::List, "extend", join_lists},
    {TypeKind::List, "foreach", iterate_list},
    {TypeKind::List, "intoiter", iterate_list},
    {TypeKind::List, "iter", iterate_list},
    {TypeKind::List, "mean", "divide `.sum()` by `.len()`"},
    {TypeKind::List, "none", "use `!xs.any(…)` instead"},
    {TypeKind::List, "popfront", "use `.remove(0)` instead"},
    {TypeKind::List, "pushfront", "use `.insert(0, x)` instead"},
    {TypeKind::List, "set", "assign to the item: `xs[0] = x`"},
    {TypeKind::List, "shift", "use `.remove(0)` instead"},
    {TypeKind::List, "skip", "use `.slice(n, xs.len())` instead"},
    {TypeKind::List, "drop", "use `.slice(n, xs.len())` instead"},
    {TypeKind::List, "tail", "use `.slice(1, xs.len())` instead"},
    {TypeKind::List, "take", "use `.slice(0, n)` instead"},
    {TypeKind::List, "tolist", iterate_list},
    {TypeKind::List, "unshift", "use `.insert(0, x)` instead"},

    {TypeKind::Map, "clear", "assign an empty map: `m = Map::new()`"},
    {TypeKind::Map, "entries", iterate_map},
    {TypeKind::Map, "foreach", iterate_map},
    {TypeKind::Map, "getor", "use `.get(key).unwrap_or(value)` instead"},
    {TypeKind::Map, "getordefault", "use `.get(key).unwrap_or(value)` instead"},
    {TypeKind::Map, "items", iterate_map},
    {TypeKind::Map, "iter", iterate_map},
    {TypeKind::Map, "pop", "use `.remove(key)` instead"},

    {TypeKind::Option, "andthen", "use `match x { Some(value) => …, None => None }` instead"},
    {TypeKind::Option, "filter", "use `match x { Some(value) if … => Some(value), _ => None }` instead"},
    {TypeKind::Option, "flatmap", "use `match x { Some(value) => …, None => None }` instead"},
    {TypeKind::Option, "flatten", "use `x ?? None` instead"},
    {TypeKind::Option, "foreach", use_if_let},
    {TypeKind::Option, "getorinsert", "use `??`, and assign the value: `x = Some(x ?? …)`"},
    {TypeKind::Option, "getorinsertwith", "use `??`, and assign the value: `x = Some(x ?? …)`"},
    {TypeKind::Option, "ifpresent", use_if_let},
    {TypeKind::Option, "inspect", use_if_let},
    {TypeKind::Option, "insert", "assign the value: `x = Some(…)`"},
    {TypeKind::Option, "isnoneor", "use `x.map(|value| …) ?? true` instead"},
    {TypeKind::Option, "issomeand", "use `x.map(|value| …) ?? false` instead"},
    {TypeKind::Option, "iter", use_if_let},
    {TypeKind::Option, "let", use_if_let},
    {TypeKind::Option, "mapor", "use `x.map(|value| …) ?? other` instead"},
    {TypeKind::Option, "maporelse", "use `x.map(|value| …) ?? other` instead"},
    {TypeKind::Option, "okor", "use `??` with a call of `fail`: `x ?? fail(\"…\")`"},
    {TypeKind::Option, "okorelse", "use `??` with a call of `fail`: `x ?? fail(\"…\")`"},
    {TypeKind::Option, "or", use_other},
    {TypeKind::Option, "orelse", use_other},
    {TypeKind::Option, "replace", "assign the value: `x = Some(…)`"},
    {TypeKind::Option, "take", "assign `None`, after `let taken = x`"},
    {TypeKind::Option, "unwrapordefault", use_other},
    {TypeKind::Option, "unwraporelse", use_other},

    {TypeKind::Result, "andthen", "use `match x { Ok(value) => …, Err(failure) => Err(failure) }` instead"},
    {TypeKind::Result, "err", "use `match x { Ok(_) => None, Err(failure) => Some(failure) }` instead"},
    {TypeKind::Result, "isokand", "use `match x { Ok(value) => …, Err(_) => false }` instead"},
    {TypeKind::Result, "map", "use `match x { Ok(value) => Ok(…), Err(failure) => Err(failure) }` instead"},
    {TypeKind::Result, "maperr", "use `match x { Ok(value) => Ok(value), Err(failure) => Err(…) }` instead"},
    {TypeKind::Result, "mapor", "use `match x { Ok(value) => …, Err(_) => other }` instead"},
    {TypeKind::Result, "ok", "use `match x { Ok(value) => Some(value), Err(_) => None }` instead"},
    {TypeKind::Result, "or", "use `match x { Ok(value) => Ok(value), Err(_) => … }` instead"},
    {TypeKind::Result, "orelse", "use `match x { Ok(value) => Ok(value), Err(failure) => … }` instead"},
    {TypeKind::Result, "unwraporelse", "use `match x { Ok(value) => value, Err(failure) => … }` instead"},

    {TypeKind::I32, "asf64", to_float},
    {TypeKind::I32, "sqrt", "convert it first: `(n as f64).sqrt()`"},
    {TypeKind::I32, "tof64", to_float},
    {TypeKind::I32, "tofloat", to_float},
    {TypeKind::I32, "toi64", to_wide_integer},
    {TypeKind::I64, "asf64", to_float},
    {TypeKind::I64, "sqrt", "convert it first: `(n as f64).sqrt()`"},
    {TypeKind::I64, "tof64", to_float},
    {TypeKind::I64, "tofloat", to_float},
    {TypeKind::I64, "toi32", "convert it with `as i32`"},
    {TypeKind::F64, "toi32", to_integer},
    {TypeKind::F64, "toi64", "convert it with `as i64`, which drops the fraction"},
    {TypeKind::F64, "toint", to_integer},
    {TypeKind::F64, "trunc", to_integer},
};

/// Without `_` and in lower case, so that `toUpperCase` is `to_uppercase`.
std::string normalized(std::string_view name) {
  std::string out;
  for (const char byte : name) {
    if (byte != '_') out += byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
  }
  return out;
}

class RowReader {
 public:
  RowReader(TypeTable& types, TypeId receiver) : types_(types), receiver_(types.base(receiver)) {}

  std::vector<TypeId> parameters(std::string_view text) {
    std::vector<TypeId> all;
    while (!text.empty()) {
      if (text.front() != '|') {
        all.push_back(one(text));
        continue;
      }
      text.remove_prefix(1);
      std::vector<TypeId> inputs;
      const auto known = [&] {
        const TypeId type = one(text);
        return type.exists() ? type : TypeTable::error;
      };
      while (text.front() != '|') inputs.push_back(known());
      text.remove_prefix(1);
      all.push_back(types_.closure(std::move(inputs), known()));
    }
    return all;
  }

  TypeId one(std::string_view& text) {
    const char letter = text.front();
    text.remove_prefix(1);
    switch (letter) {
      case 'S':
        return TypeTable::string;
      case 'I':
        return TypeTable::i32;
      case 'L':
        return TypeTable::i64;
      case 'F':
        return TypeTable::f64;
      case 'B':
        return TypeTable::boolean;
      case 'U':
        return TypeTable::unit;
      case 'C':
        return types_.context_entry();
      case 'W':
        return types_.context_role();
      case 'T':
        return receiver_;
      case 'E':
        return types_.get(receiver_).arguments.at(0);
      case '?':
        return types_.option(one(text));
      case '!':
        return types_.result(one(text));
      case '[': {
        const TypeId item = one(text);
        text.remove_prefix(1);
        return types_.list(item);
      }
      case '{': {
        const TypeId value = one(text);
        text.remove_prefix(1);
        return types_.map(value);
      }
      case 'R':
      case 'A':
      case '*':
        return TypeId{};  // known only at the call
      default:
        break;
    }
    ENSURE(false);
  }

 private:
  TypeTable& types_;
  TypeId receiver_;
};

MethodSignature read(TypeTable& types, TypeId receiver, const MethodRow& row) {
  RowReader reader(types, receiver);
  MethodSignature signature;
  signature.target = row.target;
  signature.changes_receiver = row.changes_receiver;
  signature.parameters = reader.parameters(row.parameters);
  if (row.result == "[R]") {
    signature.form = Form::ListOfClosure;
  } else if (row.result == "?R") {
    signature.form = Form::OptionOfClosure;
  } else if (row.result == "A") {
    signature.form = Form::Initial;
  } else {
    std::string_view text = row.result;
    signature.result = reader.one(text);
  }
  if (row.name == "sum" && row.receiver == TypeKind::List) {
    const TypeKind element = types.kind(types.base(types.get(types.base(receiver)).arguments[0]));
    signature.target = builtin(element == TypeKind::F64   ? Builtin::ListSumF64
                               : element == TypeKind::I64 ? Builtin::ListSumInteger
                                                          : Builtin::ListSumI32);
  }
  return signature;
}

}  // namespace

std::optional<MethodSignature> find_builtin_method(TypeTable& types, TypeId receiver, std::string_view name) {
  const TypeKind kind = operand_kind(types, receiver);
  for (const MethodRow& row : rows) {
    if (row.receiver == kind && row.name == name) return read(types, receiver, row);
  }
  for (const MethodRow& row : common_rows) {
    if (row.name == name) return read(types, receiver, row);
  }
  return std::nullopt;
}

bool changes_receiver(BuiltinMethod method) {
  return std::any_of(std::begin(rows), std::end(rows), [&](const MethodRow& row) {
    return row.changes_receiver && row.target.index == static_cast<std::uint32_t>(method) &&
           row.target.kind == TargetKind::Method;
  });
}

std::vector<std::string_view> builtin_method_names(const TypeTable& types, TypeId receiver) {
  const TypeKind kind = operand_kind(types, receiver);
  std::vector<std::string_view> names;
  for (const MethodRow& row : rows) {
    if (row.receiver == kind) names.push_back(row.name);
  }
  for (const MethodRow& row : common_rows) names.push_back(row.name);
  if (kind == TypeKind::String) names.insert(names.end(), {"parse", "parse_json"});
  return names;
}

std::optional<std::string_view> find_known_elsewhere(std::string_view name) {
  const std::string written = normalized(name);
  for (const OtherName& other : other_names) {
    if (other.is_function && other.written == written) return other.method;
  }
  return std::nullopt;
}

std::optional<std::string> find_advice(const TypeTable& types, TypeId receiver, std::string_view name,
                                       std::span<const std::string_view> methods) {
  const auto has_method = [&](std::string_view method) { return std::ranges::find(methods, method) != methods.end(); };
  const std::string written = normalized(name);
  for (const std::string_view method : methods) {
    if (method != name && normalized(method) == written) return fmt::format("did you mean `{}`?", method);
  }
  const TypeKind kind = operand_kind(types, receiver);
  for (const Advice& advice : advices) {
    if (advice.receiver == kind && advice.written == written) return std::string(advice.text);
  }
  for (const OtherName& other : other_names) {
    if (other.written == written && has_method(other.method)) return fmt::format("use `{}` instead", other.method);
  }
  return std::nullopt;
}

std::optional<std::string_view> find_meant_method(const TypeTable& types, TypeId receiver, std::string_view name,
                                                  std::span<const std::string_view> methods) {
  const std::string written = normalized(name);
  for (const std::string_view method : methods) {
    if (normalized(method) == written) return method;
  }
  const TypeKind kind = operand_kind(types, receiver);
  const auto is_meant = [&](const Advice& advice) { return advice.receiver == kind && advice.written == written; };
  if (std::any_of(std::begin(advices), std::end(advices), is_meant)) return std::nullopt;
  for (const OtherName& other : other_names) {
    if (other.written == written && std::ranges::find(methods, other.method) != methods.end()) return other.method;
  }
  if (const auto nearest = diagnostics::find_nearest(name, methods))
    return *std::ranges::find(methods, std::string_view(*nearest));
  return find_nearest_elsewhere(name, methods);
}

std::optional<std::string_view> find_nearest_elsewhere(std::string_view name,
                                                       std::span<const std::string_view> methods) {
  std::vector<std::string_view> written;
  for (const OtherName& other : other_names) {
    if (std::ranges::find(methods, other.method) != methods.end()) written.push_back(other.written);
  }
  // A word of another language that is misspelt is recognized only by most of its letters.
  const auto nearest = diagnostics::find_nearest(normalized(name), written, 1);
  if (!nearest) return std::nullopt;
  for (const OtherName& other : other_names) {
    if (other.written == *nearest && std::ranges::find(methods, other.method) != methods.end()) return other.method;
  }
  return std::nullopt;
}

bool is_builtin_method(std::string_view name) {
  const auto has_name = [&](const MethodRow& row) { return row.name == name; };
  return name == "parse" || name == "parse_json" || std::any_of(std::begin(rows), std::end(rows), has_name) ||
         std::any_of(std::begin(common_rows), std::end(common_rows), has_name);
}

}  // namespace tenon::types
