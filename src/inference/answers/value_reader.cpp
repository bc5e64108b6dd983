#include "inference/answers/value_reader.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/utf8.h"
#include "inference/answers/constraints.h"
#include "inference/answers/outline.h"
#include "json/reader.h"
#include "json/text.h"
#include "types/table/type_parts.h"

namespace tenon::inference::answers {

namespace {

using types::TypeId;
using types::TypeKind;
using vm::Value;

/// What a message tells of a type: longer outlines are cut.
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

/// One reading: collects what does not fit.
class ValueReading {
 public:
  ValueReading(const ValueReader& reader, std::string_view path)
      : reader_(reader), types_(reader.types_), path_(path) {}

  [[nodiscard]] std::vector<Mismatch> take_mismatches() { return std::move(mismatches_); }

  /// The value, of no use when there are mismatches afterwards.
  Value read(TypeId type, const Json& json) {
    if (mismatches_.size() >= mismatches_max) return {};
    const types::Type& detail = types_.get(type);
    switch (detail.kind) {
      case TypeKind::Unit:
        if (!json.is_null()) expect(type, json);
        return Value::unit();
      case TypeKind::Boolean:
        if (!json.is_boolean()) return expect(type, json);
        return Value::boolean(json.as_boolean());
      case TypeKind::I32:
      case TypeKind::I64:
      case TypeKind::F64:
      case TypeKind::String:
      case TypeKind::Text:
      case TypeKind::Refined:
        return read_constrained(type, json);
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
      case TypeKind::Error:
      case TypeKind::Never:
      case TypeKind::Result:
      case TypeKind::Context:
      case TypeKind::Range:
      case TypeKind::Parameter:
      case TypeKind::Closure:
      case TypeKind::Tools:
        break;
    }
    return mismatch(fmt::format("cannot be given: a `{}` is nothing that JSON can hold", types_.describe(type)));
  }

 private:
  Value mismatch(std::string message) {
    mismatches_.push_back({path_, std::move(message)});
    return {};
  }

  /// A mismatch is reported without the text: a mistyped secret is nearly one.
  Value read_secret(TypeId sealed, const Json& json) {
    const std::size_t before = mismatches_.size();
    Value value = read(sealed, json);
    if (mismatches_.size() == before) return value;
    mismatches_.resize(before);
    return mismatch(fmt::format("is a secret of another form; {} is asked for", outline(sealed)));
  }

  Value expect(TypeId type, const Json& json) {
    if (types::holds_secret(types_, type)) return mismatch(fmt::format("is none of {}", outline(type)));
    return mismatch(fmt::format("is {}, where {} is asked for", describe(json), outline(type)));
  }

  [[nodiscard]] std::string outline(TypeId type) const {
    const std::string full = make_outline(types_, type);
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

  Value read_constrained(TypeId type, const Json& json) {
    const Constraints constraints = find_constraints(types_, type);
    const TypeKind kind = types_.kind(constraints.base);
    if (kind == TypeKind::I32 || kind == TypeKind::I64) return read_integer(type, constraints, json);
    if (kind == TypeKind::F64) return read_number(type, constraints, json);
    if (kind == TypeKind::String || kind == TypeKind::Text) return read_text(type, constraints, json);
    Value value = read(constraints.base, json);
    if (kind == TypeKind::List && json.is_array()) check_length(type, constraints, json.items().size(), "items");
    return value;
  }

  Value read_integer(TypeId type, const Constraints& constraints, const Json& json) {
    const std::optional<std::int64_t> number = as_whole_number(json);
    if (!number || *number < constraints.integer_low || *number > constraints.integer_high)
      return expect_number(type, json);
    return Value::integer(*number);
  }

  Value read_number(TypeId type, const Constraints& constraints, const Json& json) {
    if (!json.is_numeric()) return expect(type, json);
    const double number = json.as_double();
    const bool is_too_low = constraints.number_low && number < *constraints.number_low;
    const bool is_too_high =
        constraints.number_high &&
        (constraints.number_high_is_exclusive ? number >= *constraints.number_high : number > *constraints.number_high);
    if (is_too_low || is_too_high) return expect(type, json);
    return Value::floating(number);
  }

  /// Reports the machine type's range too if the number is outside of it.
  Value expect_number(TypeId type, const Json& json) {
    const bool is_plain = types_.kind(type) != TypeKind::Refined;
    if (!is_plain || !json.is_numeric() || std::trunc(json.as_double()) != json.as_double()) return expect(type, json);
    const bool is_i64 = types_.kind(type) == TypeKind::I64;
    if (is_i64 && std::abs(json.as_double()) < two_to_63) {
      return mismatch(fmt::format("is {}, too large to be exact; write it without point and exponent", describe(json)));
    }
    return mismatch(fmt::format("is {}, which an {} cannot hold", describe(json), is_i64 ? "i64" : "i32"));
  }

  Value read_text(TypeId type, const Constraints& constraints, const Json& json) {
    if (!json.is_string()) return expect(type, json);
    const std::string& text = json.as_string();
    if (constraints.length_low || constraints.length_high)
      check_length(type, constraints, count_code_points(text), "characters");
    for (const std::string& pattern : constraints.patterns) {
      const re2::RE2* const compiled = reader_.find_pattern(pattern);
      if (compiled == nullptr || !re2::RE2::FullMatch(text, *compiled)) {
        mismatch(fmt::format("is {}, which does not match /{}/ as a whole", describe(json), pattern));
      }
    }
    Result<Value, vm::TextError> value = Value::try_string(text);
    if (!value) return mismatch("is no text: it is not UTF-8, or too long");
    return std::move(*value);
  }

  void check_length(TypeId type, const Constraints& constraints, std::size_t length, std::string_view unit) {
    const bool is_short = constraints.length_low && length < *constraints.length_low;
    const bool is_long = constraints.length_high && length > *constraints.length_high;
    if (is_short || is_long) mismatch(fmt::format("has {} {}, where {} is asked for", length, unit, outline(type)));
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
      return mismatch(fmt::format("is {}, where {} items are asked for", describe(json), parts.size()));
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
      refuse_others(json, [&](std::string_view name) {
        return std::ranges::find(detail.fields, name, &types::Field::name) != detail.fields.end();
      });
    }
    return Value::record(type, std::move(fields));
  }

