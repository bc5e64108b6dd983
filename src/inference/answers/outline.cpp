#include "inference/answers/outline.h"

#include <fmt/format.h>

#include <optional>

#include "base/ascii.h"
#include "base/ensure.h"
#include "inference/answers/constraints.h"
#include "inference/answers/named_types.h"
#include "json/json.h"
#include "json/text.h"

namespace tenon::inference::answers {
namespace {

using types::TypeId;
using types::TypeKind;
using types::TypeTable;

constexpr std::size_t indent_step = 2;

/// `from 1 to 5`, `of at least 1`, or nothing.
template <class Number>
std::string describe_range(const std::optional<Number>& low, const std::optional<Number>& high,
                           std::string_view high_word) {
  if (low && high) return fmt::format(" from {} {} {}", *low, high_word == "to" ? "to" : "to below", *high);
  if (low) return fmt::format(" of at least {}", *low);
  if (high) return fmt::format(" {} {}", high_word == "to" ? "of at most" : "below", *high);
  return {};
}

/// `unit`: in the plural, which ends with an s.
std::string describe_count(const Constraints& constraints, std::string_view unit, MessageVersion version) {
  const auto& low = constraints.length_low;
  const auto& high = constraints.length_high;
  const bool has_low = low && *low > 0;
  const auto last = high ? high : low;
  if (version >= MessageVersion::Third && last && *last == 1) unit.remove_suffix(1);
  if (has_low && high && *low == *high) return fmt::format(" of {} {}", *low, unit);
  if (has_low && high) return fmt::format(" of {} to {} {}", *low, *high, unit);
  if (has_low) return fmt::format(" of at least {} {}", *low, unit);
  if (high) return fmt::format(" of at most {} {}", *high, unit);
  return {};
}

class OutlineWriter {
 public:
  OutlineWriter(const TypeTable& types, std::span<const TypeId> roots, MessageVersion version)
      : types_(types), names_(types, roots), version_(version) {}

  [[nodiscard]] std::string write(TypeId type, std::size_t indent) const {
    if (const std::string* name = names_.find_name(type)) return *name;
    return write_here(type, indent);
  }

  [[nodiscard]] std::string write_here(TypeId type, std::size_t indent) const {
    const types::Type& detail = types_.get(type);
    switch (detail.kind) {
      case TypeKind::Unit:
        return "null";
      case TypeKind::Boolean:
        return "true or false";
      case TypeKind::I32:
      case TypeKind::I64:
      case TypeKind::F64:
      case TypeKind::String:
      case TypeKind::Text:
      case TypeKind::Refined:
        return write_constrained(type, indent);
      case TypeKind::List:
        return "[" + write(detail.arguments[0], indent) + ", …]";
      case TypeKind::Map:
        return "{\"(key)\": " + write(detail.arguments[0], indent) + ", …}";
      case TypeKind::Option:
        return write(detail.arguments[0], indent) + " or null";
      case TypeKind::Secret:
        return write(detail.arguments[0], indent);
      case TypeKind::Tuple:
        return write_tuple(detail.arguments, indent);
      case TypeKind::Struct:
        return write_struct(types_.struct_type(type), indent);
      case TypeKind::Enum:
        return write_enum(types_.enum_type(type), indent);
      case TypeKind::Union:
        return write_union(types_.union_type(type));
      case TypeKind::Result:
        return fmt::format("{{\"Ok\": {}}} or {{\"Err\": {}}}", write(detail.arguments[0], indent),
                           write(TypeTable::failure, indent));
      case TypeKind::Error:
      case TypeKind::Never:
      case TypeKind::Context:
      case TypeKind::Range:
      case TypeKind::Parameter:
      case TypeKind::Closure:
      case TypeKind::Tools:
        break;
    }
    // A model is never asked for it. It may be part of what a person or a program was to give.
    return "`" + types_.describe(type) + "`";
  }

  [[nodiscard]] std::string write_items(const std::vector<AnswerItem>& items) const {
    std::vector<types::Field> fields;
    fields.reserve(items.size());
    for (const AnswerItem& item : items) {
      fields.push_back(
          {item.key, item.type, item.documentation.empty() ? words_of_name(item.type) : item.documentation});
    }
    return write_members(fields, "", 0);
  }

