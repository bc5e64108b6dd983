#include "effects/value_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "base/counted.h"
#include "base/ensure.h"
#include "base/sealing.h"
#include "json/canonical.h"
#include "json/number.h"
#include "json/reader.h"
#include "json/text.h"
#include "types/table/type_parts.h"
#include "vm/values/context.h"
#include "vm/values/object.h"
#include "vm/values/text_size.h"

namespace tenon::effects {
namespace {

using types::Type;
using types::TypeId;
using types::TypeKind;
using types::TypeTable;
using vm::Tag;
using vm::Value;

/// Inside a string, quotation marks are escaped, so nothing else in a value's text starts like these.
constexpr std::string_view named_secret = R"({"$secret":)";
constexpr std::string_view sealed_secret = R"({"$secret":[)";

/// After a limit for a value's text.
constexpr std::string_view way_out =
    "; what occurs in several places counts in each: pass on only what is needed, or the path of a file";

/// The position after the JSON string that starts at `begin`; the end of the text if the string is not terminated.
std::size_t end_of_string(std::string_view json, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < json.size() && json[at] != '"') at += json[at] == '\\' ? 2U : 1U;
  return std::min(at + 1, json.size());
}

/// Whether `null` is the encoding of a value of the type.
bool may_be_null(const TypeTable& types, TypeId type) {
  const TypeKind kind = types.kind(types.base(type));
  return kind == TypeKind::Unit || kind == TypeKind::Option;
}

/// The fields in the order of their names in an object.
std::vector<std::size_t> order_of_fields(const std::vector<types::Field>& fields) {
  std::vector<std::size_t> order(fields.size());
  for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return precedes_in_utf16(fields[a].name, fields[b].name); });
  return order;
}

class ValueWriter {
 public:
  ValueWriter(const TypeTable& types, std::string& out, SecretForm secrets)
      : types_(types), out_(out), before_(out.size()), secrets_(secrets) {}

  /// False if the value cannot be written; `problem()` says why.
  bool write_whole(const Value& value, TypeId type) {
    whole_ = &value;
    if (!write(value, type)) return false;
    return out_.size() <= recorded_bytes_max || fail_too_long();
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  bool write(const Value& value, TypeId given) {
    if (depth_ == recorded_depth_max) return fail("the value is nested more than {} deep", recorded_depth_max);
    if (out_.size() > recorded_bytes_max) return fail_too_long();
    if (!is_counted_ && out_.size() - before_ > vm::counted_text_bytes_min) {
      is_counted_ = true;
      if (vm::is_text_over(*whole_, types_, recorded_bytes_max - before_)) return fail_too_long();
      if (vm::is_text_over(*whole_, types_, SIZE_MAX, recorded_parts_max)) return fail_too_many();
    }
    if (parts_++ == recorded_parts_max) return fail_too_many();
    ++depth_;
    const bool done = write_here(value, types_.base(given));
    --depth_;
    return done;
  }

  template <class... Arguments>
  bool fail(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    problem_ = fmt::format(text, std::forward<Arguments>(arguments)...);
    return false;
  }

  bool fail_too_long() {
    problem_ = too_long_to_record("the text");
    return false;
  }

  bool fail_too_many() {
    return fail("the value would have more than {} parts (recorded_parts_max){}", recorded_parts_max, way_out);
  }

  void write_string(std::string_view text) {
    out_ += '"';
    append_json_escaped(out_, text, recorded_bytes_max);
    out_ += '"';
  }

  bool write_here(const Value& value, TypeId id) {
    const Type& type = types_.get(id);
    if (type.kind == TypeKind::Secret && secrets_ == SecretForm::Open) return write(value, type.arguments[0]);
    if (type.kind == TypeKind::Secret && value.tag() != Tag::Secret) return fail("a secret in it is not sealed");
    switch (value.tag()) {
      case Tag::Unit:
        out_ += "null";
        return true;
      case Tag::Boolean:
        out_ += value.as_boolean() ? "true" : "false";
        return true;
      case Tag::Integer:
        if (type.kind == TypeKind::I32) {
          fmt::format_to(std::back_inserter(out_), "{}", value.as_integer());
        } else {
          fmt::format_to(std::back_inserter(out_), "\"{}\"", value.as_integer());
        }
        return true;
      case Tag::Float:
        write_float(value.as_float());
        return true;
      case Tag::String:
        write_string(value.as_text());
        return true;
      case Tag::List:
        if (type.kind == TypeKind::Tools) return write_tools(value);
        return write_items(value.items(), [&](std::size_t) { return type.arguments[0]; });
      case Tag::Map:
        return write_map(value, type.arguments[0]);
      case Tag::Record:
        if (type.kind == TypeKind::Struct) return write_struct(value, id);
        return write_items(value.fields(), [&](std::size_t at) { return type.arguments[at]; });
      case Tag::Case:
      case Tag::Variant:
        return write_case(value, id, type);
      case Tag::Context:
        out_ += R"({"context":")" + vm::context_hash(value).hex() + "\"}";
        return true;
      case Tag::Secret:
        write_secret(vm::secret_of(value));
        return true;
    }
    ENSURE(false);
  }

