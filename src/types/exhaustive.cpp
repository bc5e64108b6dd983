#include "types/exhaustive.h"

#include <algorithm>
#include <utility>

namespace tenon::types {
namespace {

/// The question is of exponential size in the worst case; past so many steps a match counts as complete.
constexpr std::size_t steps_max = 200'000;
constexpr std::size_t shown_max = 4;

struct Constructor {
  std::string name;
  std::vector<TypeId> parts;
  std::optional<Interval> numbers = std::nullopt;  ///< of which all rows have all or none
};

using Row = std::vector<const PatternShape*>;

bool contains(const Interval& outer, const Interval& inner) {
  return outer.low <= inner.low && inner.high <= outer.high;
}

/// As a pattern; `all` are those that the type has.
std::string shown_interval(const Interval& interval, const Interval& all) {
  if (interval == all) return "_";
  if (interval.low == interval.high) return std::to_string(interval.low);
  const std::string low = interval.low == all.low ? "" : std::to_string(interval.low);
  const std::string high = interval.high == all.high ? "" : "=" + std::to_string(interval.high);
  return low + ".." + high;
}

/// Whether a value that the constructor makes fits the pattern, which is no wildcard.
bool is_made_by(const PatternShape& pattern, const Constructor& constructor) {
  if (constructor.numbers) return pattern.numbers && contains(*pattern.numbers, *constructor.numbers);
  return pattern.constructor == constructor.name;
}

class Coverage {
 public:
  explicit Coverage(const TypeTable& types) : types_(types) {}

  /// The missing values of the first column's type and those behind it, one text per column.
  std::optional<std::vector<std::string>> uncovered(const std::vector<Row>& rows, std::vector<TypeId> columns) {
    if (++steps_ > steps_max) return std::nullopt;
    if (columns.empty()) return rows.empty() ? std::optional(std::vector<std::string>()) : std::nullopt;
    const std::optional<std::vector<Constructor>> all = constructors(columns[0], rows);
    const std::vector<std::string> missing = all ? list_missing(columns[0], *all, rows) : std::vector<std::string>();
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
    if (!row[0]->is_wildcard && !row[0]->numbers) {
      const Constructor constructor = constructor_of(columns[0], *row[0]);
      return useful(specialize(rows, constructor), specialize({row}, constructor)[0], extend(columns, constructor));
    }
    if (row[0]->numbers) {
      // Only where other rows cut its numbers.
      const Interval all = numbers_of(columns[0]);
      const Interval own{std::max(all.low, row[0]->numbers->low), std::min(all.high, row[0]->numbers->high)};
      if (own.low > own.high) return false;
      const std::vector<Constructor> cut = cut_numbers(own, rows);
      return std::any_of(cut.begin(), cut.end(), [&](const Constructor& constructor) {
        const std::vector<Row> special = specialize({row}, constructor);
        return !special.empty() && useful(specialize(rows, constructor), special[0], extend(columns, constructor));
      });
    }
    const std::optional<std::vector<Constructor>> all = constructors(columns[0], rows);
    const bool complete = all && std::all_of(all->begin(), all->end(), [&](const Constructor& constructor) {
                            return is_used(rows, constructor);
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

  static bool is_used(const std::vector<Row>& rows, const Constructor& constructor) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Row& row) { return !row[0]->is_wildcard && is_made_by(*row[0], constructor); });
  }

  /// Of all constructors those that no row has, as patterns. Numbers that follow one another are one.
  std::vector<std::string> list_missing(TypeId type, const std::vector<Constructor>& all,
                                        const std::vector<Row>& rows) const {
    std::vector<std::string> missing;
    std::vector<Interval> numbers;
    for (const Constructor& constructor : all) {
      if (is_used(rows, constructor)) continue;
      if (!constructor.numbers) {
        missing.push_back(constructor.name + holes(constructor.parts.size()));
      } else if (!numbers.empty() && numbers.back().high == constructor.numbers->low - 1) {
        numbers.back().high = constructor.numbers->high;
      } else {
        numbers.push_back(*constructor.numbers);
      }
    }
    for (const Interval& interval : numbers) missing.push_back(shown_interval(interval, numbers_of(type)));
    return missing;
  }

  /// The numbers that a whole number of the type can be.
  [[nodiscard]] Interval numbers_of(TypeId type) const {
    Interval numbers;
    if (types_.kind(types_.base(type)) == TypeKind::I32) numbers = {INT32_MIN, INT32_MAX};
    while (types_.kind(type) == TypeKind::Refined) {
      const Refinement& refinement = types_.refinement(type);
      if (const auto* low = std::get_if<std::int64_t>(&refinement.low)) numbers.low = std::max(numbers.low, *low);
      if (const auto* high = std::get_if<std::int64_t>(&refinement.high)) numbers.high = std::min(numbers.high, *high);
      type = types_.get(type).arguments[0];
    }
    return numbers;
  }

  /// These numbers, cut wherever those of a row begin or end.
  [[nodiscard]] static std::vector<Constructor> cut_numbers(const Interval& all, const std::vector<Row>& rows) {
    std::vector<std::int64_t> starts = {all.low};
    for (const Row& row : rows) {
      if (row[0]->is_wildcard || !row[0]->numbers) continue;
      const Interval& numbers = *row[0]->numbers;
      if (numbers.low > all.low && numbers.low <= all.high) starts.push_back(numbers.low);
      if (numbers.high >= all.low && numbers.high < all.high) starts.push_back(numbers.high + 1);
    }
    std::sort(starts.begin(), starts.end());
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    std::vector<Constructor> cut;
    for (std::size_t at = 0; at < starts.size(); ++at) {
      const Interval part{starts[at], at + 1 < starts.size() ? starts[at + 1] - 1 : all.high};
      cut.push_back({shown_interval(part, all), {}, part});
    }
    return cut;
  }

  /// All ways to make a value of the type, of numbers as far as the rows tell them apart; nothing when they cannot be
  /// counted.
  std::optional<std::vector<Constructor>> constructors(TypeId type, const std::vector<Row>& rows) const {
    const TypeId written = type;
    type = types_.base(type);
    const Type& entry = types_.get(type);
    switch (entry.kind) {
      case TypeKind::I32:
      case TypeKind::I64:
        return cut_numbers(numbers_of(written), rows);
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
    if (const auto all = constructors(type, {})) {
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
      if (!row[0]->is_wildcard && !is_made_by(*row[0], constructor)) continue;
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