  /// The object that has a completion's value. `documentation`: of the name of its type.
  [[nodiscard]] std::string write_value(TypeId type, const std::string& documentation) const {
    return write_members({{"value", type, documentation.empty() ? words_of_name(type) : documentation}}, "", 0);
  }

  /// A completion's value where it is an object itself.
  [[nodiscard]] std::string write_bare(TypeId type, const std::string& documentation) const {
    if (documentation.empty() || types_.kind(type) != TypeKind::Struct) return write_here(type, 0);
    types::StructType described = types_.struct_type(type);
    described.documentation = documentation;
    return write_struct(described, 0);
  }

  /// The named types, a line or more each.
  [[nodiscard]] std::string write_definitions() const {
    std::string text;
    for (const TypeId type : names_.order()) {
      text += fmt::format("\n{} is {}", *names_.find_name(type), write_here(type, 0));
    }
    return text;
  }

 private:
  /// The type inside of Options, lists and refinements, or the first refinement that has a doc comment.
  [[nodiscard]] TypeId described_part(TypeId type) const {
    for (;; type = types_.get(type).arguments[0]) {
      const TypeKind kind = types_.kind(type);
      if (kind == TypeKind::Refined && !types_.refinement(type).documentation.empty()) return type;
      if (kind != TypeKind::Refined && kind != TypeKind::Option && kind != TypeKind::List) return type;
    }
  }

  /// The doc comment of a union's or a refinement's `type` name. Not that of an enum: journals have hashes of requests
  /// whose outlines show it beside the fields of structs only.
  [[nodiscard]] std::string words_of_name(TypeId type) const {
    const TypeId part = described_part(type);
    if (types_.kind(part) == TypeKind::Union) return types_.union_type(part).documentation;
    return types_.kind(part) == TypeKind::Refined ? types_.refinement(part).documentation : "";
  }

  /// The doc comment of a field: its own, or that of its type.
  [[nodiscard]] std::string words_of(const types::Field& field) const {
    if (!field.documentation.empty()) return field.documentation;
    const TypeId part = described_part(field.type);
    return types_.kind(part) == TypeKind::Enum ? types_.enum_type(part).documentation : words_of_name(part);
  }

  [[nodiscard]] std::string write_tuple(const std::vector<TypeId>& items, std::size_t indent) const {
    std::string text;
    for (const TypeId item : items) {
      if (!text.empty()) text += ", ";
      text += write(item, indent);
    }
    return "[" + text + "]";
  }

  [[nodiscard]] std::string write_struct(const types::StructType& type, std::size_t indent) const {
    std::vector<types::Field> fields = type.fields;
    for (types::Field& field : fields) field.documentation = words_of(field);
    return write_members(fields, type.documentation, indent);
  }

  /// An object. Each field has the words that are shown beside it.
  [[nodiscard]] std::string write_members(const std::vector<types::Field>& fields, const std::string& documentation,
                                          std::size_t indent) const {
    bool has_words = !documentation.empty();
    for (const types::Field& field : fields) has_words = has_words || !field.documentation.empty();
    const std::size_t inner = indent + indent_step;
    std::string text = "{";
    if (!documentation.empty()) text += "  // " + flatten(documentation);
    for (std::size_t index = 0; index < fields.size(); ++index) {
      const types::Field& field = fields[index];
      if (has_words) text += "\n" + std::string(inner, ' ');
      text += make_json_string(field.name) + ": " + write(field.type, has_words ? inner : indent);
      if (index + 1 < fields.size()) text += has_words ? "," : ", ";
      if (!field.documentation.empty()) text += "  // " + flatten(field.documentation);
    }
    if (has_words) text += "\n" + std::string(indent, ' ');
    return text + "}";
  }

  [[nodiscard]] std::string write_enum(const types::EnumType& type, std::size_t indent) const {
    std::string text;
    for (const types::Variant& variant : type.variants) {
      if (!text.empty()) text += " or ";
      text += variant.payload.empty()
                  ? make_json_string(variant.name)
                  : "{" + make_json_string(variant.name) + ": " + write_payload(variant, indent) + "}";
      if (!variant.documentation.empty()) text += " (" + flatten(variant.documentation) + ")";
    }
    return text;
  }

