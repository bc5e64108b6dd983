// Patterns of `match`, `let`, `for` and closures.

#include <algorithm>

#include "diagnostics/kinds.h"
#include "diagnostics/nearest.h"
#include "syntax/literals.h"
#include "types/check/checker.h"
#include "types/check/exhaustive.h"
#include "types/declarations/numeric_range.h"

namespace tenon::types {

void Checker::check_pattern(NodeId pattern, TypeId type) {
  record(pattern, type);
  const TypeId base = types_.base(type);
  const auto mismatch = [&](std::string_view what) {
    if (base != TypeTable::error) {
      auto& report =
          diagnostics_.report(diagnostics::PatternMismatch, tree().span(pattern), std::string(what), describe(type));
      if (types_.kind(base) == TypeKind::Enum && tree().kind(pattern) == NodeKind::StructPattern) {
        report.hint(fmt::format("remove the field names, enum cases have positional values: `{}::{}(…)`",
                                describe(base), tree().text(tree().path(pattern).back())));
      }
    }
  };
  switch (tree().kind(pattern)) {
    case NodeKind::NamePattern: {
      const std::string name(tree().main_text(pattern));
      if (name == "None") return check_case_pattern(pattern, type);
      if (types_.kind(base) == TypeKind::Enum) {
        if (cases_.find(base, name)) {
          const std::string meant = fmt::format("{}::{}", types_.enum_type(base).name, name);
          diagnostics_.report(diagnostics::CaseWithoutEnum, tree().span(pattern), name, meant)
              .hint(fmt::format("write `{}` to match the case, or rename the variable", meant));
        }
      }
      facts(pattern).target = {TargetKind::Local,
                               bind_name(tree().main_text(pattern), type, tree().span(pattern)).index, 0};
      return;
    }
    case NodeKind::LiteralPattern: {
      const NodeId literal = tree().first(pattern);
      if (!literal.exists() || base == TypeTable::error) return;
      if (tree().kind(literal) == NodeKind::RangeExpression) {
        if (!is_number(base)) return mismatch("a range");
        // The ends of a range need not be cases of a union.
        const TypeId end = types_.kind(base) == TypeKind::Union ? TypeTable::i64 : base;
        for (NodeId side = tree().first(literal); side.exists(); side = tree().next(side)) check_value(side, end);
        record(literal, base);
        return;
      }
      const TypeId given = check_kind(literal, Wanted::value(type));
      record(literal, given);
      const bool text = is_text(given) && is_text(base);
      if (!text && !is_assignable(given, base) && !is_assignable(base, given)) mismatch("`" + describe(given) + "`");
      return;
    }
    case NodeKind::PathPattern:
      return check_case_pattern(pattern, type);
    case NodeKind::TuplePattern: {
      const std::vector<NodeId> parts = tree().children(pattern);
      const std::vector<TypeId> items = types_.get(base).arguments;
      const bool is_unit = parts.empty() && base == TypeTable::unit;
      if (parts.size() == 1 && types_.kind(base) != TypeKind::Tuple) return check_pattern(parts[0], type);
      if (!is_unit && (types_.kind(base) != TypeKind::Tuple || items.size() != parts.size()))
        mismatch("a tuple of " + diagnostics::counted(parts.size(), "item"));
      for (std::size_t at = 0; at < parts.size(); ++at) {
        const bool fits = types_.kind(base) == TypeKind::Tuple && at < items.size();
        check_pattern(parts[at], fits ? items[at] : TypeTable::error);
      }
      return;
    }
    case NodeKind::OrPattern: {
      // The first alternative declares the names; the others bind the same ones.
      const std::vector<NodeId> parts = tree().children(pattern);
      const std::size_t before = scope_.size();
      if (alternative_ != nullptr) {
        for (const NodeId part : parts) check_pattern(part, type);
        return;
      }
      check_pattern(parts.front(), type);
      const std::vector<std::pair<std::string_view, LocalId>> names(
          scope_.begin() + static_cast<std::ptrdiff_t>(before), scope_.end());
      for (std::size_t at = 1; at < parts.size(); ++at) {
        Alternative alternative{names, std::vector<bool>(names.size(), false)};
        alternative_ = &alternative;
        check_pattern(parts[at], type);
        alternative_ = nullptr;
        for (std::size_t name = 0; name < names.size(); ++name) {
          if (alternative.bound[name]) continue;
          diagnostics_.report(diagnostics::InconsistentBinding, tree().span(parts[at]), std::string(names[name].first))
              .hint("bind the same variables in every alternative");
        }
      }
      return;
    }
    case NodeKind::StructPattern: {
      const std::vector<syntax::TokenIndex> path = tree().path(pattern);
      const std::string name(tree().text(path.back()));
      const std::optional<TypeId> named = find_type(name);
      const bool fits = named && *named == base && types_.kind(base) == TypeKind::Struct;
      if (!fits) mismatch("`" + name + "`");
      for (const NodeId field : tree().children(pattern, NodeKind::FieldPattern)) {
        Target target;
        const TypeId field_of = fits ? field_type(field, base, tree().main_text(field), target) : TypeTable::error;
        facts(field).target = target;
        record(field, field_of);
        if (const NodeId inner = tree().first(field); inner.exists()) {
          check_pattern(inner, field_of);
        } else {
          facts(field).target.detail = bind_name(tree().main_text(field), field_of, tree().main_span(field)).index;
        }
      }
      return;
    }
    default:
      return;  // the wildcard; Error: told by the parser
  }
}

/// A variable of a pattern: a new one, or in a further alternative the one that the first has declared.
LocalId Checker::bind_name(std::string_view name, TypeId type, source::Span span) {
  if (alternative_ == nullptr) return declare_local(name, type, span);
  for (std::size_t at = 0; at < alternative_->names.size(); ++at) {
    if (alternative_->names[at].first != name) continue;
    const LocalId local = alternative_->names[at].second;
    alternative_->bound[at] = true;
    const TypeId wanted = program_.locals[local.index].type;
    if (type != wanted && type != TypeTable::error && wanted != TypeTable::error) {
      diagnostics_.report(diagnostics::TypeMismatch, span, describe(type), describe(wanted));
    }
    return local;
  }
  diagnostics_.report(diagnostics::InconsistentBinding, span, std::string(name))
      .hint("bind the same variables in every alternative");
  return declare_local(name, type, span);
}

/// `Mood::Bad(reason)`, `Some(x)`, `None`, `Ok(x)`, `Err(f)`.
void Checker::check_case_pattern(NodeId pattern, TypeId type) {
  const TypeId base = types_.base(type);
  const std::vector<syntax::TokenIndex> path = tree().path(pattern);
  const std::string name(tree().text(path.back()));
  const std::vector<NodeId> parts = tree().children(pattern);
  std::vector<TypeId> payload;
  std::optional<std::uint32_t> index;
  const TypeKind kind = types_.kind(base);
  if (path.size() == 1 && kind == TypeKind::Option && (name == "Some" || name == "None")) {
    index = name == "Some" ? 1 : 0;
    if (name == "Some") payload = {types_.get(base).arguments[0]};
  } else if (path.size() == 1 && kind == TypeKind::Result && (name == "Ok" || name == "Err")) {
    index = name == "Ok" ? 0 : 1;
    payload = {name == "Ok" ? types_.get(base).arguments[0] : TypeTable::failure};
  } else if (path.size() > 1 && kind == TypeKind::Enum) {
    const std::string owner(tree().text(path[path.size() - 2]));
    const std::vector<Variant>& variants = types_.enum_type(base).variants;
    const std::optional<std::uint32_t> found = cases_.find(base, name);
    const std::optional<TypeId> named = path.size() == 2 ? find_type(owner) : std::optional(base);
    if (named && *named == base && found) {
      index = found;
      payload = variants[*found].payload;
    } else if (named && *named == base) {
      std::vector<std::string_view> candidates;
      for (std::size_t at = 0; at < variants.size() && !diagnostics_.is_full(); ++at) {
        candidates.push_back(variants[at].name);
      }
      auto& report = diagnostics_.report(diagnostics::UnknownCase, tree().span(path.back()), describe(base), name);
      if (const auto nearest = diagnostics::find_nearest(name, candidates))
        report.hint(fmt::format("did you mean `{}`?", *nearest));
      for (const NodeId part : parts) check_pattern(part, TypeTable::error);
      return;
    }
  }
  if (!index) {
    if (base != TypeTable::error) {
      auto& report = diagnostics_.report(diagnostics::PatternMismatch, tree().span(pattern),
                                         "`" + std::string(tree().text(pattern)).substr(0, 60) + "`", describe(type));
      if (kind == TypeKind::Enum) report.hint(fmt::format("write its cases as `{}::…`", describe(base)));
    }
    for (const NodeId part : parts) check_pattern(part, TypeTable::error);
    return;
  }
  facts(pattern).target = {TargetKind::EnumCase, base.index, *index};
  if (parts.size() != payload.size()) {
    diagnostics_.report(diagnostics::ArgumentCount, tree().span(pattern), std::string(tree().text(path.back())),
                        diagnostics::counted(payload.size(), "value"), diagnostics::counted_were(parts.size()));
  }
  for (std::size_t at = 0; at < parts.size(); ++at)
    check_pattern(parts[at], at < payload.size() ? payload[at] : TypeTable::error);
}

bool Checker::pattern_always_matches(NodeId pattern) const {
  const syntax::SyntaxTree& syntax_tree = *module_->tree;
  switch (syntax_tree.kind(pattern)) {
    case NodeKind::WildcardPattern:
    case NodeKind::Error:
      return true;
    case NodeKind::NamePattern:
      return module_->facts_of(pattern).target.kind == TargetKind::Local;
    case NodeKind::TuplePattern:
    case NodeKind::StructPattern: {
      for (NodeId part = syntax_tree.first(pattern); part.exists(); part = syntax_tree.next(part)) {
        const bool is_field = syntax_tree.kind(part) == NodeKind::FieldPattern;
        const NodeId inner = is_field ? syntax_tree.first(part) : part;
        if (inner.exists() && !pattern_always_matches(inner)) return false;
      }
      return true;
    }
    default:
      return false;
  }
}

namespace {

class ShapeReader {
 public:
  ShapeReader(const Module& module, const TypeTable& types) : tree_(*module.tree), module_(module), types_(types) {}

