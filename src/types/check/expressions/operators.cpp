// Operators: arithmetic, comparisons, `??`, `as`.

#include "types/check/expressions/operators.h"

#include <algorithm>

#include "base/utf8.h"
#include "diagnostics/kinds.h"
#include "diagnostics/nearest.h"
#include "syntax/literals.h"
#include "types/check/body_checker.h"
#include "types/table/type_parts.h"

namespace tenon::types {

TypeId OperatorChecker::check_unary(NodeId node, Expectation expected) {
  const NodeId operand = tree().first(node);
  if (!operand.exists()) return TypeTable::error;
  const bool minus = tree().main_text(node) == "-";
  if (minus && tree().kind(operand) == NodeKind::IntegerExpression) {
    const TypeId type = checker_.expressions.check_integer(operand, expected, true);
    record(operand, type);
    return type;
  }
  // What is expected guides literals; whether the type fits is judged below.
  const TypeId type = check_kind(operand, minus && expected.has_type() && is_number(types_, expected.type)
                                              ? Expectation::value(types_.base(expected.type))
                                              : Expectation::any());
  record(operand, type);
  if (type == TypeTable::error || type == TypeTable::never) return type;
  const TypeId base = types_.base(type);
  if (minus ? is_number(types_, base) && types_.kind(base) != TypeKind::Union : base == TypeTable::boolean) return base;
  auto& report = diagnostics_.report(diagnostics::UnaryOperatorType, tree().span(node),
                                     std::string(tree().main_text(node)), describe(type));
  checker_.assignability.hint_handling(report, base);
  return TypeTable::error;
}

TypeId OperatorChecker::check_binary(NodeId node, Expectation expected) {
  const NodeId left = tree().first(node);
  const NodeId right = left.exists() ? tree().next(left) : NodeId{};
  if (!right.exists()) return TypeTable::error;
  const TokenKind operation = tree().tokens[tree()[node].main_token].kind;
  if (operation == TokenKind::QuestionQuestion) return check_default(node, expected);
  const bool logic = operation == TokenKind::AmpersandAmpersand || operation == TokenKind::PipePipe;
  const bool arithmetic = operation == TokenKind::Plus || operation == TokenKind::Minus ||
                          operation == TokenKind::Star || operation == TokenKind::Slash ||
                          operation == TokenKind::Percent;
  if (logic) {
    checker_.statements.check_condition(left);
    checker_.statements.check_condition(right);
    return TypeTable::boolean;
  }
  // A literal takes the other side's type.
  const auto is_literal = [&](NodeId side) {
    while (tree().kind(side) == NodeKind::UnaryExpression || tree().kind(side) == NodeKind::ParenthesizedExpression) {
      side = tree().first(side);
      if (!side.exists()) return false;
    }
    return tree().kind(side) == NodeKind::IntegerExpression || tree().kind(side) == NodeKind::NameExpression
               ? tree().kind(side) == NodeKind::IntegerExpression || tree().text(side) == "None"
               : tree().kind(side) == NodeKind::StringExpression || tree().kind(side) == NodeKind::ListExpression;
  };
  Expectation hint = Expectation::any();
  if (arithmetic && expected.has_type() && is_number(types_, expected.type))
    hint = Expectation::value(types_.base(expected.type));
  if (arithmetic && expected.has_type() && types_.kind(types_.base(expected.type)) == TypeKind::List)
    hint = Expectation::value(expected.type);
  const auto is_set = [&](NodeId side) {
    const NodeId inner = tree().without_parentheses(side);
    return inner.exists() && tree().kind(inner) == NodeKind::ToolsExpression;
  };
  const bool joins_set = operation == TokenKind::Plus && is_set(right) && !is_set(left);
  const bool right_first = joins_set || (is_literal(left) && !is_literal(right) && hint.kind == Expectation::Kind::Any);
  const NodeId first = right_first ? right : left;
  const NodeId second = right_first ? left : right;
  const TypeId first_type = check_kind(first, hint);
  record(first, first_type);
  Expectation second_hint = hint;
  const TypeId first_base = types_.base(first_type);
  if (operation == TokenKind::Plus && types_.kind(first_base) == TypeKind::Tools)
    return check_value(second, first_base);
  if (is_number(types_, first_base) || types_.kind(first_base) == TypeKind::Option ||
      types_.kind(first_base) == TypeKind::List || (!arithmetic && types_.kind(first_base) == TypeKind::Union)) {
    // The hint guides literals; whether the types fit is judged below.
    second_hint = {Expectation::Kind::Value, first_base};
  }
  const TypeId second_type = check_kind(second, second_hint);
  record(second, second_type);
  const TypeId left_type = right_first ? second_type : first_type;
  const TypeId right_type = right_first ? first_type : second_type;
  if (left_type == TypeTable::error || right_type == TypeTable::error) return TypeTable::error;
  if (left_type == TypeTable::never || right_type == TypeTable::never) return TypeTable::never;
  const auto plain = [&](TypeId type) {
    const TypeId base = types_.base(type);
    if (types_.kind(base) == TypeKind::Union) return is_text(types_, base) ? TypeTable::string : TypeTable::i64;
    return types_.kind(base) == TypeKind::Text ? TypeTable::string : base;
  };
  const TypeId left_plain = plain(left_type);
  const TypeId right_plain = plain(right_type);
  const auto mismatch = [&] {
    // `a < b < c` has been reported by the parser.
    const bool compares_comparison =
        !arithmetic && left_plain == TypeTable::boolean && tree().kind(left) == NodeKind::BinaryExpression;
    if (compares_comparison) return TypeTable::boolean;
    auto& report = diagnostics_.report(diagnostics::OperatorTypes, tree().main_span(node),
                                       std::string(tree().main_text(node)), describe(left_type), describe(right_type));
    hint_operands(report, node, left_plain, right_plain);
    return arithmetic ? TypeTable::error : TypeTable::boolean;
  };
  if (arithmetic) {
    if (is_number(types_, left_plain) && left_plain == right_plain) return left_plain;
    if (operation == TokenKind::Plus && left_plain == TypeTable::string && right_plain == TypeTable::string)
      return left_plain;
    if (operation == TokenKind::Plus && types_.kind(left_plain) == TypeKind::List &&
        types_.kind(right_plain) == TypeKind::List) {
      if (const auto common = checker_.assignability.common_type(left_plain, right_plain)) return *common;
    }
    return mismatch();
  }
  const bool equality = operation == TokenKind::EqualEqual || operation == TokenKind::BangEqual;
  if (equality) {
    if (holds_secret(types_, left_type) || holds_secret(types_, right_type)) {
      const bool is_left = holds_secret(types_, left_type);
      diagnostics_
          .report(diagnostics::SecretShown, tree().span(is_left ? left : right),
                  describe(is_left ? left_type : right_type), "compared")
          .hint("compare it in an `extern fn`");
      return TypeTable::boolean;
    }
    const bool comparable = is_assignable(left_plain, right_plain) || is_assignable(right_plain, left_plain);
    const bool has_equality = left_plain != TypeTable::context && types_.kind(left_plain) != TypeKind::Tools;
    return comparable && has_equality ? TypeTable::boolean : mismatch();
  }
  if (left_plain == right_plain && (is_number(types_, left_plain) || left_plain == TypeTable::string))
    return TypeTable::boolean;
  return mismatch();
}

/// How operands of these types can be made to fit each other.
void OperatorChecker::hint_operands(diagnostics::Diagnostic& report, NodeId node, TypeId left_type,
                                    TypeId right_type) const {
  const TokenKind operation = tree().tokens[tree()[node].main_token].kind;
  const bool is_left_option = types_.kind(left_type) == TypeKind::Option;
  if (is_number(types_, left_type) && is_number(types_, right_type)) {
    hint_wider(report, node, left_type, right_type);
  } else if (is_left_option || types_.kind(right_type) == TypeKind::Option) {
    const TypeId option = is_left_option ? left_type : right_type;
    const TypeId other = is_left_option ? right_type : left_type;
    const bool is_compared = operation == TokenKind::EqualEqual || operation == TokenKind::BangEqual;
    report.hint(is_compared && is_assignable(other, types_.get(option).arguments[0])
                    ? "the value may be `None`: compare it with `Some(…)`"
                    : std::string(option_hint));
  } else if (types_.kind(left_type) == TypeKind::Result || types_.kind(right_type) == TypeKind::Result) {
    report.hint(std::string(result_hint));
  } else if (operation == TokenKind::Plus && (left_type == TypeTable::string || right_type == TypeTable::string)) {
    report.hint("convert the value with `.to_string()`, or write it in a template string: \"{{ … }}\"");
  }
}

/// Of two numbers of different types, the one that is converted is the one of which no value is lost.
void OperatorChecker::hint_wider(diagnostics::Diagnostic& report, NodeId node, TypeId left_type,
                                 TypeId right_type) const {
  const NodeId left = tree().first(node);
  const NodeId right = tree().next(left);
  const auto width = [&](TypeId type) {
    return types_.kind(type) == TypeKind::F64 ? 2 : types_.kind(type) == TypeKind::I64 ? 1 : 0;
  };
  const bool is_left_wider = width(left_type) > width(right_type);
  const NodeId narrow = is_left_wider ? right : left;
  const TypeId wide = is_left_wider ? left_type : right_type;
  if (wide == TypeTable::f64 && tree().kind(narrow) == NodeKind::IntegerExpression) {
    report.hint(fmt::format("write the number as `{}.0`", tree().text(narrow)));
  } else {
    report.hint(
        fmt::format("convert the `{}` with `as {}`", describe(is_left_wider ? right_type : left_type), describe(wide)));
  }
}

/// `option ?? value`, `option ?? option`.
TypeId OperatorChecker::check_default(NodeId node, Expectation expected) {
  const NodeId left = tree().first(node);
  const NodeId right = tree().next(left);
  const TypeId option = check_expression(left, Expectation::any());
  if (option == TypeTable::error || option == TypeTable::never) {
    check_expression(right, expected.has_type() ? expected : Expectation::any());
    return option;
  }
  if (types_.kind(option) != TypeKind::Option) {
    const bool is_result = types_.kind(option) == TypeKind::Result;
    diagnostics_.report(diagnostics::FallbackWithoutOption, tree().main_span(node), describe(option))
        .hint(is_result ? "use `.unwrap_or(…)` instead" : "remove it: the value is never `None`");
    check_expression(right, Expectation::any());
    return is_result ? types_.get(option).arguments[0] : option;
  }
  const TypeId inner = types_.get(option).arguments[0];
  const TypeId other = check_kind(right, Expectation::value(inner));
  record(right, other);
  if (types_.kind(other) == TypeKind::Option && types_.kind(inner) != TypeKind::Option) {
    if (const auto common = checker_.assignability.common_type(option, other)) return *common;
  }
  if (const auto common = checker_.assignability.common_type(inner, other)) return *common;
  coerce(right, other, inner);
  return inner;
}

TypeId OperatorChecker::check_cast(NodeId node) {
  const NodeId value = tree().first(node);
  const NodeId target = value.exists() ? tree().next(value) : NodeId{};
  if (!target.exists()) return TypeTable::error;
  const TypeId to = body_.resolver.resolve_type(target);
  const bool literal = tree().kind(value) == NodeKind::IntegerExpression;
  const TypeId from = check_expression(
      value, literal && is_integer(types_, to) ? Expectation::value(types_.base(to)) : Expectation::any());
  if (from == TypeTable::error || to == TypeTable::error) return to;
  const bool numbers = is_number(types_, from) && is_number(types_, to) && types_.kind(to) != TypeKind::Union &&
                       types_.kind(to) != TypeKind::Refined;
  if (!numbers) {
    auto& report = diagnostics_.report(diagnostics::InvalidCast, tree().span(node), describe(from), describe(to));
    if (is_text(types_, from) && is_number(types_, to)) {
      report.hint(fmt::format("parse the number with `.parse<{}>()`", describe(to)));
    } else if (!handling_hint(types_.kind(types_.base(from))).empty()) {
      report.hint(std::string(handling_hint(types_.kind(types_.base(from)))));
    } else if (types_.base(to) == TypeTable::string) {
      report.hint("convert it with `.to_string()`");
    } else {
      report.hint("`as` only converts between `i32`, `i64` and `f64`");
    }
    return TypeTable::error;
  }
  return to;
}

}  // namespace tenon::types