  [[nodiscard]] std::string write_payload(const types::Variant& variant, std::size_t indent) const {
    return variant.payload.size() == 1 ? write(variant.payload[0], indent) : write_tuple(variant.payload, indent);
  }

  [[nodiscard]] static std::string write_union(const types::UnionType& type) {
    std::string text;
    std::size_t count = 0;
    const auto add = [&](const std::string& literal) {
      text += (text.empty() ? "" : " or ") + literal;
      if (const std::size_t at = count++;
          !type.literal_documentation.empty() && !type.literal_documentation[at].empty())
        text += " (" + flatten(type.literal_documentation[at]) + ")";
    };
    if (const auto* texts = std::get_if<std::vector<std::string>>(&type.literals)) {
      for (const std::string& literal : *texts) add(make_json_string(literal));
    } else {
      for (const std::int64_t literal : std::get<std::vector<std::int64_t>>(type.literals))
        add(std::to_string(literal));
    }
    return text;
  }

  [[nodiscard]] std::string write_constrained(TypeId type, std::size_t indent) const {
    const Constraints constraints = find_constraints(types_, type);
    const TypeKind kind = types_.kind(constraints.base);
    if (kind == TypeKind::I32 || kind == TypeKind::I64) {
      const bool is_i32 = kind == TypeKind::I32;
      std::optional<std::int64_t> low, high;
      if (constraints.integer_low > (is_i32 ? INT32_MIN : INT64_MIN)) low = constraints.integer_low;
      if (constraints.integer_high < (is_i32 ? INT32_MAX : INT64_MAX)) high = constraints.integer_high;
      return "integer" + describe_range(low, high, "to");
    }
    if (kind == TypeKind::F64) {
      return "number" + describe_range(constraints.number_low, constraints.number_high,
                                       constraints.number_high_is_exclusive ? "below" : "to");
    }
    if (kind == TypeKind::String || kind == TypeKind::Text) {
      std::string text = "string" + describe_count(constraints, "characters", version_);
      for (const std::string& pattern : constraints.patterns) text += " matching /" + pattern + "/";
      return text;
    }
    return write_here(constraints.base, indent) +
           (kind == TypeKind::List ? describe_count(constraints, "items", version_) : "");
  }

  const TypeTable& types_;
  NamedTypes names_;
  MessageVersion version_;
};

}  // namespace

std::string make_outline(const TypeTable& types, TypeId type, MessageVersion version) {
  const OutlineWriter writer(types, {{type}}, version);
  return writer.write_here(type, 0) + writer.write_definitions();
}

std::string make_outline(const TypeTable& types, const AnswerShape& shape, MessageVersion version) {
  std::vector<TypeId> roots;
  if (shape.kind == bytecode::SiteKind::Completion) roots.push_back(shape.result);
  for (const AnswerClause& clause : shape.clauses) {
    for (const AnswerItem& item : clause.items) roots.push_back(item.type);
  }
  const OutlineWriter writer(types, roots, version);
  std::string text;
  switch (shape.kind) {
    case bytecode::SiteKind::Completion:
      text = shape.wrapping == Wrapping::Bare ? writer.write_bare(shape.result, shape.documentation)
                                              : writer.write_value(shape.result, shape.documentation);
      break;
    case bytecode::SiteKind::Fill:
      text = writer.write_items(shape.clauses.front().items);
      break;
    case bytecode::SiteKind::Select:
      for (std::size_t index = 0; index < shape.clauses.size(); ++index) {
        const AnswerClause& clause = shape.clauses[index];
        text += fmt::format("{}{{\"call\": {{\"function\": {}", index == 0 ? "" : "\nor ",
                            make_json_string(clause.function));
        if (has_number(shape, clause)) text += fmt::format(", \"choice\": {}", index);
        if (has_arguments(shape, clause)) text += ", \"arguments\": " + writer.write_items(clause.items);
        text += "}}";
      }
      break;
  }
  return text + writer.write_definitions();
}

std::string flatten(std::string_view text) {
  std::string flat;
  for (const char character : trimmed(text)) {
    const bool is_space = character == ' ' || character == '\n' || character == '\r' || character == '\t';
    if (!is_space) {
      flat += character;
    } else if (flat.back() != ' ') {
      flat += ' ';
    }
  }
  return flat;
}

}  // namespace tenon::inference::answers