  void write_secret(const vm::SecretObject& secret) {
    const bool is_sealed = secrets_ == SecretForm::Sealed && !secret.sealed.empty();
    out_ += is_sealed ? sealed_secret : named_secret;
    append_json_string(out_, secret.origin);
    if (is_sealed) out_ += ",\"" + to_base64(secret.sealed) + "\"]";
    out_ += '}';
  }

  void write_float(double number) {
    if (std::isnan(number)) {
      out_ += "\"NaN\"";
    } else if (std::isinf(number)) {
      out_ += number < 0 ? "\"-Infinity\"" : "\"Infinity\"";
    } else if (number == 0 && std::signbit(number)) {
      out_ += "\"-0\"";
    } else {
      append_canonical_number(number, out_);
    }
  }

  template <class TypeOf>
  bool write_items(std::span<const Value> items, TypeOf type_of) {
    out_ += '[';
    for (std::size_t at = 0; at < items.size(); ++at) {
      if (at > 0) out_ += ',';
      if (!write(items[at], type_of(at))) return false;
    }
    out_ += ']';
    return true;
  }

  /// Names and given arguments. Never decoded: outcomes do not contain sets of tools.
  bool write_tools(const Value& set) {
    out_ += '[';
    bool is_first = true;
    for (const Value& tool : set.items()) {
      const types::StructType& shape = types_.struct_type(tool.type());
      out_ += is_first ? R"({"given":{)" : R"(,{"given":{)";
      is_first = false;
      bool is_first_field = true;
      for (const std::size_t at : order_of_fields(shape.fields)) {
        if (at == 0) continue;  // the index
        if (!is_first_field) out_ += ',';
        is_first_field = false;
        append_json_string(out_, shape.fields[at].name);
        out_ += ':';
        if (!write(tool.fields()[at], shape.fields[at].type)) return false;
      }
      out_ += R"(},"tool":)";
      append_json_string(out_, shape.name);
      out_ += '}';
    }
    out_ += ']';
    return true;
  }

  bool write_map(const Value& value, TypeId item) {
    out_ += '[';
    bool is_first = true;
    for (const vm::MapEntry& entry : value.entries()) {
      out_ += is_first ? "[" : ",[";
      is_first = false;
      write_string(entry.key.as_text());
      out_ += ',';
      if (!write(entry.value, item)) return false;
      out_ += ']';
    }
    out_ += ']';
    return true;
  }

  bool write_struct(const Value& value, TypeId id) {
    const std::vector<types::Field>& fields = types_.struct_type(id).fields;
    const auto [known, is_new] = orders_.try_emplace(id.index);
    if (is_new) known->second = order_of_fields(fields);
    const std::vector<std::size_t>& order = known->second;
    out_ += '{';
    bool is_first = true;
    for (const std::size_t at : order) {
      if (!is_first) out_ += ',';
      is_first = false;
      append_json_string(out_, fields[at].name);
      out_ += ':';
      if (!write(value.fields()[at], fields[at].type)) return false;
    }
    out_ += '}';
    return true;
  }

  bool write_case(const Value& value, TypeId id, const Type& type) {
    if (type.kind == TypeKind::Option) {
      if (value.tag() == Tag::Case) {
        out_ += "null";
        return true;
      }
      const bool is_wrapped = may_be_null(types_, type.arguments[0]);
      if (is_wrapped) out_ += R"({"some":)";
      if (!write(value.fields()[0], type.arguments[0])) return false;
      if (is_wrapped) out_ += '}';
      return true;
    }
    if (type.kind == TypeKind::Result) {
      const bool is_ok = value.case_index() == 0;
      out_ += is_ok ? R"({"ok":)" : R"({"err":)";
      if (!write(value.fields()[0], is_ok ? type.arguments[0] : TypeTable::failure)) return false;
      out_ += '}';
      return true;
    }
    ENSURE(type.kind == TypeKind::Enum);
    const types::Variant& variant = types_.enum_type(id).variants[value.case_index()];
    if (value.tag() == Tag::Case) {
      append_json_string(out_, variant.name);
      return true;
    }
    out_ += '{';
    append_json_string(out_, variant.name);
    out_ += ':';
    if (!write_items(value.fields(), [&](std::size_t at) { return variant.payload[at]; })) return false;
    out_ += '}';
    return true;
  }

