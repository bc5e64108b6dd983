#include "inference/answers/schema_writer.h"

#include <algorithm>

#include "base/ensure.h"
#include "inference/answers/constraints.h"
#include "inference/answers/named_types.h"
#include "json/json.h"

namespace tenon::inference::answers {
namespace {

using types::TypeId;
using types::TypeKind;
using types::TypeTable;

Json typed(std::string_view type) {
  return Json::object().set("type", type);
}

void describe_with(Json& schema, std::string_view documentation) {
  if (documentation.empty()) return;
  // Beside `$ref`, OpenAI's strict mode allows no other keyword.
  if (schema.find("$ref") != nullptr) {
    schema = Json::object().set("anyOf", Json::array({std::move(schema)}));
  }
  schema.set("description", documentation);
}

/// With these words, if there are any, in place of its own.
Json described(Json schema, std::string_view documentation) {
  if (!documentation.empty() && schema.find("description") != nullptr) schema.erase("description");
  describe_with(schema, documentation);
  return schema;
}

/// Without alternatives, the schema that no value satisfies.
Json one_of(std::vector<Json> alternatives) {
  if (alternatives.empty()) return Json::object().set("not", Json::object());
  if (alternatives.size() == 1) return std::move(alternatives.front());
  return Json::object().set("anyOf", std::move(alternatives));
}

/// Collects properties; all are required, in their order.
class ObjectSchema {
 public:
  void add(std::string_view name, Json schema) {
    properties_.set(name, std::move(schema));
    required_.push_back(name);
  }
  [[nodiscard]] Json take() {
    return typed("object")
        .set("properties", std::move(properties_))
        .set("required", std::move(required_))
        .set("additionalProperties", false);
  }

 private:
  Json properties_ = Json::object();
  Json required_ = Json::array();
};

class SchemaWriter {
 public:
  SchemaWriter(const TypeTable& types, std::span<const TypeId> roots,
               UnlimitedNumbers numbers = UnlimitedNumbers::Bounded)
      : types_(types), names_(types, roots), is_bounded_(numbers == UnlimitedNumbers::Bounded) {}

  [[nodiscard]] Json write(TypeId type) const {
    if (const std::string* name = names_.find_name(type)) {
      return Json::object().set("$ref", "#/$defs/" + *name);
    }
    return write_here(type);
  }

  /// The type itself, even where it has a name.
  [[nodiscard]] Json write_here(TypeId type) const {
    const types::Type& detail = types_.get(type);
    switch (detail.kind) {
      case TypeKind::Unit:
        return typed("null");
      case TypeKind::Boolean:
        return typed("boolean");
      case TypeKind::I32:
      case TypeKind::I64:
      case TypeKind::F64:
      case TypeKind::String:
      case TypeKind::Text:
      case TypeKind::Refined:
        return write_constrained(type);
      case TypeKind::List:
        return typed("array").set("items", write(detail.arguments[0]));
      case TypeKind::Map:
        return typed("object").set("additionalProperties", write(detail.arguments[0]));
      case TypeKind::Option:
        return write_option(detail.arguments[0]);
      case TypeKind::Secret:
        // JSON Schema's word for what is given and never shown again.
        return write(detail.arguments[0]).set("writeOnly", true);
      case TypeKind::Tuple:
        return write_tuple(detail.arguments);
      case TypeKind::Struct:
        return write_struct(types_.struct_type(type));
      case TypeKind::Enum:
        return write_enum(types_.enum_type(type));
      case TypeKind::Union:
        return write_union(types_.union_type(type));
      case TypeKind::Result:
        return one_of({write_case("Ok", write(detail.arguments[0])), write_case("Err", write(TypeTable::failure))});
      case TypeKind::Error:
      case TypeKind::Never:
      case TypeKind::Context:
      case TypeKind::Range:
      case TypeKind::Parameter:
      case TypeKind::Closure:
      case TypeKind::Tools:
        break;
    }
    ENSURE(!"a value of this type has no JSON");
    return {};
  }

  /// The schema of a field or a parameter.
  [[nodiscard]] Json write_member(TypeId type, std::string_view documentation) const {
    return described(write(type), documentation);
  }

  [[nodiscard]] std::string finish(Json root) const {
    if (!names_.order().empty()) {
      Json definitions = Json::object();
      for (const TypeId type : names_.order()) definitions.set(*names_.find_name(type), write_here(type));
      root.set("$defs", std::move(definitions));
    }
    return root.dump(JsonForm::Shortest);  // its text is hashed
  }

 private:
  [[nodiscard]] Json write_option(TypeId some) const {
    // An Option of an Option is the value or null, like a plain one: null is the outer None.
    Json inner = write(some);
    std::vector<Json> alternatives;
    alternatives.push_back(std::move(inner));
    if (types_.kind(some) != TypeKind::Option && types_.kind(some) != TypeKind::Unit)
      alternatives.push_back(typed("null"));
    return one_of(std::move(alternatives));
  }

