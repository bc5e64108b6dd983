#include "tests/support/json_schema/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

#include "base/utf8.h"
#include "tests/support/json_schema/decimal.h"
#include "tests/support/json_schema/schema_program.h"

namespace tenon::test {
namespace {

using Mismatches = std::vector<Mismatch>;

std::uint8_t types_of(const Json& instance) {
  const auto bit = [](InstanceType type) { return static_cast<std::uint8_t>(type); };
  switch (instance.kind()) {
    case Json::Kind::Null:
      return bit(InstanceType::Null);
    case Json::Kind::Boolean:
      return bit(InstanceType::Boolean);
    case Json::Kind::Integer:
    case Json::Kind::Unsigned:
      return bit(InstanceType::Integer);
    case Json::Kind::Number:
      return bit(std::trunc(instance.as_double()) == instance.as_double() ? InstanceType::Integer
                                                                          : InstanceType::Number);
    case Json::Kind::String:
      return bit(InstanceType::String);
    case Json::Kind::Array:
      return bit(InstanceType::Array);
    case Json::Kind::Object:
      return bit(InstanceType::Object);
  }
  return 0;
}

std::string name_types(std::uint8_t types) {
  std::string names;
  const auto add = [&](InstanceType type, std::string_view name) {
    if ((types & static_cast<std::uint8_t>(type)) != 0) names += fmt::format("{}{}", names.empty() ? "" : " or ", name);
  };
  add(InstanceType::Null, "null");
  add(InstanceType::Boolean, "true or false");
  add(InstanceType::Number, "a number");
  if ((types & static_cast<std::uint8_t>(InstanceType::Number)) == 0) add(InstanceType::Integer, "an integer");
  add(InstanceType::String, "a text");
  add(InstanceType::Array, "a list");
  add(InstanceType::Object, "an object");
  return names;
}

/// Equal values have equal hashes: numbers by their value, objects without regard to order.
std::size_t hash_of(const Json& json) {
  switch (json.kind()) {
    case Json::Kind::Null:
      return 1;
    case Json::Kind::Boolean:
      return json.as_boolean() ? 2 : 3;
    case Json::Kind::Integer:
    case Json::Kind::Unsigned:
    case Json::Kind::Number:
      return std::hash<double>{}(json.as_double() + 0.0);
    case Json::Kind::String:
      return std::hash<std::string>{}(json.as_string());
    case Json::Kind::Array: {
      std::size_t hash = 5;
      for (const Json& item : json.items()) hash = hash * 1099511628211ULL + hash_of(item);
      return hash;
    }
    case Json::Kind::Object: {
      std::size_t hash = 7;
      for (const JsonMember& member : json.members())
        hash += (std::hash<std::string>{}(member.name) * 31U) ^ hash_of(member.value);
      return hash;
    }
  }
  return 0;
}

class Validation {
 public:
  explicit Validation(const std::vector<SchemaNode>& nodes) : nodes_(nodes) {}

  /// Whether the instance satisfies the schema. `out` gets what does not fit; without it the first is enough.
  bool check(SchemaIndex index, const Json& instance, Mismatches* out) {
    if (++steps_ > Schema::steps_max || depth_ >= Schema::depth_max) {
      is_given_up_ = true;
      return false;
    }
    ++depth_;
    const SchemaNode& node = nodes_[index];
    const bool is_fine = node.verdict ? check_verdict(*node.verdict, out) : check_node(node, instance, out);
    --depth_;
    return is_fine && !is_given_up_;
  }

  [[nodiscard]] bool is_given_up() const { return is_given_up_; }

 private:
  bool fail(Mismatches* out, std::string message) {
    if (out != nullptr && out->size() < mismatches_max) out->push_back({path_, std::move(message)});
    return false;
  }

  bool check_verdict(bool verdict, Mismatches* out) { return verdict || fail(out, "may not stand here"); }

  bool check_node(const SchemaNode& node, const Json& instance, Mismatches* out) {
    // Each step continues after a mismatch only if all mismatches are collected.
    bool is_fine = check_value(node, instance, out);
    const auto then = [&](auto check_part) {
      if (is_fine || (out != nullptr && !is_given_up_)) is_fine = check_part() && is_fine;
    };
    switch (instance.kind()) {
      case Json::Kind::Null:
      case Json::Kind::Boolean:
        break;
      case Json::Kind::Integer:
      case Json::Kind::Unsigned:
      case Json::Kind::Number:
        then([&] { return check_number(node, instance, out); });
        break;
      case Json::Kind::String:
        then([&] { return check_text(node, instance.as_string(), out); });
        break;
      case Json::Kind::Array:
        then([&] { return check_array(node, instance.items(), out); });
        break;
      case Json::Kind::Object:
        then([&] { return check_object(node, instance, out); });
        break;
    }
    if (node.reference != no_schema) then([&] { return check(node.reference, instance, out); });
    for (const SchemaIndex schema : node.all_of) then([&] { return check(schema, instance, out); });
    if (!node.any_of.empty()) then([&] { return check_any_of(node.any_of, instance, out); });
    if (!node.one_of.empty()) then([&] { return check_one_of(node.one_of, instance, out); });
    if (node.negated != no_schema)
      then([&] { return !check(node.negated, instance, nullptr) || fail(out, "is what may not stand here"); });
    if (node.condition != no_schema) {
      then([&] {
        const SchemaIndex branch = check(node.condition, instance, nullptr) ? node.consequence : node.alternative;
        return branch == no_schema || check(branch, instance, out);
      });
    }
    return is_fine;
  }