  const TypeTable& types_;
  std::string& out_;
  const std::size_t before_;  ///< bytes of `out_` that others have written
  SecretForm secrets_;
  const Value* whole_ = nullptr;
  bool is_counted_ = false;
  std::size_t depth_ = 0;
  std::size_t parts_ = 0;
  std::map<std::uint32_t, std::vector<std::size_t>> orders_;  ///< of the fields of structs, by their types
  std::string problem_;
};

class ValueParser {
 public:
  ValueParser(const TypeTable& types, SecretForm secrets) : types_(types), secrets_(secrets) {}

  Result<Value, ValueFormError> read(const Json& json, TypeId given) {
    if (path_.size() > recorded_depth_max) return wrong("nested too deep");
    const TypeId id = types_.base(given);
    const Type& type = types_.get(id);
    switch (type.kind) {
      case TypeKind::Unit:
        if (!json.is_null()) return mismatch(id, json);
        return Value::unit();
      case TypeKind::Boolean:
        if (!json.is_boolean()) return mismatch(id, json);
        return Value::boolean(json.as_boolean());
      case TypeKind::I32:
      case TypeKind::I64:
        return read_integer(json, id);
      case TypeKind::F64:
        return read_float(json, id);
      case TypeKind::String:
      case TypeKind::Text:
        return read_string(json, id);
      case TypeKind::Union:
        return types::is_text(types_, id) ? read_string(json, id) : read_integer(json, TypeTable::i64);
      case TypeKind::List:
        return read_list(json, id, type.arguments[0]);
      case TypeKind::Map:
        return read_map(json, id, type.arguments[0]);
      case TypeKind::Tuple:
        return read_tuple(json, id, type.arguments);
      case TypeKind::Struct:
        return read_struct(json, id);
      case TypeKind::Enum:
        return read_enum(json, id);
      case TypeKind::Option:
        return read_option(json, id, type.arguments[0]);
      case TypeKind::Result:
        return read_result(json, id, type.arguments[0]);
      case TypeKind::Context:
        if (json == Json::object({{"context", vm::context_hash(Value::empty_context()).hex()}}))
          return Value::empty_context();
        return wrong("a context cannot be read back");
      case TypeKind::Secret:
        return secrets_ == SecretForm::Open ? read_open(json, type.arguments[0]) : read_secret(json);
      case TypeKind::Error:
      case TypeKind::Never:
      case TypeKind::Refined:
      case TypeKind::Range:
      case TypeKind::Parameter:
      case TypeKind::Closure:
      case TypeKind::Tools:
        break;
    }
    return wrong(fmt::format("there are no recorded values of the type {}", types_.describe(id)));
  }

 private:
  /// Reads a part at the path `name`.
  Result<Value, ValueFormError> read_part(std::string name, const Json& json, TypeId type) {
    path_.push_back(std::move(name));
    auto value = read(json, type);
    if (value) path_.pop_back();
    return value;
  }

  [[nodiscard]] tl::unexpected<ValueFormError> wrong(std::string_view what) const {
    std::string place;
    for (const std::string& part : path_) place += part;
    return failure(ValueFormError{place.empty() ? std::string(what) : fmt::format("at {}: {}", place, what)});
  }

  [[nodiscard]] tl::unexpected<ValueFormError> mismatch(TypeId type, const Json& json) const {
    constexpr std::size_t shown_bytes_max = 80;
    std::string shown = json.dump();
    if (shown.size() > shown_bytes_max) shown = shown.substr(0, shown_bytes_max) + "…";
    return wrong(fmt::format("{} is not a valid {}", shown, types_.describe(type)));
  }

  Result<Value, ValueFormError> read_integer(const Json& json, TypeId type) {
    std::int64_t number = 0;
    if (json.is_integer()) {
      number = json.as_integer();
    } else if (json.is_string()) {
      const std::string& digits = json.as_string();
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (error != std::errc() || end != digits.data() + digits.size()) return mismatch(type, json);
    } else {
      return mismatch(type, json);
    }
    if (type == TypeTable::i32 && number != static_cast<std::int32_t>(number)) return mismatch(type, json);
    return Value::integer(number);
  }

