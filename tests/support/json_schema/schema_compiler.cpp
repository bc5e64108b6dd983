#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <unordered_set>

#include "json/reader.h"
#include "json/text.h"
#include "tests/support/json_schema/ecma_pattern.h"
#include "tests/support/json_schema/schema_program.h"

namespace tenon::test {
namespace {

constexpr std::string_view dialect = "https://json-schema.org/draft/2020-12/schema";

constexpr std::array<std::string_view, 13> annotations = {
    "$comment", "title",  "description",     "default",       "deprecated",       "readOnly", "writeOnly",
    "examples", "format", "contentEncoding", "contentSchema", "contentMediaType", "$anchor"};

constexpr std::array<std::pair<std::string_view, std::uint8_t>, 7> type_names = {
    {{"null", 1}, {"boolean", 2}, {"integer", 4}, {"number", 4 | 8}, {"string", 16}, {"array", 32}, {"object", 64}}};

std::string escape_pointer(std::string_view name) {
  std::string escaped;
  for (const char character : name) {
    if (character == '~') {
      escaped += "~0";
    } else if (character == '/') {
      escaped += "~1";
    } else {
      escaped += character;
    }
  }
  return escaped;
}

/// `%25` is a percent sign. Nothing if it is not an escape.
std::optional<std::string> decode_percents(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    unsigned byte = 0;
    if (at + 2 >= text.size()) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + at + 1, text.data() + at + 3, byte, 16);
    if (error != std::errc{} || end != text.data() + at + 3) return std::nullopt;
    decoded += static_cast<char>(static_cast<unsigned char>(byte));
    at += 2;
  }
  return decoded;
}

/// Nothing is thrown: after the first error the walk only unwinds.
class SchemaCompiling {
 public:
  Result<std::shared_ptr<const Schema::Program>, SchemaError> compile(const Json& root) {
    add(root, "");
    resolve_references();
    if (!error_) refuse_loops();
    if (error_) return failure(std::move(*error_));
    return program_;
  }

 private:
  struct Reference {
    SchemaIndex from;
    std::string pointer;
    std::string target;
  };

  void stop(SchemaError::Kind kind, std::string pointer, std::string keyword, std::string message) {
    if (!error_) error_ = SchemaError{kind, std::move(pointer), std::move(keyword), std::move(message)};
  }
  void refuse(const std::string& pointer, std::string_view keyword, std::string message) {
    stop(SchemaError::Kind::Unsupported, pointer, std::string(keyword), std::move(message));
  }
  void malformed(const std::string& pointer, std::string_view keyword, std::string_view wanted) {
    stop(SchemaError::Kind::Malformed, pointer, std::string(keyword), fmt::format("`{}` wants {}", keyword, wanted));
  }

  SchemaNode& node(SchemaIndex index) { return program_->nodes[index]; }

  /// Compiles the schema at `pointer` and everything in it. Nodes move while this runs: fields are set by index
  /// afterwards.
  SchemaIndex add(const Json& schema, const std::string& pointer) {
    const auto index = static_cast<SchemaIndex>(program_->nodes.size());
    program_->nodes.emplace_back();
    by_pointer_.emplace(pointer, index);
    if (schema.is_boolean()) {
      node(index).verdict = schema.as_boolean();
    } else if (!schema.is_object()) {
      stop(SchemaError::Kind::Malformed, pointer, "", "a schema is an object, true or false");
    } else {
      for (const JsonMember& member : schema.members()) {
        if (error_) break;
        add_keyword(index, member.name, member.value, pointer);
      }
    }
    return index;
  }

  void add_keyword(SchemaIndex index, const std::string& name, const Json& value, const std::string& pointer) {
    if (add_annotation(name, value, pointer, index)) return;
    if (add_number_keyword(index, name, value, pointer)) return;
    if (add_count_keyword(index, name, value, pointer)) return;
    if (add_subschema_keyword(index, name, value, pointer)) return;
    if (add_other_keyword(index, name, value, pointer)) return;
    if (name.starts_with("x-")) return;
    refuse(pointer, name, fmt::format("the keyword `{}` is not supported", name));
  }