  bool check_value(const SchemaNode& node, const Json& instance, Mismatches* out) {
    if (node.types != 0 && (node.types & types_of(instance)) == 0) {
      return fail(out, fmt::format("expected {}, found {}", name_types(node.types), describe(instance)));
    }
    if (node.constant && *node.constant != instance) {
      return fail(out, fmt::format("expected {}, found {}", describe(*node.constant), describe(instance)));
    }
    if (node.enumeration &&
        std::ranges::none_of(*node.enumeration, [&](const Json& each) { return each == instance; })) {
      return fail(out, fmt::format("is {}, which is none of the {} that are allowed", describe(instance),
                                   node.enumeration->size()));
    }
    return true;
  }

  bool check_number(const SchemaNode& node, const Json& number, Mismatches* out) {
    const auto fits = [&](const std::optional<Json>& bound, auto is_within, std::string_view words) {
      return !bound || is_within(compare_numbers(number, *bound)) ||
             fail(out, fmt::format("expected a number {} {}, found {}", words, bound->dump(), describe(number)));
    };
    bool is_fine = fits(
        node.minimum, [](int order) { return order >= 0; }, "of at least");
    is_fine = fits(
                  node.maximum, [](int order) { return order <= 0; }, "of at most") &&
              is_fine;
    is_fine = fits(
                  node.exclusive_minimum, [](int order) { return order > 0; }, "above") &&
              is_fine;
    is_fine = fits(
                  node.exclusive_maximum, [](int order) { return order < 0; }, "below") &&
              is_fine;
    if (node.multiple_of && !is_multiple(number, *node.multiple_of)) {
      is_fine =
          fail(out, fmt::format("expected a multiple of {}, found {}", node.multiple_of->dump(), describe(number)));
    }
    return is_fine;
  }

  bool check_count(std::size_t count, const std::optional<std::uint64_t>& low, const std::optional<std::uint64_t>& high,
                   std::string_view unit, Mismatches* out) {
    if (low && count < *low) return fail(out, fmt::format("has {} {}, expected at least {}", count, unit, *low));
    if (high && count > *high) return fail(out, fmt::format("has {} {}, expected at most {}", count, unit, *high));
    return true;
  }

  bool check_text(const SchemaNode& node, const std::string& text, Mismatches* out) {
    bool is_fine = true;
    if (node.length_min || node.length_max) {
      is_fine = check_count(count_code_points(text), node.length_min, node.length_max, "characters", out);
    }
    if (node.pattern != nullptr && !re2::RE2::PartialMatch(text, *node.pattern)) {
      is_fine = fail(out, fmt::format("is {}, which does not match /{}/", describe(Json(text)), node.pattern_text));
    }
    return is_fine;
  }

  template <class Check>
  bool at_index(std::size_t index, Check check_item) {
    const std::size_t length = path_.size();
    path_ += fmt::format("[{}]", index);
    const bool is_fine = check_item();
    path_.resize(length);
    return is_fine;
  }

  template <class Check>
  bool at_key(std::string_view key, Check check_member) {
    const std::size_t length = path_.size();
    if (!path_.empty()) path_ += '.';
    path_ += key;
    const bool is_fine = check_member();
    path_.resize(length);
    return is_fine;
  }

  bool check_array(const SchemaNode& node, const Json::Array& items, Mismatches* out) {
    bool is_fine = check_count(items.size(), node.items_min, node.items_max, "items", out);
    for (std::size_t index = 0; index < items.size() && (is_fine || out != nullptr) && !is_given_up_; ++index) {
      const SchemaIndex schema = index < node.prefix_items.size() ? node.prefix_items[index] : node.items;
      if (schema == no_schema) break;
      is_fine = at_index(index, [&] { return check(schema, items[index], out); }) && is_fine;
    }
    if (node.contains != no_schema) is_fine = check_contains(node, items, out) && is_fine;
    if (node.items_are_unique) is_fine = check_unique(items, out) && is_fine;
    return is_fine;
  }

  bool check_contains(const SchemaNode& node, const Json::Array& items, Mismatches* out) {
    std::size_t count = 0;
    for (const Json& item : items) count += check(node.contains, item, nullptr) ? 1U : 0U;
    return check_count(count, node.contains_min.value_or(1), node.contains_max,
                       "items of the kind that it must contain", out);
  }

