#include "inference/answers/value_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/utf8.h"
#include "inference/answers/messages.h"
#include "inference/answers/outline.h"
#include "json/reader.h"
#include "json/text.h"
#include "types/table/refinements.h"
#include "types/table/type_parts.h"

namespace tenon::inference::answers {

namespace {

using types::TypeId;
using types::TypeKind;
using vm::Value;

/// The size of an outline in a message: longer ones are cut.
constexpr std::size_t outline_bytes_max = 200;
/// Below it each whole double is one integer.
constexpr double exact_double_max = 9007199254740992.0;

std::optional<std::int64_t> as_whole_number(const Json& json) {
  if (json.is_integer()) return json.as_integer();
  if (json.kind() != Json::Kind::Number) return std::nullopt;
  const double number = json.as_double();
  if (std::trunc(number) != number || std::abs(number) > exact_double_max) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

}  // namespace

/// The reading of one value: collects its mismatches.
class ValueReading {
 public:
  ValueReading(const ValueReader& reader, std::string_view path, MessageVersion version)
      : refinements_(reader.refinements_), types_(reader.types()), path_(path), version_(version) {}

  [[nodiscard]] std::vector<Mismatch> take_mismatches() { return std::move(mismatches_); }

  /// The value; meaningless if there are mismatches afterwards.
  Value read(TypeId type, const Json& json) {
    if (mismatches_.size() >= mismatches_max) return {};
    const TypeId base = types_.base(type);
    switch (types_.kind(base)) {
      case TypeKind::I32:
      case TypeKind::I64:
        return read_integer(type, json);
      case TypeKind::F64:
        return read_number(type, json);
      case TypeKind::String:
      case TypeKind::Text:
        return read_text(type, json);
      default:
        return type == base ? read_parts(type, json) : read_refined_parts(type, base, json);
    }
  }

 private:
  /// A value of a type that is neither a number nor a text nor refined.
  Value read_parts(TypeId type, const Json& json) {
    const types::Type& detail = types_.get(type);
    switch (detail.kind) {
      case TypeKind::Unit:
        if (!json.is_null()) expect(type, json);
        return Value::unit();
      case TypeKind::Boolean:
        if (!json.is_boolean()) return expect(type, json);
        return Value::boolean(json.as_boolean());
      case TypeKind::List:
        return read_list(type, json);
      case TypeKind::Map:
        return read_map(type, json);
      case TypeKind::Option:
        if (json.is_null()) return Value::none();
        return Value::some(read(detail.arguments[0], json));
      case TypeKind::Secret:
        return read_secret(detail.arguments[0], json);
      case TypeKind::Tuple:
        return read_tuple(type, detail.arguments, json,
                          [&](std::vector<Value> items) { return Value::record(type, std::move(items)); });
      case TypeKind::Struct:
        return read_struct(type, json);
      case TypeKind::Enum:
        return read_enum(type, json);
      case TypeKind::Union:
        return read_union(type, json);
      case TypeKind::Result:
        return read_result(type, json);
      case TypeKind::I32:
      case TypeKind::I64:
      case TypeKind::F64:
      case TypeKind::String:
      case TypeKind::Text:
      case TypeKind::Refined:
      case TypeKind::Error:
      case TypeKind::Never:
      case TypeKind::Context:
      case TypeKind::Range:
      case TypeKind::Parameter:
      case TypeKind::Closure:
      case TypeKind::Tools:
        break;
    }
    return mismatch(Message::NotRepresentable, types_.describe(type));
  }

  /// Lists have messages of their own for lengths.
  Value read_refined_parts(TypeId type, TypeId base, const Json& json) {
    const std::size_t before = mismatches_.size();
    Value value = read_parts(base, json);
    if (types_.kind(base) == TypeKind::List) {
      if (json.is_array()) check_length(type, json.items().size(), "items");
      return value;
    }
    // Programs of the first version accepted any value of the base type here. Their recorded runs replay as they were.
    if (version_ == MessageVersion::First) return value;
    return mismatches_.size() == before && is_broken(type, value) ? expect(type, json) : value;
  }

