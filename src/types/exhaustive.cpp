#include "types/exhaustive.h"

#include <algorithm>

namespace tenon::types {
namespace {

/// The question is of exponential size in the worst case; past so many steps a match counts as complete.
constexpr std::size_t steps_max = 200'000;
constexpr std::size_t shown_max = 4;

struct Constructor {
  std::string name;
  std::vector<TypeId> parts;
};

using Row = std::vector<const PatternShape*>;

class Coverage {
 public:
  explicit Coverage(const TypeTable& types) : types_(types) {}

  /// The missing values of the first column's type and those behind it, one text per column.
  std::optional<std::vector<std::string>> uncovered(const std::vector<Row>& rows, std::vector<TypeId> columns) {
    if (++steps_ > steps_max) return std::nullopt;
    if (columns.empty()) return rows.empty() ? std::optional(std::vector<std::string>()) : std::nullopt;
    const std::optional<std::vector<Constructor>> all = constructors(columns[0]);
    std::vector<std::string> missing;
    if (all) {
      for (const Constructor& constructor : *all) {
        if (!is_used(rows, constructor.name)) missing.push_back(constructor.name + holes(constructor.parts.size()));
      }
    }
    if (all && missing.empty()) {
      for (const Constructor& constructor : *all) {
        auto rest = uncovered(specialize(rows, constructor), extend(columns, constructor));
        if (!rest) continue;
        const auto parts = static_cast<std::ptrdiff_t>(constructor.parts.size());
        std::string shown = constructor.name;
        if (parts > 0) {
          shown += "(";
          for (std::ptrdiff_t at = 0; at < parts; ++at)
            shown += (at > 0 ? ", " : "") + (*rest)[static_cast<std::size_t>(at)];
          shown += ")";
        }
        rest->erase(rest->begin(), rest->begin() + parts);
        rest->insert(rest->begin(), std::move(shown));
        return rest;
      }
      return std::nullopt;
    }
    std::vector<Row> others;
    for (const Row& row : rows) {
      if (row[0]->is_wildcard) others.emplace_back(row.begin() + 1, row.end());
    }
    auto rest = uncovered(others, {columns.begin() + 1, columns.end()});
    if (!rest) return std::nullopt;
    std::string shown;
    for (std::size_t at = 0; at < missing.size() && at < shown_max; ++at) shown += (at > 0 ? " | " : "") + missing[at];
    if (missing.size() > shown_max) shown += " | …";
    rest->insert(rest->begin(), shown.empty() ? "_" : shown);
    return rest;
  }

  bool useful(const std::vector<Row>& rows, const Row& row, std::vector<TypeId> columns) {
    if (++steps_ > steps_max) return true;
    if (columns.empty()) return rows.empty();
    if (!row[0]->is_wildcard) {
      const Constructor constructor = constructor_of(columns[0], *row[0]);
      return useful(specialize(rows, constructor), specialize({row}, constructor)[0], extend(columns, constructor));
    }
    const std::optional<std::vector<Constructor>> all = constructors(columns[0]);
    const bool complete = all && std::all_of(all->begin(), all->end(), [&](const Constructor& constructor) {
                            return is_used(rows, constructor.name);
                          });
    if (complete) {
      return std::any_of(all->begin(), all->end(), [&](const Constructor& constructor) {
        return useful(specialize(rows, constructor), specialize({row}, constructor)[0], extend(columns, constructor));
      });
    }
    std::vector<Row> others;
    for (const Row& other : rows) {
      if (other[0]->is_wildcard) others.emplace_back(other.begin() + 1, other.end());
    }
    return useful(others, {row.begin() + 1, row.end()}, {columns.begin() + 1, columns.end()});
  }

 private:
  static std::string holes(std::size_t count) {
    if (count == 0) return "";
    std::string text = "(_";
    for (std::size_t at = 1; at < count; ++at) text += ", _";
    return text + ")";
  }