  Result<Value, ValueFormError> read_float(const Json& json, TypeId type) {
    if (json.is_numeric()) return Value::floating(json.as_double());
    const std::string_view text = json.is_string() ? std::string_view(json.as_string()) : std::string_view();
    if (text == "NaN") return Value::floating(std::numeric_limits<double>::quiet_NaN());
    if (text == "Infinity") return Value::floating(std::numeric_limits<double>::infinity());
    if (text == "-Infinity") return Value::floating(-std::numeric_limits<double>::infinity());
    if (text == "-0") return Value::floating(-0.0);
    return mismatch(type, json);
  }

  Result<Value, ValueFormError> read_string(const Json& json, TypeId type) {
    if (!json.is_string()) return mismatch(type, json);
    auto text = Value::try_string(json.as_string());
    if (!text) return wrong("the text is not UTF-8 or too long");
    return std::move(*text);
  }

  /// Mismatches are reported without the content.
  Result<Value, ValueFormError> read_open(const Json& json, TypeId type) {
    auto value = read(json, type);
    if (!value) return wrong("it is not a secret " + types_.describe(type));
    return value;
  }

  /// The content is not checked: a mismatch is reported when it is decrypted.
  Result<Value, ValueFormError> read_secret(const Json& json) {
    const Json* const found = json.size() == 1 ? json.find("$secret") : nullptr;
    if (found == nullptr) return wrong("expected a secret, found something else");
    if (found->is_string()) return Value::secret(found->as_string(), {});
    const bool is_pair =
        found->is_array() && found->size() == 2 && std::ranges::all_of(found->items(), &Json::is_string);
    if (!is_pair) return wrong("a secret's seal cannot be read");
    auto sealed = from_base64(found->items()[1].as_string());
    if (!sealed) return wrong("a secret's seal cannot be read");
    return Value::secret(found->items()[0].as_string(), std::move(*sealed));
  }

  Result<Value, ValueFormError> read_list(const Json& json, TypeId type, TypeId item) {
    if (!json.is_array()) return mismatch(type, json);
    std::vector<Value> items;
    items.reserve(json.size());
    for (const Json& part : json.items()) {
      auto value = read_part(fmt::format("[{}]", items.size()), part, item);
      if (!value) return value;
      items.push_back(std::move(*value));
    }
    return Value::list(std::move(items));
  }

  Result<Value, ValueFormError> read_map(const Json& json, TypeId type, TypeId item) {
    if (!json.is_array()) return mismatch(type, json);
    std::vector<std::pair<Value, Value>> entries;
    entries.reserve(json.size());
    for (const Json& entry : json.items()) {
      if (!entry.is_array() || entry.size() != 2) return mismatch(type, json);
      auto key = read_part(fmt::format("[{}][0]", entries.size()), entry.items()[0], TypeTable::string);
      if (!key) return key;
      auto value = read_part(fmt::format("[{}][1]", entries.size()), entry.items()[1], item);
      if (!value) return value;
      entries.emplace_back(std::move(*key), std::move(*value));
    }
    return Value::map(std::move(entries));
  }

  Result<Value, ValueFormError> read_tuple(const Json& json, TypeId type, std::vector<TypeId> parts) {
    if (!json.is_array() || json.size() != parts.size()) return mismatch(type, json);
    std::vector<Value> fields;
    for (const TypeId part : parts) {
      auto value = read_part(fmt::format("[{}]", fields.size()), json.items()[fields.size()], part);
      if (!value) return value;
      fields.push_back(std::move(*value));
    }
    return Value::record(type, std::move(fields));
  }

  Result<Value, ValueFormError> read_struct(const Json& json, TypeId type) {
    if (!json.is_object()) return mismatch(type, json);
    const std::vector<types::Field>& fields = types_.struct_type(type).fields;
    std::vector<Value> values;
    for (const types::Field& field : fields) {
      const Json* const part = json.find(field.name);
      if (part == nullptr) return wrong(fmt::format("`{}` has no `{}`", types_.describe(type), field.name));
      auto value = read_part("." + field.name, *part, field.type);
      if (!value) return value;
      values.push_back(std::move(*value));
    }
    if (json.size() != fields.size()) {
      for (const JsonMember& member : json.members()) {
        const bool is_known = std::ranges::find(fields, member.name, &types::Field::name) != fields.end();
        if (!is_known) return wrong(fmt::format("{1} has no field `{0}`", member.name, types_.describe(type)));
      }
    }
    return Value::record(type, std::move(values));
  }