  bool check_unique(const Json::Array& items, Mismatches* out) {
    std::unordered_multimap<std::size_t, std::size_t> seen;
    for (std::size_t index = 0; index < items.size(); ++index) {
      const std::size_t hash = hash_of(items[index]);
      const auto [begin, end] = seen.equal_range(hash);
      for (auto other = begin; other != end; ++other) {
        if (++steps_ > Schema::steps_max) {
          is_given_up_ = true;
          return false;
        }
        if (items[index] == items[other->second]) {
          return fail(out, fmt::format("has equal items, {} and {}, where all must differ", other->second, index));
        }
      }
      seen.emplace(hash, index);
    }
    return true;
  }

  bool check_object(const SchemaNode& node, const Json& object, Mismatches* out) {
    const Json::Object& members = object.members();
    bool is_fine = check_count(members.size(), node.properties_min, node.properties_max, "keys", out);
    const bool looks_into = !node.properties.empty() || !node.pattern_properties.empty() ||
                            node.additional_properties != no_schema || node.property_names != no_schema;
    for (std::size_t at = 0; looks_into && at < members.size() && (is_fine || out != nullptr) && !is_given_up_; ++at) {
      is_fine = at_key(members[at].name, [&] { return check_member(node, members[at], out); }) && is_fine;
    }
    const auto check_present = [&](const std::string& name) {
      return object.find(name) != nullptr || at_key(name, [&] { return fail(out, "is missing"); });
    };
    for (const std::string& name : node.required) is_fine = check_present(name) && is_fine;
    for (const auto& [trigger, names] : node.dependent_required) {
      if (object.find(trigger) == nullptr) continue;
      for (const std::string& name : names) is_fine = check_present(name) && is_fine;
    }
    for (const auto& [trigger, schema] : node.dependent_schemas) {
      if (object.find(trigger) != nullptr) is_fine = check(schema, object, out) && is_fine;
    }
    return is_fine;
  }

  bool check_member(const SchemaNode& node, const JsonMember& member, Mismatches* out) {
    bool is_fine = true;
    bool is_known = false;
    if (const auto found = node.property_index.find(member.name); found != node.property_index.end()) {
      is_known = true;
      is_fine = check(found->second, member.value, out);
    }
    for (const auto& [pattern, schema] : node.pattern_properties) {
      ++steps_;
      if (!re2::RE2::PartialMatch(member.name, *pattern)) continue;
      is_known = true;
      is_fine = check(schema, member.value, out) && is_fine;
    }
    if (!is_known && node.additional_properties != no_schema) {
      const std::optional<bool>& verdict = nodes_[node.additional_properties].verdict;
      const bool is_allowed =
          verdict == false ? fail(out, "is an unknown key") : check(node.additional_properties, member.value, out);
      is_fine = is_allowed && is_fine;
    }
    if (node.property_names != no_schema) is_fine = check(node.property_names, Json(member.name), out) && is_fine;
    return is_fine;
  }

  bool check_any_of(const std::vector<SchemaIndex>& schemas, const Json& instance, Mismatches* out) {
    if (out == nullptr)
      return std::ranges::any_of(schemas, [&](SchemaIndex schema) { return check(schema, instance, nullptr); });
    // The alternative that came furthest into the instance tells best what is wrong.
    Mismatches best;
    std::size_t best_length = 0;
    bool is_tie = false;
    for (const SchemaIndex schema : schemas) {
      Mismatches found;
      if (check(schema, instance, &found)) return true;
      const std::size_t length = found.empty() ? 0 : found.front().path.size();
      is_tie = !best.empty() && length == best_length;
      if (best.empty() || length > best_length) {
        best = std::move(found);
        best_length = length;
      }
    }
    if (is_tie && best_length == path_.size())
      return fail(out, fmt::format("is {}, which fits none of {} alternatives", describe(instance), schemas.size()));
    for (Mismatch& mismatch : best) {
      if (out->size() < mismatches_max) out->push_back(std::move(mismatch));
    }
    return false;
  }

  bool check_one_of(const std::vector<SchemaIndex>& schemas, const Json& instance, Mismatches* out) {
    const auto count =
        std::ranges::count_if(schemas, [&](SchemaIndex schema) { return check(schema, instance, nullptr); });
    if (count == 1) return true;
    return fail(out, fmt::format("is {}, which fits {} of {} alternatives instead of one", describe(instance), count,
                                 schemas.size()));
  }

  const std::vector<SchemaNode>& nodes_;
  std::string path_;
  std::size_t steps_ = 0;
  std::size_t depth_ = 0;
  bool is_given_up_ = false;
};

}  // namespace

Result<void, std::vector<Mismatch>> Schema::validate(const Json& instance) const {
  Validation validation(program_->nodes);
  Mismatches mismatches;
  const bool is_fine = validation.check(0, instance, &mismatches);
  if (validation.is_given_up())
    mismatches = {
        {"", fmt::format("takes more than {} steps to check, or nests deeper than {}", steps_max, depth_max)}};
  if (is_fine) return {};
  return failure(std::move(mismatches));
}

}  // namespace tenon::test
