// Patterns of `match`, `let`, `for` and closures.

#include "types/check/expressions/patterns.h"

#include <algorithm>

#include "base/counted.h"
#include "diagnostics/kinds.h"
#include "syntax/literals.h"
#include "types/check/body_checker.h"
#include "types/check/expressions/exhaustive.h"
#include "types/declarations/numeric_range.h"
#include "types/suggestions.h"

namespace tenon::types {
namespace {

class ShapeReader {
 public:
  ShapeReader(const Body& body, const TypeTable& types) : tree_(body.tree()), body_(body), types_(types) {}

  /// One shape for each alternative.
  std::vector<PatternShape> read(syntax::NodeId pattern) const {
    using syntax::NodeKind;
    const TypeId type = types_.base(body_.facts_of(pattern).type);
    const Target& target = body_.facts_of(pattern).target;
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
        if (types_.kind(type) == TypeKind::Enum) name = body_.describe(type) + "::" + name;
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
          const Target& position = body_.facts_of(field).target;
          const syntax::NodeId inner = tree_.first(field);
          if (position.kind == TargetKind::Field && inner.exists()) parts[position.index] = read(inner);
        }
        return product(body_.describe(type), std::move(parts));
      }
      default:
        return {{}};
    }
  }

 private:
  /// A literal, or a range of numbers. The shape of an integer pattern contains the integers that it matches.
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

  /// The cases of a union of numbers that are in a range.
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
    return product(name, std::move(parts));
  }

  /// Alternatives inside of parts multiply; past the limit the rest is left out, which makes a match look less
  /// complete.
  static std::vector<PatternShape> product(const std::string& name, std::vector<std::vector<PatternShape>> parts) {
    constexpr std::size_t alternatives_max = 1'000;
    std::size_t count = 1;
    for (const std::vector<PatternShape>& part : parts) count = std::min(alternatives_max, count * part.size());
    std::vector<PatternShape> all(count, {false, name, std::vector<PatternShape>(parts.size())});
    for (std::size_t number = 0; number < count; ++number) {
      // The alternatives of the last part change first.
      for (std::size_t at = parts.size(), rest = number; at-- > 0;) {
        PatternShape& chosen = parts[at][rest % parts[at].size()];
        rest /= parts[at].size();
        if (count == 1) {
          all[number].parts[at] = std::move(chosen);
        } else {
          all[number].parts[at] = chosen;
        }
      }
    }
    return all;
  }

  const syntax::SyntaxTree& tree_;
  const Body& body_;
  const TypeTable& types_;
};

}  // namespace

void PatternChecker::check_pattern(NodeId pattern, TypeId type) {
  record(pattern, type);
  switch (tree().kind(pattern)) {
    case NodeKind::NamePattern:
      return check_name_pattern(pattern, type);
    case NodeKind::LiteralPattern:
      return check_literal_pattern(pattern, type);
    case NodeKind::PathPattern:
      return check_case_pattern(pattern, type);
    case NodeKind::TuplePattern:
      return check_tuple_pattern(pattern, type);
    case NodeKind::OrPattern:
      return check_or_pattern(pattern, type);
    case NodeKind::StructPattern:
      return check_struct_pattern(pattern, type);
    default:
      return;  // the wildcard; Error: reported by the parser
  }
}

/// `what`: the kind of the pattern, for the message.
void PatternChecker::report_mismatch(NodeId pattern, TypeId type, std::string_view what) {
  const TypeId base = types_.base(type);
  if (base == TypeTable::error) return;
  auto& report =
      diagnostics_.report(diagnostics::PatternMismatch, tree().span(pattern), std::string(what), describe(type));
  if (types_.kind(base) == TypeKind::Enum && tree().kind(pattern) == NodeKind::StructPattern) {
    report.hint(fmt::format("remove the field names, enum cases have positional values: `{}::{}(…)`",
                            describe_as_code(base), tree().text(tree().path(pattern).back())));
  }
}

void PatternChecker::check_name_pattern(NodeId pattern, TypeId type) {
  const std::string name(tree().main_text(pattern));
  if (name == "None") return check_case_pattern(pattern, type);
  const TypeId base = types_.base(type);
  if (types_.kind(base) == TypeKind::Enum && body_.find_member(base, name)) {
    const std::string meant = fmt::format("{}::{}", describe_as_code(base), name);
    diagnostics_.report(diagnostics::CaseWithoutEnum, tree().span(pattern), name, meant)
        .hint(fmt::format("write `{}` to match the case, or rename the variable", meant));
  }
  // `none`, `nothing` and `this` may well be names of variables.
  const auto meant = find_foreign_value(name);
  const bool is_variable = !meant || name == "none" || name == "nothing" || name == "this";
  const bool is_value = !is_variable && (*meant == "None" || types_.kind(base) == TypeKind::Boolean);
  if (is_value) {
    diagnostics_.report(diagnostics::CaseWithoutEnum, tree().span(pattern), name, std::string(*meant))
        .hint(fmt::format("write `{}` to match that value, or rename the variable", *meant))
        .fix = {tree().span(pattern), std::string(*meant)};
  }
  const LocalId local = bind_name(tree().main_text(pattern), type, tree().span(pattern));
  facts(pattern).target = {TargetKind::Local, local.index, 0};
}