  bool add_annotation(const std::string& name, const Json& value, const std::string& pointer, SchemaIndex index) {
    if (name == "$schema") {
      std::string_view given = value.is_string() ? value.as_string() : std::string_view{};
      if (given.ends_with('#')) given.remove_suffix(1);
      if (given != dialect) refuse(pointer, name, "only the dialect 2020-12 is supported");
      return true;
    }
    if (name == "$id") {
      if (!value.is_string())
        malformed(pointer, name, "a text");
      else if (!pointer.empty())
        refuse(pointer, name, "`$id` below the root is not supported");
      return true;
    }
    if (std::ranges::find(annotations, name) == annotations.end()) return false;
    if (name == "$anchor") {
      if (!value.is_string())
        malformed(pointer, name, "a text");
      else if (!by_anchor_.emplace(value.as_string(), index).second)
        refuse(pointer, name, "an anchor is given twice");
    }
    return true;
  }

  bool add_number_keyword(SchemaIndex index, const std::string& name, const Json& value, const std::string& pointer) {
    static constexpr std::array<std::pair<std::string_view, std::optional<Json> SchemaNode::*>, 5> keywords = {
        {{"minimum", &SchemaNode::minimum},
         {"maximum", &SchemaNode::maximum},
         {"exclusiveMinimum", &SchemaNode::exclusive_minimum},
         {"exclusiveMaximum", &SchemaNode::exclusive_maximum},
         {"multipleOf", &SchemaNode::multiple_of}}};
    const auto found = std::ranges::find(keywords, name, [](const auto& entry) { return entry.first; });
    if (found == keywords.end()) return false;
    if (!value.is_numeric())
      malformed(pointer, name, "a number");
    else if (name == "multipleOf" && value.as_double() <= 0)
      malformed(pointer, name, "a number above 0");
    else
      node(index).*found->second = value;
    return true;
  }

  bool add_count_keyword(SchemaIndex index, const std::string& name, const Json& value, const std::string& pointer) {
    static constexpr std::array<std::pair<std::string_view, std::optional<std::uint64_t> SchemaNode::*>, 8> keywords = {
        {{"minLength", &SchemaNode::length_min},
         {"maxLength", &SchemaNode::length_max},
         {"minItems", &SchemaNode::items_min},
         {"maxItems", &SchemaNode::items_max},
         {"minContains", &SchemaNode::contains_min},
         {"maxContains", &SchemaNode::contains_max},
         {"minProperties", &SchemaNode::properties_min},
         {"maxProperties", &SchemaNode::properties_max}}};
    const auto found = std::ranges::find(keywords, name, [](const auto& entry) { return entry.first; });
    if (found == keywords.end()) return false;
    constexpr double largest = 9007199254740992.0;
    const double number = value.is_numeric() ? value.as_double() : -1.0;
    if (number < 0 || number > largest || std::trunc(number) != number)
      malformed(pointer, name, "a whole number, 0 at least");
    else
      node(index).*found->second = static_cast<std::uint64_t>(number);
    return true;
  }

  bool add_subschema_keyword(SchemaIndex index, const std::string& name, const Json& value,
                             const std::string& pointer) {
    static constexpr std::array<std::pair<std::string_view, SchemaIndex SchemaNode::*>, 8> single = {
        {{"items", &SchemaNode::items},
         {"contains", &SchemaNode::contains},
         {"additionalProperties", &SchemaNode::additional_properties},
         {"propertyNames", &SchemaNode::property_names},
         {"not", &SchemaNode::negated},
         {"if", &SchemaNode::condition},
         {"then", &SchemaNode::consequence},
         {"else", &SchemaNode::alternative}}};
    static constexpr std::array<std::pair<std::string_view, std::vector<SchemaIndex> SchemaNode::*>, 4> several = {
        {{"allOf", &SchemaNode::all_of},
         {"anyOf", &SchemaNode::any_of},
         {"oneOf", &SchemaNode::one_of},
         {"prefixItems", &SchemaNode::prefix_items}}};
    const std::string below = pointer + "/" + escape_pointer(name);
    if (const auto found = std::ranges::find(single, name, [](const auto& entry) { return entry.first; });
        found != single.end()) {
      const SchemaIndex added = add(value, below);
      node(index).*found->second = added;
      return true;
    }
    if (const auto found = std::ranges::find(several, name, [](const auto& entry) { return entry.first; });
        found != several.end()) {
      if (!value.is_array() || value.items().empty()) {
        malformed(pointer, name, "a list of schemas, one at least");
        return true;
      }
      std::vector<SchemaIndex> added;
      for (std::size_t at = 0; at < value.items().size(); ++at)
        added.push_back(add(value.items()[at], fmt::format("{}/{}", below, at)));
      node(index).*found->second = std::move(added);
      return true;
    }
    if (name != "properties" && name != "patternProperties" && name != "dependentSchemas" && name != "$defs" &&
        name != "definitions")
      return false;
    if (!value.is_object()) {
      malformed(pointer, name, "an object of schemas");
      return true;
    }
    for (const JsonMember& member : value.members()) add_named(index, name, member, below);
    return true;
  }

