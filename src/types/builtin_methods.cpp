#include "types/builtin_methods.h"

#include <algorithm>

#include "base/ensure.h"
#include "diagnostics/nearest.h"
#include "types/table/type_parts.h"

namespace tenon::types {
namespace {

using Form = MethodSignature::ResultForm;

/// Types in the table below: S String, I i32, L i64, F f64, B Boolean, U (), T the receiver's own type, E its element
/// (of a list, map, Option or Result), C an entry of a context, W a role, `[x]` a list, `?x` an Option; as a
/// parameter `|…|x` is a closure, where R is its result type. As a result
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

    {TypeKind::Tools, "len", "", "I", method(BuiltinMethod::Length)},
    {TypeKind::Tools, "is_empty", "", "B", method(BuiltinMethod::IsEmpty)},
    {TypeKind::Tools, "names", "", "[S]", builtin(Builtin::ToolNames)},
    {TypeKind::Tools, "only", "[S]", "T", builtin(Builtin::ToolsOnly)},
    {TypeKind::Tools, "without", "[S]", "T", builtin(Builtin::ToolsWithout)},
};
// clang-format on

/// Methods of every value.
constexpr MethodRow common_rows[] = {
    {TypeKind::Error, "to_string", "", "S", method(BuiltinMethod::ToString)},
    {TypeKind::Error, "to_json", "", "S", builtin(Builtin::ToJson)},
    {TypeKind::Error, "clone", "", "T", method(BuiltinMethod::Clone)},
};

struct OtherName {
  std::string_view written;
  std::string_view method;
};

/// Names for the same methods in other languages: Jinja, Python, JavaScript, spreadsheets.
constexpr OtherName other_names[] = {
    {"append", "push"},
    {"capitalize", "to_uppercase"},
    {"concat", "join"},
    {"count", "len"},
    {"default", "unwrap_or"},
    {"endswith", "ends_with"},
    {"every", "all"},
    {"exists", "any"},
    {"float", "parse"},
    {"from_json", "parse_json"},
    {"has", "contains"},
    {"includes", "contains"},
    {"int", "parse"},
    {"json", "to_json"},
    {"length", "len"},
    {"lower", "to_lowercase"},
    {"lowercase", "to_lowercase"},
    {"match", "matches"},
    {"number", "parse"},
    {"or_else", "unwrap_or"},
    {"reduce", "fold"},
    {"reject", "filter"},
    {"reverse", "reversed"},
    {"select", "filter"},
    {"size", "len"},
    {"some", "any"},
    {"sort", "sorted"},
    {"startswith", "starts_with"},
    {"str", "to_string"},
    {"string", "to_string"},
    {"strip", "trim"},
    {"stringify", "to_json"},
    {"substring", "slice"},
    {"toJSON", "to_json"},
    {"toLowerCase", "to_lowercase"},
    {"toString", "to_string"},
    {"toUpperCase", "to_uppercase"},
    {"tojson", "to_json"},
    {"upper", "to_uppercase"},
    {"uppercase", "to_uppercase"},
};

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
      case '[': {
        const TypeId item = one(text);
        text.remove_prefix(1);
        return types_.list(item);
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
  for (const OtherName& other : other_names) {
    if (other.written == name) return other.method;
  }
  return std::nullopt;
}

std::optional<std::string_view> find_nearest_elsewhere(std::string_view name,
                                                       std::span<const std::string_view> methods) {
  std::vector<std::string_view> written;
  for (const OtherName& other : other_names) {
    if (std::ranges::find(methods, other.method) != methods.end()) written.push_back(other.written);
  }
  // A word of another language that is misspelt is recognized only by most of its letters.
  const auto nearest = diagnostics::find_nearest(name, written, 1);
  return nearest ? find_known_elsewhere(*nearest) : std::nullopt;
}

bool is_builtin_method(std::string_view name) {
  const auto has_name = [&](const MethodRow& row) { return row.name == name; };
  return name == "parse" || name == "parse_json" || std::any_of(std::begin(rows), std::end(rows), has_name) ||
         std::any_of(std::begin(common_rows), std::end(common_rows), has_name);
}

}  // namespace tenon::types