  static bool is_used(const std::vector<Row>& rows, const std::string& name) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Row& row) { return !row[0]->is_wildcard && row[0]->constructor == name; });
  }

  /// All ways to make a value of the type; nothing when they cannot be counted.
  std::optional<std::vector<Constructor>> constructors(TypeId type) const {
    type = types_.base(type);
    const Type& entry = types_.get(type);
    switch (entry.kind) {
      case TypeKind::Boolean:
        return std::vector<Constructor>{{"true", {}}, {"false", {}}};
      case TypeKind::Option:
        return std::vector<Constructor>{{"None", {}}, {"Some", {entry.arguments[0]}}};
      case TypeKind::Result:
        return std::vector<Constructor>{{"Ok", {entry.arguments[0]}}, {"Err", {TypeTable::failure}}};
      case TypeKind::Tuple:
        return std::vector<Constructor>{{"", entry.arguments}};
      case TypeKind::Unit:
        return std::vector<Constructor>{{"", {}}};
      case TypeKind::Struct: {
        Constructor only{types_.struct_type(type).name, {}};
        for (const Field& field : types_.struct_type(type).fields) only.parts.push_back(field.type);
        return std::vector<Constructor>{only};
      }
      case TypeKind::Enum: {
        std::vector<Constructor> all;
        for (const Variant& variant : types_.enum_type(type).variants) {
          all.push_back({types_.enum_type(type).name + "::" + variant.name, variant.payload});
        }
        return all;
      }
      case TypeKind::Union: {
        std::vector<Constructor> all;
        if (const auto* texts = std::get_if<std::vector<std::string>>(&types_.union_type(type).literals)) {
          for (const std::string& text : *texts) all.push_back({"\"" + text + "\"", {}});
        } else {
          for (const std::int64_t number : std::get<std::vector<std::int64_t>>(types_.union_type(type).literals)) {
            all.push_back({std::to_string(number), {}});
          }
        }
        return all;
      }
      default:
        return std::nullopt;
    }
  }

  Constructor constructor_of(TypeId type, const PatternShape& pattern) const {
    if (const auto all = constructors(type)) {
      for (const Constructor& constructor : *all) {
        if (constructor.name == pattern.constructor) return constructor;
      }
    }
    return {pattern.constructor, {}};
  }

  std::vector<Row> specialize(const std::vector<Row>& rows, const Constructor& constructor) const {
    static const PatternShape wildcard;
    std::vector<Row> result;
    for (const Row& row : rows) {
      if (!row[0]->is_wildcard && row[0]->constructor != constructor.name) continue;
      Row special;
      for (std::size_t part = 0; part < constructor.parts.size(); ++part) {
        const bool given = !row[0]->is_wildcard && part < row[0]->parts.size();
        special.push_back(given ? &row[0]->parts[part] : &wildcard);
      }
      special.insert(special.end(), row.begin() + 1, row.end());
      result.push_back(std::move(special));
    }
    return result;
  }

  static std::vector<TypeId> extend(const std::vector<TypeId>& columns, const Constructor& constructor) {
    std::vector<TypeId> extended = constructor.parts;
    extended.insert(extended.end(), columns.begin() + 1, columns.end());
    return extended;
  }

  const TypeTable& types_;
  std::size_t steps_ = 0;
};

std::vector<Row> rows_of(std::span<const PatternShape> patterns) {
  std::vector<Row> rows;
  for (const PatternShape& pattern : patterns) rows.push_back({&pattern});
  return rows;
}

}  // namespace

std::optional<std::string> find_uncovered(const TypeTable& types, TypeId type, std::span<const PatternShape> rows) {
  const auto missing = Coverage(types).uncovered(rows_of(rows), {type});
  if (!missing) return std::nullopt;
  return missing->front();
}

bool is_useful(const TypeTable& types, TypeId type, std::span<const PatternShape> before, const PatternShape& row) {
  return Coverage(types).useful(rows_of(before), {&row}, {type});
}

}  // namespace tenon::types