  void add_named(SchemaIndex index, const std::string& keyword, const JsonMember& member, const std::string& below) {
    const SchemaIndex added = add(member.value, below + "/" + escape_pointer(member.name));
    if (keyword == "properties") {
      node(index).properties.emplace_back(member.name, added);
      node(index).property_index.emplace(member.name, added);
    } else if (keyword == "patternProperties") {
      if (auto pattern = compile_pattern(member.name, below))
        node(index).pattern_properties.emplace_back(std::move(pattern), added);
    } else if (keyword == "dependentSchemas") {
      node(index).dependent_schemas.emplace_back(member.name, added);
    }
  }

  bool add_other_keyword(SchemaIndex index, const std::string& name, const Json& value, const std::string& pointer) {
    if (name == "type") {
      add_types(index, value, pointer);
    } else if (name == "const") {
      node(index).constant = value;
    } else if (name == "enum") {
      if (value.is_array())
        node(index).enumeration = value.items();
      else
        malformed(pointer, name, "a list");
    } else if (name == "pattern") {
      if (!value.is_string())
        malformed(pointer, name, "a text");
      else if (auto pattern = compile_pattern(value.as_string(), pointer)) {
        node(index).pattern = std::move(pattern);
        node(index).pattern_text = value.as_string();
      }
    } else if (name == "uniqueItems") {
      if (value.is_boolean())
        node(index).items_are_unique = value.as_boolean();
      else
        malformed(pointer, name, "true or false");
    } else if (name == "required") {
      node(index).required = read_names(value, pointer, name);
    } else if (name == "dependentRequired") {
      if (!value.is_object())
        malformed(pointer, name, "an object of lists");
      else
        for (const JsonMember& member : value.members()) {
          node(index).dependent_required.emplace_back(member.name, read_names(member.value, pointer, name));
        }
    } else if (name == "$ref") {
      if (value.is_string())
        references_.push_back({index, pointer, value.as_string()});
      else
        malformed(pointer, name, "a text");
    } else {
      return false;
    }
    return true;
  }

  void add_types(SchemaIndex index, const Json& value, const std::string& pointer) {
    const auto add_type = [&](const Json& type) {
      const auto found = type.is_string() ? std::ranges::find(type_names, type.as_string(),
                                                              [](const auto& entry) { return entry.first; })
                                          : type_names.end();
      if (found == type_names.end())
        return malformed(pointer, "type", "one or more of null, boolean, integer, number, string, array, object");
      node(index).types = static_cast<std::uint8_t>(node(index).types | found->second);
    };
    if (!value.is_array()) return add_type(value);
    if (value.items().empty()) malformed(pointer, "type", "one type at least");
    for (const Json& type : value.items()) add_type(type);
  }

  std::vector<std::string> read_names(const Json& value, const std::string& pointer, std::string_view keyword) {
    std::vector<std::string> names;
    if (!value.is_array()) {
      malformed(pointer, keyword, "a list of texts");
      return names;
    }
    for (const Json& name : value.items()) {
      if (name.is_string())
        names.push_back(name.as_string());
      else
        malformed(pointer, keyword, "a list of texts");
    }
    return names;
  }

