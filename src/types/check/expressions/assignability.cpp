// What may be used where: assignability, checks at run time, substitution of type parameters.

#include "types/check/expressions/assignability.h"

#include <algorithm>

#include "diagnostics/kinds.h"
#include "diagnostics/nearest.h"
#include "syntax/literals.h"
#include "syntax/tree.h"
#include "types/check/body_checker.h"
#include "types/table/refinements.h"
#include "types/table/type_parts.h"

namespace tenon::types {
namespace {

/// Whether every value above `inner` is above `outer`, where no bound is below everything.
bool low_within(const Bound& inner, const Bound& outer) {
  return outer.index() == 0 || (inner.index() != 0 && inner >= outer);
}
bool high_within(const Refinement& inner, const Refinement& outer) {
  if (outer.high.index() == 0) return true;
  if (inner.high.index() == 0) return false;
  return inner.high < outer.high || (inner.high == outer.high && (inner.high_is_exclusive || !outer.high_is_exclusive));
}

bool is_literal_number(syntax::NodeKind kind) {
  return kind == syntax::NodeKind::IntegerExpression || kind == syntax::NodeKind::FloatExpression;
}

/// Whether the text is a literal of that kind of number, without a sign.
bool is_number_of(std::string_view text, TypeKind kind) {
  const bool has_digit_first = !text.empty() && text.front() >= '0' && text.front() <= '9';
  if (!has_digit_first) return false;
  return kind == TypeKind::F64 ? text.find('.') != std::string_view::npos && syntax::float_value(text).has_value()
                               : syntax::integer_value(text).has_value();
}

}  // namespace

/// Whether each value of `from` is a value of `to`, where both are refinements of one base, or both are unions.
bool Assignability::is_subset(TypeId from, TypeId to) const {
  if (types_.kind(from) == TypeKind::Union && types_.kind(to) == TypeKind::Union) {
    return types::is_subset(types_.union_type(from), types_.union_type(to));
  }
  if (types_.kind(from) != TypeKind::Refined || types_.kind(to) != TypeKind::Refined) return false;
  if (!is_assignable(types_.base(from), types_.base(to))) return false;
  const Refinement& inner = types_.refinement(from);
  const Refinement& outer = types_.refinement(to);
  if (!low_within(inner.low, outer.low) || !high_within(inner, outer)) return false;
  if (outer.length_low && (!inner.length_low || *inner.length_low < *outer.length_low)) return false;
  if (outer.length_high && (!inner.length_high || *inner.length_high > *outer.length_high)) return false;
  return !outer.pattern || inner.pattern == outer.pattern;
}

/// Reports a secret that would be shown; `how` completes "a `…` cannot be …". A value that only has secrets in it
/// is shown with a placeholder for each.
bool Assignability::reject_secret(TypeId type, NodeId node, std::string_view how) {
  TypeId shown = types_.base(type);
  while (types_.kind(shown) == TypeKind::Option) shown = types_.base(types_.get(shown).arguments[0]);
  if (types_.kind(shown) != TypeKind::Secret) return false;
  diagnostics_.report(diagnostics::SecretShown, tree().span(node), describe(type), std::string(how))
      .hint("pass it to a `secret` parameter of an `extern fn`; secrets cannot be used anywhere else");
  return true;
}

/// Without a check at run time.
bool Assignability::is_assignable(TypeId from, TypeId to) const {
  if (from == to) return true;
  const TypeKind from_kind = types_.kind(from);
  const TypeKind to_kind = types_.kind(to);
  if (from_kind == TypeKind::Error || to_kind == TypeKind::Error || from_kind == TypeKind::Never) return true;
  if (to_kind == TypeKind::Refined) return from_kind == TypeKind::Refined && is_subset(from, to);
  if (from_kind == TypeKind::Refined) return is_assignable(types_.base(from), to);
  if (to_kind == TypeKind::String) return is_text(types_, from);
  if (to_kind == TypeKind::Union) return from_kind == TypeKind::Union && is_subset(from, to);
  if (from_kind == TypeKind::Union) return to_kind == TypeKind::I64 && is_integer(types_, from);
  if (from_kind != to_kind) return false;
  switch (to_kind) {
    case TypeKind::List:
    case TypeKind::Map:
    case TypeKind::Option:
    case TypeKind::Result:
    case TypeKind::Secret:
    case TypeKind::Tuple: {
      const std::vector<TypeId>& inner = types_.get(from).arguments;
      const std::vector<TypeId>& outer = types_.get(to).arguments;
      return std::equal(inner.begin(), inner.end(), outer.begin(), outer.end(),
                        [&](TypeId a, TypeId b) { return is_assignable(a, b); });
    }
    default:
      return false;
  }
}

bool Assignability::coerce(NodeId node, TypeId from, TypeId to) {
  if (is_assignable(from, to)) return true;
  // What a test's script says of a secret is sealed when it is given.
  if (body_.in_script && types_.kind(to) == TypeKind::Secret) return coerce(node, from, types_.get(to).arguments[0]);
  // A refinement of what the value is: looked at when the program runs.
  if (types_.kind(to) == TypeKind::Refined && is_assignable(types_.base(from), types_.base(to))) {
    facts(node).narrowed_to = to;
    return true;
  }
  if (has_reported(from)) return false;
  hint_mismatch(diagnostics_.report(diagnostics::TypeMismatch, tree().span(node), describe(from), describe(to)), node,
                from, to);
  return false;
}

bool Assignability::has_reported(TypeId type) const {
  if (!diagnostics_.has_errors()) return false;
  if (type == TypeTable::error) return true;
  if (type == TypeTable::any_option || type == TypeTable::any_result) return false;  // `None` and `Err` alone
  const std::vector<TypeId>& parts = types_.get(type).arguments;
  return std::any_of(parts.begin(), parts.end(), [&](TypeId part) { return has_reported(part); });
}

void Assignability::hint_mismatch(diagnostics::Diagnostic& report, NodeId node, TypeId from, TypeId to) const {
  const TypeKind to_kind = types_.kind(to);
  const TypeKind from_kind = types_.kind(types_.base(from));
  const TypeId to_base = types_.base(to);
  if (hint_block(report, node, from)) return;
  if (from_kind == TypeKind::Secret) {
    report.hint("pass it to a `secret` parameter of an `extern fn`; only an extern can read a secret");
  } else if (to_kind == TypeKind::Secret) {
    report.hint("get the secret from an argument, `ask<secret …>(…)`, or an `extern fn` that returns a `secret`");
  } else if (from == TypeTable::any_option && to_kind != TypeKind::Option) {
    report.hint(fmt::format("`None` is a value of `Option<{0}>`, not of `{0}`", describe(to)));
  } else if (from_kind != to_kind && !handling_hint(from_kind).empty()) {
    report.hint(std::string(handling_hint(from_kind)));
  } else if (to_kind == TypeKind::Tools) {
    report.hint("a set of functions is written `tools { NAME, NAME }`");
  } else if (to_kind == TypeKind::String && is_literal_number(tree().kind(node))) {
    report.hint(fmt::format("write it as a text: `\"{}\"`", tree().text(node)));
  } else if (to_kind == TypeKind::String && from_kind != TypeKind::Unit && from_kind != TypeKind::Tools) {
    report.hint("convert it with `.to_string()`");
  } else if (to_kind == TypeKind::Union && is_integer(types_, to)) {
    hint_integer_union(report, node, from, to);
  } else if ((to_kind == TypeKind::Text || to_kind == TypeKind::Union) && is_text(types_, from)) {
    report.hint(conversion_hint(to));
  } else if (is_number(types_, to_base) && is_number(types_, from) && types_.kind(to_base) != TypeKind::Union) {
    hint_number(report, node, from, to_base);
  } else if (is_text(types_, from) && is_number(types_, to_base) && types_.kind(to_base) != TypeKind::Union) {
    hint_text_for_number(report, node, from, to_base);
  } else if (is_text(types_, from) && types_.kind(to_base) == TypeKind::Enum) {
    hint_text_for_case(report, node, to_base);
  } else if (to_kind == TypeKind::Option && is_assignable(from, types_.get(to).arguments[0])) {
    report.hint("wrap it: `Some(…)`");
  } else if (to_kind == TypeKind::Result && is_assignable(from, types_.get(to).arguments[0])) {
    report.hint("wrap it: `Ok(…)`");
  } else if (from_kind == TypeKind::Unit && tree().kind(node) == NodeKind::Block && !tree().first(node).exists() &&
             (to_kind == TypeKind::Map || to_kind == TypeKind::List)) {
    report.hint(to_kind == TypeKind::Map ? "an empty map is written `Map::new()`" : "an empty list is written `[]`");
  } else if (from_kind == TypeKind::Unit && tree().kind(node) == NodeKind::Block) {
    report.hint("end the block with an expression without a `;`");
  } else if (to_kind == TypeKind::Struct) {
    report.hint(construction_hint(to));
  }
}

/// A value that lowering of a block has made: an item, a message, what the block gives. Returns whether it is one.
bool Assignability::hint_block(diagnostics::Diagnostic& report, NodeId node, TypeId from) const {
  const NodeId value = tree().without_parentheses(node);
  if (!value.exists() || tree().is_written(tree()[value].end_token - 1)) return false;
  const bool is_variable = tree().kind(value) == NodeKind::NameExpression;
  report.hint(is_variable ? fmt::format("it has the type `{}`: convert it, or declare that type", describe(from))
                          : fmt::format("the block gives a `{}`: name a field of that type", describe(from)));
  return true;
}

void Assignability::hint_handling(diagnostics::Diagnostic& report, TypeId type) const {
  if (const std::string_view hint = handling_hint(types_.kind(type)); !hint.empty()) report.hint(std::string(hint));
}

/// A text or a number where one of certain integers is expected.
void Assignability::hint_integer_union(diagnostics::Diagnostic& report, NodeId node, TypeId from, TypeId to) const {
  if (is_number(types_, from)) {
    report.hint(conversion_hint(to, types_.kind(types_.base(from)) == TypeKind::I64 ? "number" : "number as i64"));
  } else if (is_text(types_, from) && types_.kind(types_.base(from)) == TypeKind::Union) {
    report.hint("choose a number for each of its texts with `match`");
  } else if (is_text(types_, from) && tree().kind(node) != NodeKind::StringExpression) {
    report.hint(conversion_hint(to, "text.parse<i64>()"));
  } else if (is_text(types_, from)) {
    const auto text = syntax::plain_string(tree(), node);
    const auto& values = std::get<std::vector<std::int64_t>>(types_.union_type(to).literals);
    const auto is_meant = [&](std::int64_t value) { return text == std::to_string(value); };
    if (std::ranges::any_of(values, is_meant))
      report.hint(fmt::format("remove the quotation marks: `{}`", *text)).fix = {tree().span(node), *text};
  }
}

/// A literal is written as a number, and the value of a variable is parsed. A union's texts need not be numbers.
void Assignability::hint_text_for_number(diagnostics::Diagnostic& report, NodeId node, TypeId from, TypeId to) const {
  const std::string type = describe(to);
  if (types_.kind(types_.base(from)) == TypeKind::Union) {
    report.hint("choose a number for each of its texts with `match`");
  } else if (tree().kind(node) != NodeKind::StringExpression) {
    report.hint(fmt::format("parse the number with `.parse<{}>()`", type));
  } else if (const auto text = syntax::plain_string(tree(), node); text && is_number_of(*text, types_.kind(to))) {
    report.hint(fmt::format("remove the quotation marks: `{}`", *text)).fix = {tree().span(node), *text};
  }
}

/// `"Red"` for `Color::Red`.
void Assignability::hint_text_for_case(diagnostics::Diagnostic& report, NodeId node, TypeId to) const {
  if (tree().kind(node) != NodeKind::StringExpression) return;
  const auto text = syntax::plain_string(tree(), node);
  if (!text) return;
  std::vector<std::string_view> candidates;
  for (const Variant& variant : types_.enum_type(to).variants) candidates.push_back(variant.name);
  const bool is_case = std::ranges::find(candidates, *text) != candidates.end();
  const auto meant = is_case ? text : diagnostics::find_nearest(*text, candidates);
  if (meant) report.hint(fmt::format("write the case as `{}::{}`", describe_as_code(to), *meant));
}

std::string Assignability::construction_hint(TypeId type) const {
  constexpr std::size_t shown_fields_max = 4;
  const std::vector<Field>& fields = types_.struct_type(types_.base(type)).fields;
  std::string values;
  for (std::size_t at = 0; at < fields.size() && at < shown_fields_max; ++at) {
    values += fmt::format("{}{}: …", at == 0 ? "" : ", ", fields[at].name);
  }
  if (fields.size() > shown_fields_max) values += ", …";
  return fmt::format("construct it with `{} {{{}}}`", describe_as_code(type), values.empty() ? "" : " " + values + " ");
}

/// Between numbers; a literal is written differently instead.
void Assignability::hint_number(diagnostics::Diagnostic& report, NodeId node, TypeId from, TypeId to) const {
  const TypeKind from_kind = types_.kind(types_.base(from));
  const TypeKind to_kind = types_.kind(to);
  const std::string cast = fmt::format("as {}", describe(to));
  if (to_kind == TypeKind::F64 && tree().kind(node) == NodeKind::IntegerExpression) {
    report.hint(fmt::format("write the number as `{}.0`", tree().text(node)));
  } else if (from_kind == TypeKind::F64 && to_kind != TypeKind::F64) {
    report.hint(fmt::format(
        "convert it with `{}`, which drops the fraction and fails at run time if the value does not fit", cast));
  } else if (to_kind == TypeKind::I32) {
    report.hint(fmt::format("convert it with `{}`, which fails at run time if the value does not fit", cast));
  } else {
    report.hint(fmt::format("convert it with `{}`", cast));
  }
}

TypeId Assignability::substitute(TypeId type, std::span<const TypeId> parameters, std::span<const TypeId> arguments) {
  if (parameters.empty()) return type;
  for (std::size_t at = 0; at < parameters.size() && at < arguments.size(); ++at) {
    if (type == parameters[at]) return arguments[at];
  }
  return map_type(types_, type, [&](TypeId part) { return substitute(part, parameters, arguments); });
}

std::optional<TypeId> Assignability::common_type(TypeId left, TypeId right) {
  if (is_assignable(left, right)) return right;
  if (is_assignable(right, left)) return left;
  const TypeId left_base = types_.base(left);
  const TypeId right_base = types_.base(right);
  if (is_text(types_, left) && is_text(types_, right)) return TypeTable::string;
  if (left_base == right_base) return left_base;
  return std::nullopt;
}

/// Whether the answerer can give a value of the type. A type parameter is replaced when the call is
/// compiled.
bool Assignability::is_answerable(TypeId type, Answerer answerer) const {
  const auto is_wrong = [&](TypeId part) {
    const TypeKind kind = types_.kind(part);
    return kind != TypeKind::Parameter && kind != TypeKind::Error && is_unanswerable(types_, part, answerer);
  };
  return !find_within(types_, type, TypeParts::OfValues, is_wrong).exists();
}

std::string Assignability::conversion_hint(TypeId type, std::string_view given) const {
  const bool has_name = types_.kind(type) != TypeKind::Union || !types_.union_type(type).name.empty();
  return has_name ? fmt::format("convert with `{}({})`", describe_as_code(type), given)
                  : fmt::format("name the union with `type`, then convert with `Name({})`", given);
}

std::string Assignability::conversion_hint(TypeId type) const {
  return conversion_hint(type, is_integer(types_, type) ? "number" : "text");
}

}  // namespace tenon::types