  template <class... Arguments>
  Value mismatch(Message message, const Arguments&... arguments) {
    mismatches_.push_back({path_, make_message(version_, message, arguments...)});
    return {};
  }

  /// A mismatch is reported without the text: a mistyped secret is nearly one.
  Value read_secret(TypeId sealed, const Json& json) {
    const std::size_t before = mismatches_.size();
    Value value = read(sealed, json);
    if (mismatches_.size() == before) return value;
    mismatches_.resize(before);
    return mismatch(Message::WrongSecret, outline(sealed));
  }

  Value expect(TypeId type, const Json& json) {
    if (types::holds_secret(types_, type)) return mismatch(Message::WrongSecretPart, outline(type));
    return mismatch(Message::WrongType, shown(json), outline(type));
  }

  [[nodiscard]] std::string shown(const Json& json) const { return describe(json, version_); }

  [[nodiscard]] std::string outline(TypeId type) const {
    const std::string full = make_outline(types_, type, version_);
    const std::string_view shown = cut_utf8(full, outline_bytes_max);
    return std::string(shown) + (shown.size() < full.size() ? "…" : "");
  }

  template <class Read>
  Value at_key(std::string_view key, Read read) {
    const std::size_t length = path_.size();
    if (!path_.empty()) path_ += '.';
    path_ += key;
    Value value = read();
    path_.resize(length);
    return value;
  }

  template <class Read>
  Value at_index(std::size_t index, Read read) {
    const std::size_t length = path_.size();
    path_ += fmt::format("[{}]", index);
    Value value = read();
    path_.resize(length);
    return value;
  }

  Value read_integer(TypeId type, const Json& json) {
    const std::optional<std::int64_t> number = as_whole_number(json);
    const bool is_i32 = types_.kind(types_.base(type)) == TypeKind::I32;
    if (!number || (is_i32 && *number != static_cast<std::int32_t>(*number))) return expect_number(type, json);
    Value value = Value::integer(*number);
    return is_broken(type, value) ? expect(type, json) : value;
  }

  Value read_number(TypeId type, const Json& json) {
    if (!json.is_numeric()) return expect(type, json);
    Value value = Value::floating(json.as_double());
    return is_broken(type, value) ? expect(type, json) : value;
  }

  [[nodiscard]] bool is_broken(TypeId type, const Value& value) const {
    return refinements_.find_broken(type, value).exists();
  }

  /// Reports the machine type's range too if the number is outside of it.
  Value expect_number(TypeId type, const Json& json) {
    const bool is_plain = types_.kind(type) != TypeKind::Refined;
    if (!is_plain || !json.is_numeric() || std::trunc(json.as_double()) != json.as_double()) return expect(type, json);
    const bool is_i64 = types_.kind(type) == TypeKind::I64;
    if (is_i64 && std::abs(json.as_double()) < two_to_63) {
      return mismatch(Message::NotExact, shown(json));
    }
    return mismatch(Message::OutOfRange, shown(json), is_i64 ? "i64" : "i32");
  }

  /// Texts have messages of their own for lengths and patterns.
  Value read_text(TypeId type, const Json& json) {
    if (!json.is_string()) return expect(type, json);
    const std::string& text = json.as_string();
    if (types_.kind(type) == TypeKind::Refined) check_length(type, count_code_points(text), "characters");
    for (TypeId at = type; types_.kind(at) == TypeKind::Refined; at = types_.get(at).arguments[0]) {
      if (!refinements_.matches(at, text)) mismatch(Message::NoMatch, shown(json), *types_.refinement(at).pattern);
    }
    Result<Value, vm::TextError> value = Value::try_string(text);
    if (!value) return mismatch(Message::WrongText);
    return std::move(*value);
  }

