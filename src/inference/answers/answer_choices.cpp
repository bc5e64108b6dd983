#include "inference/answers/answer_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/ascii.h"
#include "base/printable.h"
#include "json/text.h"

namespace tenon::inference::answers {
namespace {

std::vector<std::string> options_of(const Json& schema) {
  if (schema.text_or("type", "") == "boolean") return {"yes", "no"};
  std::vector<std::string> options;
  for (const Json& option : schema.get("enum").items_or_none()) {
    options.push_back(option.is_string() ? option.as_string() : option.dump());
  }
  if (const Json& only = schema.get("const"); !only.is_null()) options.push_back(only.dump());
  return options;
}

std::string joined(std::vector<std::string> options) {
  if (options.size() > shown_options_max) {
    options.resize(shown_options_max);
    return fmt::format("{}, …", fmt::join(options, ", "));
  }
  const std::string last = options.back();
  options.pop_back();
  return options.empty() ? last : fmt::format("{} or {}", fmt::join(options, ", "), last);
}

/// Bounds beyond what a double holds exactly are those of the type, and say nothing.
std::string shown_bound(const Json& schema, const char* name) {
  constexpr double exact_max = 9'007'199'254'740'992.0;  // 2^53
  const Json& bound = schema.get(name);
  if (!bound.is_numeric() || std::abs(bound.as_double()) > exact_max) return {};
  return bound.dump();
}

std::string describe_number(const Json& schema, std::string_view what) {
  const std::string low = shown_bound(schema, "minimum");
  const std::string high = shown_bound(schema, "maximum");
  const bool is_of_type = low == "-2147483648" && high == "2147483647";
  if (is_of_type || (low.empty() && high.empty())) return {};
  if (high.empty()) return fmt::format("{} of at least {}", what, low);
  if (low.empty()) return fmt::format("{} of at most {}", what, high);
  return fmt::format("{} from {} to {}", what, low, high);
}

/// The schema of what an Option holds, none where `schema` is that of another type.
const Json* find_optional(const Json& schema) {
  const Json::Array& forms = schema.get("anyOf").items_or_none();
  return forms.size() == 2 && forms.back().text_or("type", "") == "null" ? &forms.front() : nullptr;
}

/// Parts within parts are shown so deep.
constexpr int shown_levels_max = 4;

/// Describes the parts of one schema, which may refer to its definitions.
class ChoicesWriter {
 public:
  explicit ChoicesWriter(const Json& schema) : definitions_(schema.get("$defs")) {}

  /// Empty where it would say nothing.
  [[nodiscard]] std::string describe(const Json& given, int level = 0) const {
    const Json& schema = resolve(given);
    if (level > shown_levels_max) return {};
    if (const Json* const held = find_optional(schema)) {
      const std::string some = describe(*held, level);
      return some.empty() ? std::string() : some + ", or nothing";
    }
    if (auto options = options_of(schema); !options.empty()) return joined(std::move(options));
    if (const Json::Array& forms = schema.get("anyOf").items_or_none(); !forms.empty())
      return joined(describe_all(forms, level));
    const std::string type = schema.text_or("type", "");
    if (type == "integer") return describe_number(schema, "a whole number");
    if (type == "number") return describe_number(schema, "a number");
    if (type == "array") return describe_items(schema, level + 1);
    return type == "object" ? describe_members(schema, level + 1) : std::string();
  }

 private:
  /// The schema that is meant where it is a reference.
  [[nodiscard]] const Json& resolve(const Json& schema) const {
    constexpr std::string_view to_definitions = "#/$defs/";
    const std::string name = schema.text_or("$ref", "");
    return name.starts_with(to_definitions) ? definitions_.get(name.substr(to_definitions.size())) : schema;
  }

  /// Also where `describe` says nothing.
  [[nodiscard]] std::string describe_part(const Json& given, int level) const {
    const Json& schema = resolve(given);
    if (const Json* const held = find_optional(schema)) return describe_part(*held, level) + ", or nothing";
    if (std::string choices = describe(schema, level); !choices.empty()) return choices;
    const std::string type = schema.text_or("type", "");
    if (type == "string") return "text";
    if (type == "integer") return "a whole number";
    if (type == "number") return "a number";
    return type == "array" ? "a list" : "JSON";
  }

  [[nodiscard]] std::vector<std::string> describe_all(const Json::Array& schemas, int level) const {
    std::vector<std::string> texts;
    for (const Json& schema : schemas) texts.push_back(describe_part(schema, level));
    return texts;
  }

  /// `[text, …]`, or `[text, a number]` of a tuple.
  [[nodiscard]] std::string describe_items(const Json& schema, int level) const {
    if (const Json::Array& items = schema.get("prefixItems").items_or_none(); !items.empty())
      return fmt::format("[{}]", fmt::join(describe_all(items, level), ", "));
    const std::string item = describe_part(schema.get("items"), level);
    return item == "JSON" ? std::string() : fmt::format("[{}, …]", item);
  }

  /// `{"city": text, "nights": a whole number from 1 to 30}`, of a struct; `{"…": text}` of a map.
  [[nodiscard]] std::string describe_members(const Json& schema, int level) const {
    const Json& values = schema.get("additionalProperties");
    if (values.is_object()) return fmt::format("{{\"…\": {}}}", describe_part(values, level));
    const Json& properties = schema.get("properties");
    if (!properties.is_object() || properties.members().empty()) return {};
    std::string text = "{";
    std::size_t shown = 0;
    for (const JsonMember& member : properties.members()) {
      if (shown > 0) text += ", ";
      if (shown++ == shown_options_max) return text + "…}";
      text += fmt::format("{}: {}", make_json_string(member.name), describe_part(member.value, level));
    }
    return text + "}";
  }

  const Json& definitions_;
};

}  // namespace

std::string describe_choices(const Json& schema) {
  return ChoicesWriter(schema).describe(schema);
}

std::string question_with_choices(std::string_view question, const Json& schema) {
  const std::string choices = describe_choices(schema);
  const std::vector<std::string> options = options_of(schema);
  const std::string lower = lower_case(question);
  const bool names_them = !options.empty() && std::ranges::all_of(options, [&](const std::string& option) {
    return lower.find(lower_case(option)) != std::string::npos;
  });
  return choices.empty() || names_them ? std::string(question) : fmt::format("{} ({})", question, choices);
}

std::string shown_approval(std::string_view value, std::span<const std::string> sources) {
  return fmt::format("{}, which depends on {}", value,
                     sources.empty() ? "the program" : fmt::format("{}", fmt::join(sources, " and ")));
}

std::string shown_question(const Json& wait) {
  const std::string question = wait.text_or("question", "");
  if (!wait.contains("value")) return show_hidden(question_with_choices(question, wait.get("schema")));
  std::vector<std::string> sources;
  for (const Json& source : wait.get("sources").items_or_none()) sources.push_back(source.as_string());
  return show_hidden(fmt::format("{}\n  {}\n(yes, no, or another value)", question,
                                 shown_approval(wait.get("value").dump(), sources)));
}

}  // namespace tenon::inference::answers
