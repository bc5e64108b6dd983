#include "types/check/expressions/exhaustive.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/ensure.h"

namespace tenon::types {
namespace {

/// How many cells of rows are looked at: to find values that no row matches, and to find arms that are not reached,
/// which matters less.
struct WorkLimit {
  std::size_t at_least;
  std::size_t for_each_row;

  [[nodiscard]] constexpr std::size_t of(std::size_t rows) const { return at_least + for_each_row * rows; }
};
constexpr WorkLimit uncovered_work = {1'000'000, 64};
constexpr WorkLimit reached_work = {50'000, 10};
constexpr std::size_t shown_max = 4;

/// A way to make a value, or whole numbers that all rows treat alike.
struct Constructor {
  std::string name;
  std::vector<TypeId> parts = {};
};

/// All constructors of a type, by position and by name.
struct Constructors {
  std::vector<Constructor> all;
  std::unordered_map<std::string_view, std::size_t> positions;
};

/// What is left of a row: patterns for the columns that are still open, the next one last.
struct Row {
  std::vector<const PatternShape*> cells;
  std::uint32_t arm = 0;
  bool is_guarded = false;

  [[nodiscard]] bool matches_everything() const {
    return !is_guarded && std::ranges::all_of(cells, [](const PatternShape* cell) { return cell->is_wildcard; });
  }
};

/// The constructors that the rows name in their next column.
struct Split {
  static constexpr std::size_t wildcard = SIZE_MAX;
  struct Range {
    std::size_t first = wildcard;
    std::size_t last = wildcard;
  };
  std::vector<const Constructor*> used;
  std::vector<Constructor> own;      ///< those in `used` that belong to no type: numbers and texts
  std::vector<Range> ranges;         ///< by row: what it matches of `used`; `first` > `last`: nothing; or `wildcard`
  bool is_complete = false;          ///< `used` are all constructors that the type has
  std::vector<std::string> missing;  ///< of the others, at most one more than `shown_max`
};

/// As a pattern; `all` are those that the type has.
std::string shown_interval(const Interval& interval, const Interval& all) {
  if (interval == all) return "_";
  if (interval.low == interval.high) return std::to_string(interval.low);
  const std::string low = interval.low == all.low ? "" : std::to_string(interval.low);
  const std::string high = interval.high == all.high ? "" : "=" + std::to_string(interval.high);
  return low + ".." + high;
}

std::string holes(std::size_t count) {
  if (count == 0) return "";
  std::string text = "(_";
  for (std::size_t at = 1; at < count; ++at) text += ", _";
  return text + ")";
}

/// Positions that are taken out one by one. `next` finds the first one that is left, in almost constant time.
class OpenPositions {
 public:
  explicit OpenPositions(std::size_t count) : next_(count + 1) { std::iota(next_.begin(), next_.end(), 0); }

  /// The number of positions where none is left.
  std::size_t next(std::size_t from) {
    std::size_t found = from;
    while (next_[found] != found) found = next_[found];
    while (next_[from] != found) from = std::exchange(next_[from], found);
    return found;
  }
  void take(std::size_t position) { next_[position] = position + 1; }

 private:
  std::vector<std::size_t> next_;
};

/// Splits the rows by the constructors of a column, and each part by those of the next one: after Maranget, "Warnings
/// for pattern matching" (2007). All rows are followed at once, and a part ends at the first row that matches
/// everything in it.
class CoverageCheck {
 public:
  CoverageCheck(const TypeTable& types, const TypeNames& names, std::size_t row_count, std::uint32_t arm_count)
      : types_(types), names_(names), row_count_(row_count), is_reached_(arm_count, false) {}

  Coverage run(std::vector<Row> rows, TypeId type) {
    const auto missing = follow(std::move(rows), {type}, true);
    if (is_cut_) is_reached_.assign(is_reached_.size(), true);
    return {std::move(is_reached_), missing ? std::optional(missing->front()) : std::nullopt};
  }

 private:
  /// One text for each column, the next one last.
  using Missing = std::optional<std::vector<std::string>>;

  /// Whether the work for an answer has reached its limit.
  bool is_spent(bool wants_missing) {
    const bool is_over = work_ > (wants_missing ? uncovered_work : reached_work).of(row_count_);
    is_cut_ = is_cut_ || is_over;
    return is_over;
  }

  /// Marks the arms of rows that are reached. Returns values that no row matches, where they are wanted.
  Missing follow(std::vector<Row> rows, const std::vector<TypeId>& columns, bool wants_missing) {
    const auto is_known = [&](const Row& row) { return is_reached_[row.arm]; };
    if (!wants_missing && std::ranges::all_of(rows, is_known)) return std::nullopt;
    if (is_spent(wants_missing)) return std::nullopt;
    if (columns.empty()) {
      for (const Row& row : rows) {
        is_reached_[row.arm] = true;
        if (!row.is_guarded) return std::nullopt;
      }
      return std::vector<std::string>();
    }
    if (!rows.empty() && rows.front().matches_everything()) {
      is_reached_[rows.front().arm] = true;
      return std::nullopt;
    }
    const Split split = split_by(columns.back(), rows);
    std::vector<TypeId> others(columns.begin(), columns.end() - 1);
    Missing missing;
    if (!split.is_complete) {
      // The rows for the other constructors match all constructors: if they leave nothing out, no values are missing.
      missing = follow(rows_for_others(rows, split), others, wants_missing);
      if (missing) missing->push_back(join_missing(split));
      wants_missing = false;
    }
    std::vector<std::vector<Row>> groups = distribute(rows, split, wants_missing);
    if (is_spent(wants_missing)) return missing;
    rows.clear();
    for (std::size_t at = 0; at < groups.size(); ++at) {
      const Constructor& constructor = *split.used[at];
      std::vector<TypeId> inner = others;
      inner.insert(inner.end(), constructor.parts.rbegin(), constructor.parts.rend());
      Missing found = follow(std::move(groups[at]), inner, wants_missing);
      if (!found || !wants_missing) continue;
      missing = std::move(found);
      join_parts(constructor, *missing);
      wants_missing = false;
    }
    return missing;
  }

  std::vector<Row> rows_for_others(const std::vector<Row>& rows, const Split& split) {
    std::vector<Row> others;
    for (std::size_t at = 0; at < rows.size() && (others.empty() || !others.back().matches_everything()); ++at) {
      if (split.ranges[at].first == Split::wildcard) others.push_back(specialize(rows[at], 0));
    }
    return others;
  }

  /// The rows that match each used constructor, up to the first one that matches everything.
  std::vector<std::vector<Row>> distribute(const std::vector<Row>& rows, const Split& split, bool wants_missing) {
    std::vector<std::vector<Row>> groups(split.used.size());
    OpenPositions open(groups.size());
    for (std::size_t at = 0; at < rows.size() && !is_spent(wants_missing); ++at) {
      const Split::Range range = split.ranges[at];
      const bool is_wildcard = range.first == Split::wildcard;
      if (!is_wildcard && range.first > range.last) continue;
      const std::size_t last = is_wildcard ? groups.size() : range.last + 1;
      for (std::size_t group = open.next(is_wildcard ? 0 : range.first); group < last; group = open.next(group + 1)) {
        groups[group].push_back(specialize(rows[at], split.used[group]->parts.size()));
        if (groups[group].back().matches_everything()) open.take(group);
      }
    }
    return groups;
  }

  /// The row with patterns for the parts of its next column in place of that.
  Row specialize(const Row& row, std::size_t part_count) {
    static const PatternShape wildcard;
    const PatternShape& head = *row.cells.back();
    Row special{{}, row.arm, row.is_guarded};
    special.cells.reserve(row.cells.size() + part_count);
    special.cells.assign(row.cells.begin(), row.cells.end() - 1);
    for (std::size_t part = part_count; part-- > 0;) {
      special.cells.push_back(part < head.parts.size() ? &head.parts[part] : &wildcard);
    }
    work_ += special.cells.size() + 1;
    return special;
  }

  Split split_by(TypeId type, const std::vector<Row>& rows) {
    const TypeKind kind = types_.kind(types_.base(type));
    if (kind == TypeKind::I32 || kind == TypeKind::I64) return split_numbers(type, rows);
    if (const Constructors* const known = constructors(types_.base(type))) return split_known(*known, rows);
    Split split;
    split.ranges.resize(rows.size());
    std::unordered_map<std::string_view, std::size_t> groups;
    for (std::size_t at = 0; at < rows.size(); ++at) {
      const PatternShape& head = *rows[at].cells.back();
      if (head.is_wildcard) continue;
      const std::size_t group = groups.emplace(head.constructor, groups.size()).first->second;
      if (group == split.own.size()) split.own.push_back({head.constructor});
      split.ranges[at] = {group, group};
    }
    for (const Constructor& constructor : split.own) split.used.push_back(&constructor);
    return split;
  }

  static Split split_known(const Constructors& known, const std::vector<Row>& rows) {
    Split split;
    std::vector<std::size_t> used;
    std::vector<std::size_t> position_of(rows.size(), Split::wildcard);
    for (std::size_t at = 0; at < rows.size(); ++at) {
      const PatternShape& head = *rows[at].cells.back();
      if (head.is_wildcard) continue;
      const auto position = known.positions.find(head.constructor);
      ENSURE(position != known.positions.end());  // the checker refuses patterns of other types
      position_of[at] = position->second;
      used.push_back(position->second);
    }
    std::ranges::sort(used);
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (const std::size_t position : used) split.used.push_back(&known.all[position]);
    for (const std::size_t position : position_of) {
      if (position == Split::wildcard) {
        split.ranges.emplace_back();
      } else {
        const auto group = static_cast<std::size_t>(std::ranges::lower_bound(used, position) - used.begin());
        split.ranges.push_back({group, group});
      }
    }
    split.is_complete = used.size() == known.all.size();
    for (std::size_t at = 0, next = 0; at < known.all.size() && split.missing.size() <= shown_max; ++at) {
      if (next < used.size() && used[next] == at) {
        ++next;
      } else {
        split.missing.push_back(known.all[at].name + holes(known.all[at].parts.size()));
      }
    }
    return split;
  }

  /// Cuts the numbers of the type wherever those of a row begin or end.
  Split split_numbers(TypeId type, const std::vector<Row>& rows) const {
    const Interval all = numbers_of(type);
    std::vector<std::int64_t> starts = {all.low};
    for (const Row& row : rows) {
      const PatternShape& head = *row.cells.back();
      if (head.is_wildcard || !head.numbers) continue;
      if (head.numbers->low > all.low && head.numbers->low <= all.high) starts.push_back(head.numbers->low);
      if (head.numbers->high >= all.low && head.numbers->high < all.high) starts.push_back(head.numbers->high + 1);
    }
    std::ranges::sort(starts);
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    const auto piece_of = [&](std::int64_t number) {
      return static_cast<std::size_t>(std::ranges::upper_bound(starts, number) - starts.begin()) - 1;
    };
    // Which pieces a row covers: by the beginnings and ends of the rows' numbers.
    std::vector<Split::Range> pieces(rows.size());
    std::vector<std::int64_t> changes(starts.size() + 1, 0);
    for (std::size_t at = 0; at < rows.size(); ++at) {
      const PatternShape& head = *rows[at].cells.back();
      if (head.is_wildcard) continue;
      pieces[at] = {1, 0};
      const Interval numbers = head.numbers.value_or(Interval{1, 0});
      const Interval own{std::max(all.low, numbers.low), std::min(all.high, numbers.high)};
      if (own.low > own.high) continue;
      pieces[at] = {piece_of(own.low), piece_of(own.high)};
      ++changes[pieces[at].first];
      --changes[pieces[at].last + 1];
    }
    Split split;
    std::vector<std::size_t> group_of(starts.size() + 1, 0);  // the used pieces before each
    std::optional<Interval> gap;
    const auto end_gap = [&] {
      if (gap && split.missing.size() <= shown_max) split.missing.push_back(shown_interval(*gap, all));
      gap.reset();
    };
    std::int64_t covering = 0;
    for (std::size_t at = 0; at < starts.size(); ++at) {
      const Interval piece{starts[at], at + 1 < starts.size() ? starts[at + 1] - 1 : all.high};
      covering += changes[at];
      group_of[at + 1] = group_of[at] + (covering > 0 ? 1 : 0);
      if (covering > 0) {
        end_gap();
        split.own.push_back({shown_interval(piece, all)});
      } else {
        gap = Interval{gap ? gap->low : piece.low, piece.high};
      }
    }
    end_gap();
    split.is_complete = split.own.size() == starts.size();
    for (const Constructor& constructor : split.own) split.used.push_back(&constructor);
    for (const Split::Range& range : pieces) {
      split.ranges.push_back(range.first == Split::wildcard ? range
                             : range.first > range.last     ? Split::Range{1, 0}
                                                        : Split::Range{group_of[range.first], group_of[range.last]});
    }
    return split;
  }

  static std::string join_missing(const Split& split) {
    std::string shown;
    for (std::size_t at = 0; at < split.missing.size() && at < shown_max; ++at) {
      shown += (at > 0 ? " | " : "") + split.missing[at];
    }
    if (split.missing.size() > shown_max) shown += " | …";
    return shown.empty() ? "_" : shown;
  }

  /// Replaces the texts of the parts by one of the whole.
  static void join_parts(const Constructor& constructor, std::vector<std::string>& missing) {
    std::string shown = constructor.name;
    for (std::size_t part = 0; part < constructor.parts.size(); ++part) {
      shown += (part > 0 ? ", " : "(") + missing.back();
      missing.pop_back();
    }
    if (!constructor.parts.empty()) shown += ")";
    missing.push_back(std::move(shown));
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

  /// All ways to make a value of the type, which has no refinements; null where they cannot be counted.
  const Constructors* constructors(TypeId type) {
    const auto [found, added] = constructors_.try_emplace(type);
    if (added) {
      if (auto all = list_constructors(type)) {
        found->second.emplace(Constructors{std::move(*all), {}});
        for (std::size_t at = 0; at < found->second->all.size(); ++at) {
          found->second->positions.emplace(found->second->all[at].name, at);
        }
      }
    }
    return found->second ? &*found->second : nullptr;
  }

  [[nodiscard]] std::optional<std::vector<Constructor>> list_constructors(TypeId type) const {
    const Type& entry = types_.get(type);
    std::vector<Constructor> all;
    switch (entry.kind) {
      case TypeKind::Boolean:
        return std::vector<Constructor>{{"true"}, {"false"}};
      case TypeKind::Option:
        return std::vector<Constructor>{{"None"}, {"Some", {entry.arguments[0]}}};
      case TypeKind::Result:
        return std::vector<Constructor>{{"Ok", {entry.arguments[0]}}, {"Err", {TypeTable::failure}}};
      case TypeKind::Tuple:
        return std::vector<Constructor>{{"", entry.arguments}};
      case TypeKind::Unit:
        return std::vector<Constructor>{{""}};
      case TypeKind::Struct:
        all.push_back({types_.describe_briefly(type, names_), {}});
        for (const Field& field : types_.struct_type(type).fields) all.front().parts.push_back(field.type);
        return all;
      case TypeKind::Enum: {
        const std::string name = types_.describe_briefly(type, names_);
        for (const Variant& variant : types_.enum_type(type).variants) {
          all.push_back({name + "::" + variant.name, variant.payload});
        }
        return all;
      }
      case TypeKind::Union:
        if (const auto* texts = std::get_if<std::vector<std::string>>(&types_.union_type(type).literals)) {
          for (const std::string& text : *texts) all.push_back({"\"" + text + "\""});
        } else {
          for (const std::int64_t number : std::get<std::vector<std::int64_t>>(types_.union_type(type).literals)) {
            all.push_back({std::to_string(number)});
          }
        }
        return all;
      default:
        return std::nullopt;
    }
  }

  const TypeTable& types_;
  const TypeNames& names_;
  std::size_t row_count_;
  std::unordered_map<TypeId, std::optional<Constructors>> constructors_;
  std::vector<bool> is_reached_;
  std::size_t work_ = 0;
  bool is_cut_ = false;
};

}  // namespace

Coverage find_coverage(const TypeTable& types, TypeId type, std::span<const PatternRow> rows, std::uint32_t arm_count,
                       const TypeNames& names) {
  std::vector<Row> all;
  all.reserve(rows.size());
  for (const PatternRow& row : rows) all.push_back({{&row.shape}, row.arm, row.is_guarded});
  return CoverageCheck(types, names, rows.size(), arm_count).run(std::move(all), type);
}

}  // namespace tenon::types