  /// One shape for each alternative.
  std::vector<PatternShape> read(syntax::NodeId pattern) const {
    using syntax::NodeKind;
    const TypeId type = types_.base(module_.facts_of(pattern).type);
    const Target& target = module_.facts_of(pattern).target;
    switch (tree_.kind(pattern)) {
      case NodeKind::OrPattern: {
        std::vector<PatternShape> all;
        for (const syntax::NodeId part : tree_.children(pattern)) {
          for (PatternShape& shape : read(part)) all.push_back(std::move(shape));
        }
        return all;
      }
      case NodeKind::LiteralPattern: {
        const syntax::NodeId literal = tree_.first(pattern);
        if (!literal.exists()) return {{}};
        if (tree_.kind(literal) == NodeKind::StringExpression) {
          return {{false, "\"" + syntax::plain_string(tree_, literal).value_or("") + "\"", {}}};
        }
        const PatternShape shape = read_number(literal, type);
        if (types_.kind(type) != TypeKind::Union || tree_.kind(literal) != NodeKind::RangeExpression) return {shape};
        return cases_within(*shape.numbers, type);
      }
      case NodeKind::NamePattern:
        if (target.kind != TargetKind::EnumCase) return {{}};
        return {{false, "None", {}}};
      case NodeKind::PathPattern: {
        if (target.kind != TargetKind::EnumCase) return {{}};
        const std::vector<syntax::TokenIndex> path = tree_.path(pattern);
        std::string name(tree_.text(path.back()));
        if (types_.kind(type) == TypeKind::Enum) name = types_.enum_type(type).name + "::" + name;
        return combine(name, tree_.children(pattern));
      }
      case NodeKind::TuplePattern: {
        const std::vector<syntax::NodeId> parts = tree_.children(pattern);
        if (parts.size() == 1 && types_.kind(type) != TypeKind::Tuple) return read(parts[0]);
        return combine("", parts);
      }
      case NodeKind::StructPattern: {
        if (types_.kind(type) != TypeKind::Struct) return {{}};
        std::vector<std::vector<PatternShape>> parts(types_.struct_type(type).fields.size(), {PatternShape{}});
        for (const syntax::NodeId field : tree_.children(pattern, NodeKind::FieldPattern)) {
          const Target& position = module_.facts_of(field).target;
          const syntax::NodeId inner = tree_.first(field);
          if (position.kind == TargetKind::Field && inner.exists()) parts[position.index] = read(inner);
        }
        return product(types_.struct_type(type).name, parts);
      }
      default:
        return {{}};
    }
  }