  std::shared_ptr<const re2::RE2> compile_pattern(const std::string& pattern, const std::string& pointer) {
    const Result<std::string, std::string> translated = translate_ecma_pattern(pattern);
    if (!translated) {
      refuse(pointer, "pattern", fmt::format("the pattern {}: {}", make_json_string(pattern), translated.error()));
      return nullptr;
    }
    re2::RE2::Options options;
    options.set_log_errors(false);
    auto compiled = std::make_shared<const re2::RE2>(*translated, options);
    if (compiled->ok()) return compiled;
    refuse(pointer, "pattern", fmt::format("the pattern {}: {}", make_json_string(pattern), compiled->error()));
    return nullptr;
  }

  void resolve_references() {
    for (const Reference& reference : references_) {
      if (error_) return;
      const std::optional<std::string> fragment = reference.target.starts_with('#')
                                                      ? decode_percents(std::string_view(reference.target).substr(1))
                                                      : std::nullopt;
      if (!fragment) {
        refuse(reference.pointer, "$ref",
               fmt::format("the reference {} leaves the schema, which is not supported",
                           make_json_string(reference.target)));
        return;
      }
      const bool is_pointer = fragment->empty() || fragment->starts_with('/');
      const auto& table = is_pointer ? by_pointer_ : by_anchor_;
      const auto found = table.find(*fragment);
      if (found == table.end()) {
        refuse(reference.pointer, "$ref",
               fmt::format("the reference {} leads to no schema", make_json_string(reference.target)));
        return;
      }
      node(reference.from).reference = found->second;
    }
  }

  /// The subschemas that are applied to the same instance as the node itself.
  [[nodiscard]] static std::vector<SchemaIndex> list_in_place(const SchemaNode& node) {
    std::vector<SchemaIndex> next;
    for (const auto* list : {&node.all_of, &node.any_of, &node.one_of})
      next.insert(next.end(), list->begin(), list->end());
    for (const auto& [name, schema] : node.dependent_schemas) next.push_back(schema);
    for (const SchemaIndex schema :
         {node.negated, node.condition, node.consequence, node.alternative, node.reference}) {
      if (schema != no_schema) next.push_back(schema);
    }
    return next;
  }

  /// A schema that is applied to an instance again while it is applied to it would never end.
  void refuse_loops() {
    enum class Mark : std::uint8_t { New, Open, Done };
    std::vector<Mark> marks(program_->nodes.size(), Mark::New);
    struct Visit {
      SchemaIndex index;
      std::vector<SchemaIndex> next;
    };
    for (SchemaIndex root = 0; root < marks.size(); ++root) {
      if (marks[root] != Mark::New) continue;
      std::vector<Visit> open;
      const auto enter = [&](SchemaIndex index) {
        marks[index] = Mark::Open;
        open.push_back({index, list_in_place(program_->nodes[index])});
      };
      enter(root);
      while (!open.empty()) {
        if (open.back().next.empty()) {
          marks[open.back().index] = Mark::Done;
          open.pop_back();
          continue;
        }
        const SchemaIndex next = open.back().next.back();
        open.back().next.pop_back();
        if (marks[next] == Mark::Open)
          return refuse("", "$ref", "a reference leads back to itself without looking into the instance");
        if (marks[next] == Mark::New) enter(next);
      }
    }
  }

  std::shared_ptr<Schema::Program> program_ = std::make_shared<Schema::Program>();
  std::unordered_map<std::string, SchemaIndex> by_pointer_, by_anchor_;
  std::vector<Reference> references_;
  std::optional<SchemaError> error_;
};

}  // namespace

Result<Schema, SchemaError> Schema::compile(std::string_view text) {
  const Result<Json, JsonError> json = parse_json(text);
  if (!json) return failure(SchemaError{SchemaError::Kind::NotJson, "", "", json.error().message});
  return compile(*json);
}

Result<Schema, SchemaError> Schema::compile(const Json& schema) {
  Result<std::shared_ptr<const Program>, SchemaError> program = SchemaCompiling().compile(schema);
  if (!program) return failure(std::move(program.error()));
  return Schema(std::move(*program));
}

}  // namespace tenon::test