void PatternChecker::check_literal_pattern(NodeId pattern, TypeId type) {
  const TypeId base = types_.base(type);
  const NodeId literal = tree().first(pattern);
  if (!literal.exists() || base == TypeTable::error) return;
  if (tree().kind(literal) == NodeKind::RangeExpression) {
    if (!is_number(types_, base)) return report_mismatch(pattern, type, "a range");
    // The ends of a range need not be cases of a union.
    const TypeId end = types_.kind(base) == TypeKind::Union ? TypeTable::i64 : base;
    for (NodeId side = tree().first(literal); side.exists(); side = tree().next(side)) check_value(side, end);
    record(literal, base);
    return;
  }
  const TypeId given = check_kind(literal, Expectation::value(type));
  record(literal, given);
  const bool text = is_text(types_, given) && is_text(types_, base);
  if (!text && !is_assignable(given, base) && !is_assignable(base, given)) {
    report_mismatch(pattern, type, "`" + describe(given) + "`");
  }
}

void PatternChecker::check_tuple_pattern(NodeId pattern, TypeId type) {
  const TypeId base = types_.base(type);
  const std::vector<NodeId> parts = tree().children(pattern);
  const std::vector<TypeId> items = types_.get(base).arguments;
  const bool is_tuple = types_.kind(base) == TypeKind::Tuple;
  const bool is_unit = parts.empty() && base == TypeTable::unit;
  if (parts.size() == 1 && !is_tuple) return check_pattern(parts[0], type);
  if (!is_unit && (!is_tuple || items.size() != parts.size())) {
    report_mismatch(pattern, type, "a tuple of " + counted(parts.size(), "item"));
  }
  for (std::size_t at = 0; at < parts.size(); ++at) {
    check_pattern(parts[at], is_tuple && at < items.size() ? items[at] : TypeTable::error);
  }
}

/// The first alternative declares the names; the others bind the same ones.
void PatternChecker::check_or_pattern(NodeId pattern, TypeId type) {
  const std::vector<NodeId> parts = tree().children(pattern);
  const std::size_t before = body_.scope.size();
  if (body_.alternative != nullptr) {
    for (const NodeId part : parts) check_pattern(part, type);
    return;
  }
  check_pattern(parts.front(), type);
  const std::vector<std::pair<std::string_view, LocalId>> names(
      body_.scope.all().begin() + static_cast<std::ptrdiff_t>(before), body_.scope.all().end());
  for (std::size_t at = 1; at < parts.size(); ++at) {
    Body::Alternative alternative{names, std::vector<bool>(names.size(), false)};
    body_.alternative = &alternative;
    check_pattern(parts[at], type);
    body_.alternative = nullptr;
    for (std::size_t name = 0; name < names.size(); ++name) {
      if (alternative.bound[name]) continue;
      diagnostics_.report(diagnostics::InconsistentBinding, tree().span(parts[at]), std::string(names[name].first))
          .hint("bind the same variables in every alternative");
    }
  }
}

/// `module::Name`.
std::string PatternChecker::written(std::span<const syntax::TokenIndex> path) const {
  std::string text;
  for (const syntax::TokenIndex part : path) text += (text.empty() ? "" : "::") + std::string(tree().text(part));
  return text;
}

void PatternChecker::check_struct_pattern(NodeId pattern, TypeId type) {
  const TypeId base = types_.base(type);
  const std::vector<syntax::TokenIndex> path = tree().path(pattern);
  const std::optional<TypeId> named = body_.resolver.find_type(path);
  const bool fits = named && *named == base && types_.kind(base) == TypeKind::Struct;
  if (!fits) report_mismatch(pattern, type, "`" + (named ? describe(*named) : written(path)) + "`");
  for (const NodeId field : tree().children(pattern, NodeKind::FieldPattern)) {
    Target target;
    const TypeId field_of =
        fits ? checker_.expressions.field_type(field, base, tree().main_text(field), target) : TypeTable::error;
    facts(field).target = target;
    record(field, field_of);
    if (const NodeId inner = tree().first(field); inner.exists()) {
      check_pattern(inner, field_of);
    } else {
      facts(field).target.detail = bind_name(tree().main_text(field), field_of, tree().main_span(field)).index;
    }
  }
}

/// A variable of a pattern: a new one, or in a further alternative the one that the first has declared.
LocalId PatternChecker::bind_name(std::string_view name, TypeId type, source::Span span) {
  if (body_.alternative == nullptr) return declare_local(name, type, span);
  for (std::size_t at = 0; at < body_.alternative->names.size(); ++at) {
    if (body_.alternative->names[at].first != name) continue;
    const LocalId local = body_.alternative->names[at].second;
    body_.alternative->bound[at] = true;
    const TypeId expected = this->local(local).type;
    if (type != expected && type != TypeTable::error && expected != TypeTable::error) {
      diagnostics_.report(diagnostics::TypeMismatch, span, describe(type), describe(expected));
    }
    return local;
  }
  diagnostics_.report(diagnostics::InconsistentBinding, span, std::string(name))
      .hint("bind the same variables in every alternative");
  return declare_local(name, type, span);
}