 private:
  /// A literal, or a range of numbers. Of whole numbers it says which ones.
  [[nodiscard]] PatternShape read_number(syntax::NodeId literal, TypeId type) const {
    PatternShape shape{.is_wildcard = false, .constructor = std::string(tree_.text(literal))};
    const TypeKind kind = types_.kind(type);
    const bool is_whole = kind == TypeKind::I32 || kind == TypeKind::I64 || kind == TypeKind::Union;
    if (const auto bound = read_bound(tree_, literal); bound && std::holds_alternative<std::int64_t>(*bound)) {
      const std::int64_t number = std::get<std::int64_t>(*bound);
      shape.constructor = std::to_string(number);
      if (is_whole && kind != TypeKind::Union) shape.numbers = {number, number};
    }
    const auto range = read_range(tree_, literal);
    if (!range || !is_whole) return shape;
    Interval numbers;
    if (const auto* low = std::get_if<std::int64_t>(&range->low)) numbers.low = *low;
    if (const auto* high = std::get_if<std::int64_t>(&range->high)) numbers.high = *high;
    if (range->high_is_exclusive && range->high.index() != 0 && numbers.high > INT64_MIN) --numbers.high;
    shape.numbers = numbers;
    return shape;
  }

  /// The cases of a union of numbers that stand in a range.
  [[nodiscard]] std::vector<PatternShape> cases_within(const Interval& range, TypeId type) const {
    std::vector<PatternShape> all;
    const auto* const numbers = std::get_if<std::vector<std::int64_t>>(&types_.union_type(type).literals);
    for (std::size_t at = 0; numbers != nullptr && at < numbers->size(); ++at) {
      const std::int64_t number = (*numbers)[at];
      if (number < range.low || number > range.high) continue;
      all.push_back({.is_wildcard = false, .constructor = std::to_string(number)});
    }
    return all;
  }