  [[nodiscard]] Json write_tuple(const std::vector<TypeId>& items) const {
    Json prefix = Json::array();
    for (const TypeId item : items) prefix.push_back(write(item));
    const auto count = static_cast<std::int64_t>(items.size());
    return typed("array")
        .set("prefixItems", std::move(prefix))
        .set("items", false)
        .set("minItems", count)
        .set("maxItems", count);
  }

  [[nodiscard]] Json write_struct(const types::StructType& type) const {
    ObjectSchema object;
    for (const types::Field& field : type.fields) {
      object.add(field.name, write_member(field.type, field.documentation));
    }
    Json schema = object.take();
    describe_with(schema, type.documentation);
    return schema;
  }

  /// A case with its payload.
  [[nodiscard]] static Json write_case(std::string_view name, Json payload) {
    ObjectSchema object;
    object.add(name, std::move(payload));
    return object.take();
  }

  [[nodiscard]] Json write_enum(const types::EnumType& type) const {
    Json plain = Json::array();
    std::vector<Json> others;
    for (const types::Variant& variant : type.variants) {
      if (!variant.payload.empty()) {
        others.push_back(write_case(
            variant.name, variant.payload.size() == 1 ? write(variant.payload[0]) : write_tuple(variant.payload)));
      } else if (!variant.documentation.empty()) {
        others.push_back(typed("string").set("const", variant.name));
      } else {
        plain.push_back(variant.name);
        continue;
      }
      describe_with(others.back(), variant.documentation);
    }
    if (!plain.items().empty()) others.insert(others.begin(), typed("string").set("enum", std::move(plain)));
    Json schema = one_of(std::move(others));
    if (schema.find("description") == nullptr) describe_with(schema, type.documentation);
    return schema;
  }

  [[nodiscard]] static Json write_union(const types::UnionType& type) {
    const bool is_text = std::holds_alternative<std::vector<std::string>>(type.literals);
    const std::string_view kind = is_text ? "string" : "integer";
    Json plain = Json::array();
    std::vector<Json> alternatives;
    const auto add = [&](const auto& literals) {
      for (std::size_t at = 0; at < literals.size(); ++at) {
        if (type.literal_documentation.empty() || type.literal_documentation[at].empty()) {
          plain.push_back(literals[at]);
          continue;
        }
        alternatives.push_back(typed(kind).set("const", literals[at]));
        describe_with(alternatives.back(), type.literal_documentation[at]);
      }
    };
    std::visit(add, type.literals);
    if (!plain.items().empty() || alternatives.empty())
      alternatives.insert(alternatives.begin(), typed(kind).set("enum", std::move(plain)));
    Json schema = one_of(std::move(alternatives));
    if (schema.find("description") == nullptr) describe_with(schema, type.documentation);
    return schema;
  }

  [[nodiscard]] Json write_constrained(TypeId type) const {
    const bool is_refined = types_.kind(type) == TypeKind::Refined;
    return described(write_limits(type), is_refined ? std::string_view(types_.refinement(type).documentation) : "");
  }

  [[nodiscard]] Json write_limits(TypeId type) const {
    const Constraints constraints = find_constraints(types_, type);
    const TypeKind kind = types_.kind(constraints.base);
    if (kind == TypeKind::I32 || kind == TypeKind::I64) return write_integer(constraints);
    if (kind == TypeKind::F64) return write_number(constraints);
    if (kind == TypeKind::String || kind == TypeKind::Text) {
      Json schema = typed("string");
      set_length(schema, constraints, "minLength", "maxLength");
      set_patterns(schema, constraints);
      return schema;
    }
    Json schema = write_here(constraints.base);
    if (kind == TypeKind::List) set_length(schema, constraints, "minItems", "maxItems");
    return schema;
  }

  [[nodiscard]] Json write_integer(const Constraints& constraints) const {
    std::int64_t low = constraints.integer_low;
    std::int64_t high = constraints.integer_high;
    if (!is_bounded_) return typed("integer").set("minimum", low).set("maximum", high);
    if (high >= -schema_number_max) low = std::max(low, -schema_number_max);
    if (low <= schema_number_max) high = std::min(high, schema_number_max);
    return typed("integer").set("minimum", low).set("maximum", high);
  }

  [[nodiscard]] Json write_number(const Constraints& constraints) const {
    if (!is_bounded_) {
      Json schema = typed("number");
      if (constraints.number_low) schema.set("minimum", *constraints.number_low);
      const std::string_view high = constraints.number_high_is_exclusive ? "exclusiveMaximum" : "maximum";
      if (constraints.number_high) schema.set(high, *constraints.number_high);
      return schema;
    }
    constexpr auto largest = static_cast<double>(schema_number_max);
    double low = constraints.number_low.value_or(-largest);
    double high = constraints.number_high.value_or(largest);
    if (high >= -largest) low = std::max(low, -largest);
    if (low <= largest) high = std::min(high, largest);
    const bool is_exclusive = constraints.number_high_is_exclusive && high == constraints.number_high;
    return typed("number").set("minimum", low).set(is_exclusive ? "exclusiveMaximum" : "maximum", Json(high));
  }