  Value read_field(TypeId type, const Json* json) {
    if (json != nullptr) return read(type, *json);
    if (types_.kind(type) == TypeKind::Option) return Value::none();
    if (mismatches_.size() >= mismatches_max) return {};
    return mismatch(fmt::format("is missing; {} is asked for", outline(type)));
  }

  template <class IsKnown>
  void refuse_others(const Json& json, IsKnown is_known) {
    for (const JsonMember& member : json.members()) {
      if (is_known(member.name) || mismatches_.size() >= mismatches_max) continue;
      at_key(cut_utf8(member.name, outline_bytes_max), [&] { return mismatch("is a key that is not asked for"); });
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
      return mismatch(fmt::format("{} {}; {} is asked for", is_pair ? "has a value under" : "lacks the value of",
                                  make_json_string(name), outline(type)));
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

  Value read_union(TypeId type, const Json& json) {
    const types::UnionType& detail = types_.union_type(type);
    if (const auto* texts = std::get_if<std::vector<std::string>>(&detail.literals)) {
      const bool is_one = json.is_string() && std::ranges::find(*texts, json.as_string()) != texts->end();
      return is_one ? Value::string(json.as_string()) : expect(type, json);
    }
    const auto& numbers = std::get<std::vector<std::int64_t>>(detail.literals);
    const std::optional<std::int64_t> number = as_whole_number(json);
    if (!number || std::ranges::find(numbers, *number) == numbers.end()) return expect(type, json);
    return Value::integer(*number);
  }

  const ValueReader& reader_;
  const types::TypeTable& types_;
  std::string path_;
  std::vector<Mismatch> mismatches_;
};

std::string describe(const Mismatch& mismatch, std::string_view whole) {
  return fmt::format("{} {}", mismatch.path.empty() ? whole : std::string_view(mismatch.path), mismatch.message);
}

ValueReader::ValueReader(const types::TypeTable& types) : types_(types) {}
ValueReader::~ValueReader() = default;

Result<Value, std::vector<Mismatch>> ValueReader::read(TypeId type, const Json& json, std::string_view path) const {
  ValueReading reading(*this, path);
  Value value = reading.read(type, json);
  std::vector<Mismatch> mismatches = reading.take_mismatches();
  if (!mismatches.empty()) return failure(std::move(mismatches));
  return value;
}

bool ValueReader::is_written_raw(TypeId type) const {
  const TypeId opened = types_.opened(type);
  const TypeKind kind = types_.kind(opened);
  if (kind == TypeKind::String || kind == TypeKind::Text) return true;
  return kind == TypeKind::Union &&
         std::holds_alternative<std::vector<std::string>>(types_.union_type(opened).literals);
}

Result<Value, std::vector<Mismatch>> ValueReader::read_argument(TypeId type, std::string_view text) const {
  if (is_written_raw(type)) {
    if (find_invalid_utf8(text) != std::string_view::npos) return failure(std::vector<Mismatch>{{"", "is not UTF-8"}});
    return read(type, Json(text));
  }
  const Result<Json, JsonError> json = parse_json(text);
  if (!json) {
    // The words of a text with a secret in it are not repeated.
    const bool is_shown = !types::holds_secret(types_, type);
    return failure(std::vector<Mismatch>{
        {"", is_shown ? fmt::format("is no JSON: {}", json.error().message) : "is no JSON; texts stand in quotes"}});
  }
  return read(type, *json);
}

const re2::RE2* ValueReader::find_pattern(const std::string& pattern) const {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<re2::RE2>& compiled = patterns_[pattern];
  if (compiled == nullptr) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    compiled = std::make_unique<re2::RE2>(pattern, options);
  }
  return compiled->ok() ? compiled.get() : nullptr;
}

}  // namespace tenon::inference::answers