  /// `1 item`, `2 items`.
  [[nodiscard]] std::string_view unit_of(std::size_t count, std::string_view plural) const {
    const bool is_one = count == 1 && version_ != MessageVersion::First;
    return plural.substr(0, plural.size() - (is_one ? 1 : 0));
  }

  void check_length(TypeId type, std::size_t length, std::string_view unit) {
    for (TypeId at = type; types_.kind(at) == TypeKind::Refined; at = types_.get(at).arguments[0]) {
      if (types::is_within_length(types_.refinement(at), length)) continue;
      mismatch(Message::WrongLength, length, unit_of(length, unit), outline(type));
      return;
    }
  }

  Value read_list(TypeId type, const Json& json) {
    if (!json.is_array()) return expect(type, json);
    const TypeId element = types_.get(type).arguments[0];
    std::vector<Value> items;
    items.reserve(json.items().size());
    for (std::size_t index = 0; index < json.items().size() && mismatches_.size() < mismatches_max; ++index) {
      items.push_back(at_index(index, [&] { return read(element, json.items()[index]); }));
    }
    return Value::list(std::move(items));
  }

  Value read_map(TypeId type, const Json& json) {
    if (!json.is_object()) return expect(type, json);
    const TypeId value = types_.get(type).arguments[0];
    std::vector<std::pair<Value, Value>> entries;
    entries.reserve(json.members().size());
    for (const JsonMember& member : json.members()) {
      if (mismatches_.size() >= mismatches_max) break;
      entries.emplace_back(Value::string(member.name), at_key(member.name, [&] { return read(value, member.value); }));
    }
    return Value::map(std::move(entries));
  }

  template <class Make>
  Value read_tuple(TypeId type, const std::vector<TypeId>& parts, const Json& json, Make make) {
    if (!json.is_array()) return expect(type, json);
    if (json.items().size() != parts.size()) {
      return mismatch(Message::WrongCount, shown(json), parts.size());
    }
    std::vector<Value> items;
    for (std::size_t index = 0; index < parts.size(); ++index) {
      items.push_back(at_index(index, [&] { return read(parts[index], json.items()[index]); }));
    }
    return make(std::move(items));
  }

  Value read_struct(TypeId type, const Json& json) {
    if (!json.is_object()) return expect(type, json);
    const types::StructType& detail = types_.struct_type(type);
    std::vector<Value> fields;
    fields.reserve(detail.fields.size());
    std::size_t given = 0;
    for (const types::Field& field : detail.fields) {
      const Json* const value = json.find(field.name);
      if (value != nullptr) ++given;
      fields.push_back(at_key(field.name, [&] { return read_field(field.type, value); }));
    }
    if (given < json.members().size()) {
      reject_unknown_keys(json, [&](std::string_view name) {
        return std::ranges::find(detail.fields, name, &types::Field::name) != detail.fields.end();
      });
    }
    return Value::record(type, std::move(fields));
  }

  Value read_field(TypeId type, const Json* json) {
    if (json != nullptr) return read(type, *json);
    if (types_.kind(type) == TypeKind::Option) return Value::none();
    if (mismatches_.size() >= mismatches_max) return {};
    return mismatch(Message::Missing, outline(type));
  }

  template <class IsKnown>
  void reject_unknown_keys(const Json& json, IsKnown is_known) {
    for (const JsonMember& member : json.members()) {
      if (is_known(member.name) || mismatches_.size() >= mismatches_max) continue;
      at_key(cut_utf8(member.name, outline_bytes_max), [&] { return mismatch(Message::UnknownKey); });
    }
  }