  static void set_length(Json& schema, const Constraints& constraints, std::string_view low, std::string_view high) {
    const auto length = [](std::uint64_t value) {
      return Json(static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX)));
    };
    if (constraints.length_low && *constraints.length_low > 0) schema.set(low, length(*constraints.length_low));
    if (constraints.length_high) schema.set(high, length(*constraints.length_high));
  }

  static void set_patterns(Json& schema, const Constraints& constraints) {
    const auto whole = [](const std::string& pattern) { return Json("^(?:" + pattern + ")$"); };
    if (constraints.patterns.empty()) return;
    schema.set("pattern", whole(constraints.patterns.front()));
    if (constraints.patterns.size() == 1) return;
    Json others = Json::array();
    for (std::size_t index = 1; index < constraints.patterns.size(); ++index) {
      others.push_back(typed("string").set("pattern", whole(constraints.patterns[index])));
    }
    schema.set("allOf", std::move(others));
  }

  const TypeTable& types_;
  NamedTypes names_;
  bool is_bounded_;
};

Json write_arguments(const SchemaWriter& writer, const AnswerClause& clause) {
  ObjectSchema object;
  for (const AnswerItem& item : clause.items) object.add(item.key, writer.write_member(item.type, item.documentation));
  return object.take();
}

Json write_clause(const SchemaWriter& writer, const AnswerShape& shape, std::size_t index,
                  std::string_view documentation) {
  const AnswerClause& clause = shape.clauses[index];
  ObjectSchema object;
  object.add("function", typed("string").set("const", clause.function));
  if (has_number(shape, clause)) {
    object.add("choice", typed("integer").set("const", static_cast<std::int64_t>(index)));
  }
  if (has_arguments(shape, clause)) object.add("arguments", write_arguments(writer, clause));
  Json schema = object.take();
  describe_with(schema, documentation);
  return schema;
}

}  // namespace

std::string make_schema(const TypeTable& types, TypeId type, UnlimitedNumbers numbers, std::string_view documentation) {
  const SchemaWriter writer(types, {{type}}, numbers);
  return writer.finish(described(writer.write_here(type), documentation));
}

std::string make_question_schema(const TypeTable& types, TypeId type) {
  return make_schema(types, type, UnlimitedNumbers::All);
}

std::string make_verdict_schema(const TypeTable& types, std::optional<TypeId> value) {
  std::vector<TypeId> roots;
  if (value) roots.push_back(*value);
  const SchemaWriter writer(types, roots, UnlimitedNumbers::All);
  std::vector<Json> alternatives;
  if (value) {
    ObjectSchema object;
    object.add("value", writer.write(*value));
    alternatives.push_back(object.take());
  }
  ObjectSchema retry;
  retry.add("retry", Json::object().set("const", true));
  alternatives.push_back(retry.take());
  ObjectSchema fail;
  fail.add("fail", typed("string"));
  alternatives.push_back(fail.take());
  return writer.finish(one_of(std::move(alternatives)));
}

std::string make_schema(const TypeTable& types, const AnswerShape& shape, const bytecode::Site& site) {
  std::vector<TypeId> roots;
  if (shape.kind == bytecode::SiteKind::Completion) roots.push_back(shape.result);
  for (const AnswerClause& clause : shape.clauses) {
    for (const AnswerItem& item : clause.items) roots.push_back(item.type);
  }
  const SchemaWriter writer(types, roots);
  switch (shape.kind) {
    case bytecode::SiteKind::Completion: {
      if (shape.wrapping == Wrapping::Bare)
        return writer.finish(described(writer.write_here(shape.result), shape.documentation));
      ObjectSchema object;
      object.add("value", writer.write_member(shape.result, shape.documentation));
      return writer.finish(object.take());
    }
    case bytecode::SiteKind::Fill: {
      Json root = write_arguments(writer, shape.clauses.front());
      describe_with(root, site.call.documentation);
      return writer.finish(std::move(root));
    }
    case bytecode::SiteKind::Select: {
      std::vector<Json> alternatives;
      for (std::size_t index = 0; index < shape.clauses.size(); ++index) {
        alternatives.push_back(write_clause(writer, shape, index, site.clauses[index].call.documentation));
      }
      ObjectSchema object;
      object.add("call", one_of(std::move(alternatives)));
      return writer.finish(object.take());
    }
  }
  return {};
}

}  // namespace tenon::inference::answers
