// What may be used where: assignability, checks at run time, substitution of type parameters.

#include "types/check/assignability.h"

#include <re2/re2.h>
#include <algorithm>

#include "diagnostics/kinds.h"
#include "syntax/literals.h"
#include "types/check/body_checker.h"
#include "types/check/names_apart.h"
#include "types/declarations/numeric_range.h"
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

}  // namespace

/// Of two refinements of one base, or two unions: whether each value of `from` is one of `to`.
bool Assignability::is_subset(TypeId from, TypeId to) const {
  if (types_.kind(from) == TypeKind::Union && types_.kind(to) == TypeKind::Union) {
    return std::visit(
        [&](const auto& inner) {
          using Literals = std::decay_t<decltype(inner)>;
          const auto* outer = std::get_if<Literals>(&types_.union_type(to).literals);
          return outer != nullptr && std::all_of(inner.begin(), inner.end(), [&](const auto& literal) {
                   return std::find(outer->begin(), outer->end(), literal) != outer->end();
                 });
        },
        types_.union_type(from).literals);
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
  const auto [found, expected] = describe_apart(program_, types_, from, to);
  auto& report = diagnostics_.report(diagnostics::TypeMismatch, tree().span(node), found, expected);
  const TypeKind to_kind = types_.kind(to);
  const TypeKind from_kind = types_.kind(types_.base(from));
  const TypeId to_base = types_.base(to);
  if (from_kind == TypeKind::Secret) {
    report.hint("pass it to a `secret` parameter of an `extern fn`; only an extern can read a secret");
  } else if (to_kind == TypeKind::Secret) {
    report.hint("get the secret from an argument, `ask<secret …>(…)`, or an `extern fn` that returns a `secret`");
  } else if (from_kind == TypeKind::Option && to_kind != TypeKind::Option) {
    report.hint("the value may be `None`: handle that with `??`, `if let Some(x) = …` or `.unwrap()`");
  } else if (to_kind == TypeKind::String) {
    report.hint("convert it with `.to_string()`");
  } else if ((to_kind == TypeKind::Text || to_kind == TypeKind::Union) && is_text(types_, from)) {
    report.hint(conversion_hint(to));
  } else if (is_number(types_, to_base) && is_number(types_, from) && types_.kind(to_base) != TypeKind::Union) {
    const bool narrows = (from_kind == TypeKind::I64 && types_.kind(to_base) == TypeKind::I32) ||
                         (from_kind == TypeKind::F64 && types_.kind(to_base) != TypeKind::F64);
    const std::string cast = fmt::format("as {}", describe(to_base));
    report.hint(narrows ? fmt::format("convert it with `{}`, which fails at run time if the value does not fit", cast)
                        : fmt::format("convert it with `{}`", cast));
  } else if (to_kind == TypeKind::Option && is_assignable(from, types_.get(to).arguments[0])) {
    report.hint("wrap it: `Some(…)`");
  } else if (from_kind == TypeKind::Unit) {
    report.hint("end the block with an expression without a `;`");
  }
  return false;
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
  const TypeId part = find_unanswerable(types_, type, answerer);
  return !part.exists() || types_.kind(part) == TypeKind::Parameter || types_.kind(part) == TypeKind::Error;
}

std::string Assignability::conversion_hint(TypeId type) const {
  const bool has_name = types_.kind(type) != TypeKind::Union || !types_.union_type(type).name.empty();
  return has_name ? "`" + describe(type) + "(…)` makes one of a text"
                  : "give the union a name with `type Name = …`: `Name(…)` makes one of a text";
}

}  // namespace tenon::types