/// `Mood::Bad(reason)`, `Some(x)`, `None`, `Ok(x)`, `Err(f)`.
void PatternChecker::check_case_pattern(NodeId pattern, TypeId type) {
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
    const std::vector<Variant>& variants = types_.enum_type(base).variants;
    const std::optional<std::uint32_t> found = body_.find_member(base, name);
    const std::optional<TypeId> named = body_.resolver.find_type(std::span(path).first(path.size() - 1));
    if (named && *named == base && found) {
      index = found;
      payload = variants[*found].payload;
    } else if (named && *named == base) {
      std::vector<std::string_view> candidates;
      for (std::size_t at = 0; at < variants.size() && !diagnostics_.is_full(); ++at) {
        candidates.push_back(variants[at].name);
      }
      auto& report = diagnostics_.report(diagnostics::UnknownCase, tree().span(path.back()), describe(base), name);
      if (const auto meant = find_meant(name, candidates)) report.hint(fmt::format("did you mean `{}`?", *meant));
      for (const NodeId part : parts) check_pattern(part, TypeTable::error);
      return;
    }
  }
  if (!index) {
    if (base != TypeTable::error) {
      auto& report = diagnostics_.report(diagnostics::PatternMismatch, tree().span(pattern),
                                         "`" + std::string(tree().text(pattern)).substr(0, 60) + "`", describe(type));
      if (kind == TypeKind::Enum) {
        const bool is_case = path.size() == 1 && body_.find_member(base, name);
        report.hint(is_case ? fmt::format("write `{}::{}(…)`", describe_as_code(base), name)
                            : fmt::format("write its cases as `{}::…`", describe_as_code(base)));
      }
      const auto meant = find_foreign_case(name);
      const bool is_of_option = meant && (*meant == "Some" || *meant == "None");
      if (meant && kind == (is_of_option ? TypeKind::Option : TypeKind::Result)) {
        report.hint(fmt::format("write `{}`", *meant == "None" ? "None" : std::string(*meant) + "(…)"));
      }
    }
    for (const NodeId part : parts) check_pattern(part, TypeTable::error);
    return;
  }
  facts(pattern).target = {TargetKind::EnumCase, base.index, *index};
  if (parts.size() != payload.size()) {
    diagnostics_.report(diagnostics::ArgumentCount, tree().span(pattern), std::string(tree().text(path.back())),
                        counted(payload.size(), "value"), counted_were(parts.size()));
  }
  for (std::size_t at = 0; at < parts.size(); ++at)
    check_pattern(parts[at], at < payload.size() ? payload[at] : TypeTable::error);
}

bool PatternChecker::pattern_always_matches(NodeId pattern) const {
  const syntax::SyntaxTree& syntax_tree = *module_->tree;
  switch (syntax_tree.kind(pattern)) {
    case NodeKind::WildcardPattern:
    case NodeKind::Error:
      return true;
    case NodeKind::NamePattern:
      return facts(pattern).target.kind == TargetKind::Local;
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

void PatternChecker::check_exhaustive(NodeId match, TypeId type, std::span<const NodeId> arms) {
  const ShapeReader reader(body_, types_);
  std::vector<PatternRow> rows;
  for (std::uint32_t arm = 0; arm < arms.size(); ++arm) {
    const NodeId pattern = tree().first(arms[arm]);
    if (!pattern.exists()) return;
    const NodeId second = tree().next(pattern);
    const bool is_guarded = second.exists() && tree().kind(second) == NodeKind::Guard;
    for (PatternShape& shape : reader.read(pattern)) rows.push_back({std::move(shape), arm, is_guarded});
  }
  const Coverage coverage =
      find_coverage(types_, type, rows, static_cast<std::uint32_t>(arms.size()), body_.index.qualified_names());
  for (std::uint32_t arm = 0; arm < arms.size(); ++arm) {
    if (coverage.is_reached[arm]) continue;
    diagnostics_.report(diagnostics::UnreachablePattern, tree().span(tree().first(arms[arm])));
  }
  if (coverage.uncovered) {
    const source::Span place = tree().main_span(match);
    // In a lowered tree, the place is that of the text as it was written.
    const std::string_view text = module_->file->text();
    const bool is_of_route = place.offset < text.size() && text.substr(place.offset, place.length) == "on";
    diagnostics_.report(diagnostics::NotExhaustive, place, "`" + *coverage.uncovered + "`")
        .hint(is_of_route ? "add an arm for it, or end the arms with `else -> …`"
                          : "add an arm for it, or a wildcard arm `_ => …`");
  }
}

}  // namespace tenon::types