  Result<Value, ValueFormError> read_enum(const Json& json, TypeId type) {
    const bool has_payload = json.is_object() && json.size() == 1;
    if (!json.is_string() && !has_payload) return mismatch(type, json);
    const std::string& name = has_payload ? json.members().front().name : json.as_string();
    const std::vector<types::Variant>& variants = types_.enum_type(type).variants;
    const auto found = std::find_if(variants.begin(), variants.end(),
                                    [&](const types::Variant& variant) { return variant.name == name; });
    if (found == variants.end()) return wrong(fmt::format("{} has no case `{}`", types_.describe(type), name));
    const auto index = static_cast<std::uint32_t>(found - variants.begin());
    if (has_payload == found->payload.empty()) return mismatch(type, json);
    if (!has_payload) return Value::plain_case(type, index);
    const Json& items = json.members().front().value;
    if (!items.is_array() || items.size() != found->payload.size()) return mismatch(type, json);
    std::vector<Value> payload;
    for (const TypeId part : found->payload) {
      auto value = read_part(fmt::format(".{}[{}]", name, payload.size()), items.items()[payload.size()], part);
      if (!value) return value;
      payload.push_back(std::move(*value));
    }
    return Value::variant(type, index, std::move(payload));
  }

  Result<Value, ValueFormError> read_option(const Json& json, TypeId type, TypeId some) {
    if (json.is_null()) return Value::none();
    const bool is_wrapped = may_be_null(types_, some);
    if (is_wrapped && !(json.is_object() && json.size() == 1 && json.contains("some"))) return mismatch(type, json);
    auto value = is_wrapped ? read_part(".some", json.get("some"), some) : read(json, some);
    if (!value) return value;
    return Value::some(std::move(*value));
  }

  Result<Value, ValueFormError> read_result(const Json& json, TypeId type, TypeId ok) {
    if (!json.is_object() || json.size() != 1) return mismatch(type, json);
    const bool is_ok = json.contains("ok");
    if (!is_ok && !json.contains("err")) return mismatch(type, json);
    auto value = read_part(is_ok ? ".ok" : ".err", json.members().front().value, is_ok ? ok : TypeTable::failure);
    if (!value) return value;
    return is_ok ? Value::ok(std::move(*value)) : Value::err(std::move(*value));
  }

  const TypeTable& types_;
  SecretForm secrets_;
  std::vector<std::string> path_;
};

}  // namespace

std::string too_long_to_record(std::string_view what) {
  return fmt::format("{} would be longer than {} bytes (recorded_bytes_max){}", what, recorded_bytes_max, way_out);
}

Result<void, ValueFormError> write_value(const Value& value, TypeId type, const TypeTable& types, std::string& out,
                                         SecretForm secrets) {
  ValueWriter writer(types, out, secrets);
  if (!writer.write_whole(value, type)) return failure(ValueFormError{writer.problem()});
  return {};
}

std::optional<SealPlace> find_seal(std::string_view json) {
  const std::size_t begin = json.find(sealed_secret);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t close = json.find("]}", end_of_string(json, begin + sealed_secret.size()));
  if (close == std::string_view::npos) return std::nullopt;
  return SealPlace{begin, close + 2 - begin};
}

std::string name_secrets(std::string_view json) {
  std::string text;
  while (const auto seal = find_seal(json)) {
    text += json.substr(0, seal->begin);
    const std::size_t origin = seal->begin + sealed_secret.size();
    text += named_secret;
    text += json.substr(origin, end_of_string(json, origin) - origin);
    text += '}';
    json.remove_prefix(seal->begin + seal->size);
  }
  return text += json;
}

Result<std::vector<Value>, ValueFormError> read_values(std::string_view json, std::span<const TypeId> types_of,
                                                       const TypeTable& types, SecretForm secrets) {
  const auto read = parse_json(json, own_json_limits);
  if (!read || !read->is_array()) return failure(ValueFormError{"expected a JSON array"});
  const Json::Array& parsed = read->items();
  if (parsed.size() != types_of.size()) {
    return failure(
        ValueFormError{fmt::format("{}, where {} were promised", counted(parsed.size(), "value"), types_of.size())});
  }
  std::vector<Value> values;
  values.reserve(types_of.size());
  for (std::size_t at = 0; at < types_of.size(); ++at) {
    auto value = ValueParser(types, secrets).read(parsed[at], types_of[at]);
    if (!value) return failure(std::move(value.error()));
    values.push_back(std::move(*value));
  }
  return values;
}

Result<Value, ValueFormError> read_value(std::string_view json, TypeId type, const TypeTable& types,
                                         SecretForm secrets) {
  const auto parsed = parse_json(json, own_json_limits);
  if (!parsed) return failure(ValueFormError{"invalid JSON"});
  return convert_value(*parsed, type, types, secrets);
}

Result<Value, ValueFormError> convert_value(const Json& json, TypeId type, const TypeTable& types, SecretForm secrets) {
  return ValueParser(types, secrets).read(json, type);
}

}  // namespace tenon::effects