  std::vector<PatternShape> combine(const std::string& name, const std::vector<syntax::NodeId>& children) const {
    std::vector<std::vector<PatternShape>> parts;
    for (const syntax::NodeId child : children) parts.push_back(read(child));
    return product(name, parts);
  }

  /// Alternatives inside of parts multiply; past the limit the rest is left out, which makes a match look less
  /// complete.
  static std::vector<PatternShape> product(const std::string& name,
                                           const std::vector<std::vector<PatternShape>>& parts) {
    constexpr std::size_t alternatives_max = 1'000;
    std::vector<PatternShape> all = {{false, name, {}}};
    for (const std::vector<PatternShape>& part : parts) {
      std::vector<PatternShape> next;
      for (const PatternShape& shape : all) {
        for (const PatternShape& alternative : part) {
          if (next.size() >= alternatives_max) break;
          next.push_back(shape);
          next.back().parts.push_back(alternative);
        }
      }
      all = std::move(next);
    }
    return all;
  }

  const syntax::SyntaxTree& tree_;
  const Module& module_;
  const TypeTable& types_;
};

}  // namespace

void Checker::check_exhaustive(NodeId match, TypeId type, std::span<const NodeId> arms) {
  const ShapeReader reader(*module_, types_);
  std::vector<PatternRow> rows;
  for (std::uint32_t arm = 0; arm < arms.size(); ++arm) {
    const NodeId pattern = tree().first(arms[arm]);
    if (!pattern.exists()) return;
    const NodeId second = tree().next(pattern);
    const bool is_guarded = second.exists() && tree().kind(second) == NodeKind::Guard;
    for (PatternShape& shape : reader.read(pattern)) rows.push_back({std::move(shape), arm, is_guarded});
  }
  const Coverage coverage = find_coverage(types_, type, rows, static_cast<std::uint32_t>(arms.size()));
  for (std::uint32_t arm = 0; arm < arms.size(); ++arm) {
    if (coverage.is_reached[arm]) continue;
    diagnostics_.report(diagnostics::UnreachablePattern, tree().span(tree().first(arms[arm])));
  }
  if (coverage.uncovered) {
    diagnostics_.report(diagnostics::NotExhaustive, tree().main_span(match), "`" + *coverage.uncovered + "`")
        .hint("add an arm for it, or a wildcard arm `_ => …`");
  }
}

}  // namespace tenon::types