  Value read_enum(TypeId type, const Json& json) {
    const std::vector<types::Variant>& variants = types_.enum_type(type).variants;
    const bool is_pair = json.is_object() && json.members().size() == 1;
    if (!json.is_string() && !is_pair) return expect(type, json);
    const std::string& name = is_pair ? json.members().front().name : json.as_string();
    const auto found = std::ranges::find(variants, name, &types::Variant::name);
    if (found == variants.end()) return expect(type, is_pair ? Json(name) : json);
    const auto index = static_cast<std::uint32_t>(found - variants.begin());
    if (found->payload.empty() == is_pair) {
      return mismatch(is_pair ? Message::CaseWithoutValue : Message::CaseWithValue, make_json_string(name),
                      outline(type));
    }
    if (!is_pair) return Value::plain_case(type, index);
    const Json& payload = json.members().front().value;
    return at_key(name, [&]() -> Value {
      if (found->payload.size() == 1) {
        std::vector<Value> items;
        items.push_back(read(found->payload[0], payload));
        return Value::variant(type, index, std::move(items));
      }
      return read_tuple(type, found->payload, payload,
                        [&](std::vector<Value> items) { return Value::variant(type, index, std::move(items)); });
    });
  }

  Value read_result(TypeId type, const Json& json) {
    if (!json.is_object() || json.members().size() != 1) return expect(type, json);
    const JsonMember& given = json.members().front();
    const bool is_ok = given.name == "Ok";
    if (!is_ok && given.name != "Err") return expect(type, Json(given.name));
    const TypeId part = is_ok ? types_.get(type).arguments[0] : types::TypeTable::failure;
    Value value = at_key(given.name, [&] { return read(part, given.value); });
    return is_ok ? Value::ok(std::move(value)) : Value::err(std::move(value));
  }

  Value read_union(TypeId type, const Json& json) {
    const types::UnionType& detail = types_.union_type(type);
    if (types::is_text(types_, type)) {
      const bool is_one = json.is_string() && types::has_literal(detail, json.as_string());
      return is_one ? Value::string(json.as_string()) : expect(type, json);
    }
    const std::optional<std::int64_t> number = as_whole_number(json);
    return number && types::has_literal(detail, *number) ? Value::integer(*number) : expect(type, json);
  }

  const vm::Refinements& refinements_;
  const types::TypeTable& types_;
  std::string path_;
  MessageVersion version_;
  std::vector<Mismatch> mismatches_;
};

std::string describe(const Mismatch& mismatch, std::string_view whole, MessageVersion version) {
  const std::string_view subject = mismatch.path.empty() ? whole : mismatch.path;
  if (subject.empty()) return mismatch.message;
  return fmt::format("{}{} {}", subject, version == MessageVersion::First ? "" : ":", mismatch.message);
}

std::string describe_all(const std::vector<Mismatch>& mismatches, std::string_view whole, MessageVersion version) {
  std::string text;
  for (const Mismatch& mismatch : mismatches) {
    if (!text.empty()) text += "; ";
    text += describe(mismatch, whole, version);
  }
  return text;
}

Result<Value, std::vector<Mismatch>> ValueReader::read(TypeId type, const Json& json, std::string_view path,
                                                       MessageVersion version) const {
  ValueReading reading(*this, path, version);
  Value value = reading.read(type, json);
  std::vector<Mismatch> mismatches = reading.take_mismatches();
  if (!mismatches.empty()) return failure(std::move(mismatches));
  return value;
}

bool ValueReader::is_written_raw(TypeId type) const {
  return types::is_text(types(), types().opened(type));
}

Result<Value, std::vector<Mismatch>> ValueReader::read_argument(TypeId type, std::string_view text) const {
  if (is_written_raw(type)) {
    if (find_invalid_utf8(text) != std::string_view::npos) return failure(std::vector<Mismatch>{{"", "invalid UTF-8"}});
    return read(type, Json(text));
  }
  const Result<Json, JsonError> json = parse_json(text);
  if (!json) {
    // A text with a secret in it is not repeated.
    const bool is_shown = !types::holds_secret(types(), type);
    const std::string why = is_shown ? json.error().message : "strings must be in double quotes";
    return failure(std::vector<Mismatch>{{"", "invalid JSON: " + why}});
  }
  return read(type, *json);
}

}  // namespace tenon::inference::answers
