// Expressions: literals, names, operators, aggregates, access.

#include <re2/re2.h>

#include <algorithm>

#include "base/utf8.h"
#include "diagnostics/kinds.h"
#include "diagnostics/nearest.h"
#include "syntax/literals.h"
#include "types/check/checker.h"
#include "types/check/names_apart.h"
#include "types/type_parts.h"

namespace tenon::types {

TypeId Checker::check_expression(NodeId node, Wanted wanted) {
  const std::size_t errors = diagnostics_.error_count();
  const TypeId type = refuse_large_type(check_kind(node, wanted), node);
  record(node, type);
  // What gives the value of something inside was held against what is wanted there.
  const NodeKind kind = tree().kind(node);
  const bool is_inside = kind == NodeKind::Block || kind == NodeKind::IfExpression ||
                         kind == NodeKind::MatchExpression || kind == NodeKind::SelectExpression;
  if (is_inside && errors != diagnostics_.error_count()) return type;
  if (wanted.kind == Wanted::Kind::Value) {
    coerce(node, type, wanted.type);
  } else if (wanted.kind == Wanted::Kind::Body && type != TypeTable::unit) {
    coerce(node, type, wanted.type);
  }
  return type;
}

/// The value goes where a `type` is wanted; gives that type.
TypeId Checker::check_value(NodeId node, TypeId type) {
  const TypeId given = check_expression(node, Wanted::value(type));
  return given == TypeTable::never ? given : type;
}

TypeId Checker::check_kind(NodeId node, Wanted wanted) {
  switch (tree().kind(node)) {
    case NodeKind::IntegerExpression:
      return check_integer(node, wanted, false);
    case NodeKind::FloatExpression:
      if (!syntax::float_value(tree().text(node))) {
        diagnostics_.report(diagnostics::NumberOutOfRange, tree().span(node), std::string(tree().text(node)), "f64");
      }
      return TypeTable::f64;
    case NodeKind::BooleanExpression:
      return TypeTable::boolean;
    case NodeKind::StringExpression:
      return check_string(node, wanted);
    case NodeKind::NameExpression:
      return check_name(node, wanted);
    case NodeKind::HoleExpression:
      diagnostics_.report(diagnostics::MisplacedHole, tree().span(node));
      return TypeTable::error;
    case NodeKind::ParenthesizedExpression: {
      const NodeId inner = tree().first(node);
      if (!inner.exists()) return TypeTable::error;
      // What is wanted of the whole is wanted of the inside; the inside reports.
      const TypeId type = check_kind(inner, wanted);
      record(inner, type);
      return type;
    }
    case NodeKind::TupleExpression:
      return check_tuple(node, wanted);
    case NodeKind::ListExpression:
      return check_list(node, wanted);
    case NodeKind::StructExpression:
      return check_struct(node);
    case NodeKind::UnaryExpression:
      return check_unary(node, wanted);
    case NodeKind::BinaryExpression:
      return check_binary(node, wanted);
    case NodeKind::RangeExpression:
      return check_range(node);
    case NodeKind::CastExpression:
      return check_cast(node);
    case NodeKind::CallExpression:
      return check_call(node, wanted);
    case NodeKind::MethodCallExpression:
      return check_method_call(node, wanted);
    case NodeKind::FieldExpression:
      return check_field(node);
    case NodeKind::IndexExpression:
      return check_index(node);
    case NodeKind::IfExpression:
      return check_if(node, wanted);
    case NodeKind::MatchExpression:
      return check_match(node, wanted);
    case NodeKind::SelectExpression:
      return check_select(node, wanted);
    case NodeKind::ToolsExpression:
      return check_tools(node);
    case NodeKind::ForExpression:
      return check_for(node, wanted);
    case NodeKind::ParallelExpression:
      return check_parallel(node);
    case NodeKind::Block:
      return check_block(node, wanted);
    case NodeKind::TryExpression:
      return check_try(node, wanted);
    case NodeKind::CatchExpression:
      return check_catch(node, wanted);
    case NodeKind::FinallyExpression:
      return check_finally(node, wanted);
    case NodeKind::BudgetExpression:
      return check_budget(node, wanted);
    case NodeKind::PursueExpression:
      return check_pursue(node, wanted);
    case NodeKind::StrategyExpression:
      return check_strategy(node, wanted);
    case NodeKind::ReturnExpression:
      return check_return(node);
    case NodeKind::BreakExpression:
    case NodeKind::ContinueExpression: {
      const std::string word(tree().text(node));
      if (depth_.finally_blocks > 0 && depth_.loops == 0) {
        diagnostics_.report(diagnostics::JumpOutOfFinally, tree().span(node), word);
      } else if (in_branch_ && depth_.loops == 0) {
        diagnostics_.report(diagnostics::JumpOutOfBranch, tree().span(node), word);
      } else if (depth_.loops == 0 || depth_.closures > 0) {
        diagnostics_.report(diagnostics::OutsideLoop, tree().span(node), word);
      }
      return TypeTable::never;
    }
    case NodeKind::ClosureExpression:
      diagnostics_.report(diagnostics::MisplacedClosure, tree().span(node));
      return TypeTable::error;
    default:
      return TypeTable::error;  // Error: told by the parser
  }
}

TypeId Checker::check_integer(NodeId node, Wanted wanted, bool negative) {
  TypeId type = TypeTable::i32;
  TypeId target;
  if (wanted.has_type() && (is_integer(wanted.type))) {
    target = wanted.type;
    type = types_.base(wanted.type);
  }
  const std::string shown = (negative ? "-" : "") + std::string(tree().text(node));
  const auto magnitude = syntax::integer_value(tree().text(node));
  if (!magnitude && magnitude.error() == syntax::NumberError::Malformed) {
    diagnostics_.report(diagnostics::MalformedNumber, tree().span(node), shown).hint("add digits");
    return type;
  }
  const bool is_i32 = types_.kind(type) == TypeKind::I32;
  const std::uint64_t largest = is_i32 ? std::uint64_t{INT32_MAX} : std::uint64_t{INT64_MAX};
  if (!magnitude || *magnitude > largest + (negative ? 1U : 0U)) {
    auto& report = diagnostics_.report(diagnostics::NumberOutOfRange, tree().span(node), shown,
                                       describe(is_i32 ? TypeTable::i32 : TypeTable::i64));
    if (is_i32 && magnitude && *magnitude <= std::uint64_t{INT64_MAX}) report.hint("use the type `i64`");
    return type;
  }
  const auto value = negative ? static_cast<std::int64_t>(0 - *magnitude) : static_cast<std::int64_t>(*magnitude);
  if (!target.exists()) return type;
  if (types_.kind(type) == TypeKind::Union) {
    const auto* literals = std::get_if<std::vector<std::int64_t>>(&types_.union_type(type).literals);
    if (literals == nullptr) return TypeTable::i32;
    if (!cases_.find(type, std::to_string(value))) {
      diagnostics_.report(diagnostics::LiteralNotInType, tree().span(node), shown, describe(target));
    }
    return target;
  }
  if (types_.kind(target) == TypeKind::Refined) {
    const Refinement& refinement = types_.refinement(target);
    const auto* low = std::get_if<std::int64_t>(&refinement.low);
    const auto* high = std::get_if<std::int64_t>(&refinement.high);
    if ((low != nullptr && value < *low) || (high != nullptr && value > *high)) {
      diagnostics_.report(diagnostics::LiteralNotInType, tree().span(node), shown, describe(target));
    }
    return target;
  }
  return type;
}

TypeId Checker::check_string(NodeId node, Wanted wanted) {
  check_template_pieces(node);
  if (!wanted.has_type()) return TypeTable::string;
  // A literal is looked at now, so that nothing is left to check when the program runs.
  const std::optional<std::string> text = syntax::plain_string(tree(), node);
  if (!text) return TypeTable::string;
  const TypeId base = types_.base(wanted.type);
  const std::string shown = "\"" + text->substr(0, 60) + "\"";
  bool fits = true;
  std::optional<std::string> nearest;
  if (types_.kind(base) == TypeKind::Union) {
    const auto* literals = std::get_if<std::vector<std::string>>(&types_.union_type(base).literals);
    if (literals == nullptr) return TypeTable::string;
    fits = cases_.find(base, *text).has_value();
    if (!fits && !diagnostics_.is_full()) {
      const std::vector<std::string_view> candidates(literals->begin(), literals->end());
      nearest = diagnostics::find_nearest(*text, candidates);
    }
  } else if (types_.kind(wanted.type) != TypeKind::Refined || base != TypeTable::string) {
    return TypeTable::string;
  }
  if (types_.kind(wanted.type) == TypeKind::Refined) {
    const Refinement& refinement = types_.refinement(wanted.type);
    const std::uint64_t length = count_code_points(*text);
    fits = fits && (!refinement.length_low || length >= *refinement.length_low) &&
           (!refinement.length_high || length <= *refinement.length_high) &&
           (!refinement.pattern || RE2::FullMatch(*text, *refinement.pattern));
  }
  if (!fits) {
    auto& report = diagnostics_.report(diagnostics::LiteralNotInType, tree().span(node), shown, describe(wanted.type));
    if (nearest) report.hint(fmt::format("did you mean \"{}\"?", *nearest));
  }
  return wanted.type;
}

void Checker::report_unknown_name(NodeId node, std::string_view name, source::Span span, NameUse use) {
  record(node, TypeTable::error);
  if (!reported_.unknown_names.emplace(name).second) return;
  if (diagnostics_.is_full()) {
    diagnostics_.report(diagnostics::UnknownName, span, std::string(name));
    return;
  }
  std::vector<std::string_view> values, types;
  for (const auto& [local, id] : scope_) values.push_back(local);
  for (const auto& [function, id] : module_->functions) values.push_back(function);
  for (const auto& [native, id] : module_->externs) values.push_back(native);
  for (const auto& [imported, from] : module_->imports) values.push_back(imported);
  for (const auto& [type, id] : module_->type_names) types.push_back(type);
  std::sort(values.begin(), values.end());
  std::sort(types.begin(), types.end());
  // Of names that are equally near, the first is taken: one of the kind that is wanted.
  std::vector<std::string_view>& candidates = use == NameUse::Type ? types : values;
  const std::vector<std::string_view>& others = use == NameUse::Type ? values : types;
  candidates.insert(candidates.end(), others.begin(), others.end());
  auto& report = diagnostics_.report(diagnostics::UnknownName, span, std::string(name));
  if (name == "null" || name == "nil" || name == "undefined") {
    report.hint("no value is written `None`").fix = {span, "None"};
  } else if (const auto nearest = diagnostics::find_nearest(name, candidates)) {
    report.hint(fmt::format("did you mean `{}`?", *nearest));
    // A type where a value is needed would be the next mistake.
    const bool fits = use != NameUse::Value || !module_->type_names.contains(*nearest);
    if (fits) report.fix = {span, *nearest};
  }
}

void Checker::report_not_in_module(source::Span span, ModuleId from, const std::string& shown,
                                   const std::string& name) {
  auto& report = diagnostics_.report(diagnostics::NotInModule, span, shown, name);
  if (diagnostics_.is_full()) return;
  const syntax::SyntaxTree& other = *program_.modules[from.index].tree;
  std::vector<std::string_view> candidates;
  for (NodeId item = other.first(other.root); item.exists(); item = other.next(item)) {
    const NodeKind kind = other.kind(item);
    if (kind == NodeKind::FunctionItem || kind == NodeKind::ExternItem || kind == NodeKind::StructItem ||
        kind == NodeKind::EnumItem || kind == NodeKind::AgentItem || kind == NodeKind::TypeItem) {
      candidates.push_back(other.main_text(item));
    }
  }
  std::sort(candidates.begin(), candidates.end());
  if (const auto nearest = diagnostics::find_nearest(name, candidates)) {
    report.hint(fmt::format("did you mean `{}`?", *nearest)).fix = {span, *nearest};
  }
}

TypeId Checker::check_name(NodeId node, Wanted wanted) {
  const std::vector<syntax::TokenIndex> path = tree().path(node);
  // A name that is missing behind `::` has been told by the parser.
  if (path.empty() || tree().tokens[tree()[node].end_token - 1].kind == TokenKind::ColonColon) return TypeTable::error;
  const std::string name(tree().text(path.back()));
  if (path.size() == 1) {
    if (const auto local = find_local(name)) {
      facts(node).target = {TargetKind::Local, local->index, 0};
      return program_.locals[local->index].type;
    }
    if (name == "None") {
      if (wanted.has_type() && types_.kind(types_.base(wanted.type)) == TypeKind::Option) {
        facts(node).target = {TargetKind::EnumCase, 0, 0};
        return types_.base(wanted.type);
      }
      facts(node).target = {TargetKind::EnumCase, 0, 0};
      // Comparing with None needs no more than that it is an Option.
      return TypeTable::any_option;
    }
    if (find_function(name) || find_extern(name) || find_type(name)) {
      diagnostics_.report(diagnostics::NotAValue, tree().span(node), name).hint(fmt::format("call it: `{}(…)`", name));
      return TypeTable::error;
    }
    report_unknown_name(node, name, tree().span(node), NameUse::Value);
    return TypeTable::error;
  }
  // `Enum::Case`, `module::Enum::Case`.
  std::string owner(tree().text(path[path.size() - 2]));
  std::optional<TypeId> type = path.size() == 2 ? find_type(owner) : std::nullopt;
  if (path.size() == 3) {
    const auto imported = module_->imports.find(std::string(tree().text(path[0])));
    if (imported != module_->imports.end()) type = find_type_in(imported->second.module, owner);
  }
  if (!type) {
    report_unknown_name(node, owner, tree().span(path[path.size() - 2]), NameUse::Type);
    return TypeTable::error;
  }
  return check_case(node, *type, name, tree().span(path.back()), {}, false);
}

TypeId Checker::check_unary(NodeId node, Wanted wanted) {
  const NodeId operand = tree().first(node);
  if (!operand.exists()) return TypeTable::error;
  const bool minus = tree().main_text(node) == "-";
  if (minus && tree().kind(operand) == NodeKind::IntegerExpression) {
    const TypeId type = check_integer(operand, wanted, true);
    record(operand, type);
    return type;
  }
  const TypeId type = check_expression(operand, minus && wanted.has_type() && is_number(wanted.type)
                                                    ? Wanted::value(types_.base(wanted.type))
                                                    : Wanted::any());
  if (type == TypeTable::error || type == TypeTable::never) return type;
  const TypeId base = types_.base(type);
  if (minus ? is_number(base) && types_.kind(base) != TypeKind::Union : base == TypeTable::boolean) return base;
  diagnostics_.report(diagnostics::UnaryOperatorType, tree().span(node), std::string(tree().main_text(node)),
                      describe(type));
  return TypeTable::error;
}

TypeId Checker::check_binary(NodeId node, Wanted wanted) {
  const NodeId left = tree().first(node);
  const NodeId right = left.exists() ? tree().next(left) : NodeId{};
  if (!right.exists()) return TypeTable::error;
  const TokenKind operation = tree().tokens[tree()[node].main_token].kind;
  if (operation == TokenKind::QuestionQuestion) return check_default(node, wanted);
  const bool logic = operation == TokenKind::AmpersandAmpersand || operation == TokenKind::PipePipe;
  const bool arithmetic = operation == TokenKind::Plus || operation == TokenKind::Minus ||
                          operation == TokenKind::Star || operation == TokenKind::Slash ||
                          operation == TokenKind::Percent;
  if (logic) {
    check_condition(left);
    check_condition(right);
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
  Wanted hint = Wanted::any();
  if (arithmetic && wanted.has_type() && is_number(wanted.type)) hint = Wanted::value(types_.base(wanted.type));
  if (arithmetic && wanted.has_type() && types_.kind(types_.base(wanted.type)) == TypeKind::List)
    hint = Wanted::value(wanted.type);
  const bool right_first = is_literal(left) && !is_literal(right) && hint.kind == Wanted::Kind::Any;
  const NodeId first = right_first ? right : left;
  const NodeId second = right_first ? left : right;
  const TypeId first_type = check_kind(first, hint);
  record(first, first_type);
  Wanted second_hint = hint;
  const TypeId first_base = types_.base(first_type);
  if (is_number(first_base) || types_.kind(first_base) == TypeKind::Option ||
      types_.kind(first_base) == TypeKind::List || (!arithmetic && types_.kind(first_base) == TypeKind::Union)) {
    // The hint guides literals; whether the types fit is judged below.
    second_hint = {Wanted::Kind::Value, first_base};
  }
  const TypeId second_type = check_kind(second, second_hint);
  record(second, second_type);
  const TypeId left_type = right_first ? second_type : first_type;
  const TypeId right_type = right_first ? first_type : second_type;
  if (left_type == TypeTable::error || right_type == TypeTable::error) return TypeTable::error;
  if (left_type == TypeTable::never || right_type == TypeTable::never) return TypeTable::never;
  const auto plain = [&](TypeId type) {
    const TypeId base = types_.base(type);
    if (types_.kind(base) == TypeKind::Union) return is_text(base) ? TypeTable::string : TypeTable::i64;
    return types_.kind(base) == TypeKind::Text ? TypeTable::string : base;
  };
  const TypeId left_plain = plain(left_type);
  const TypeId right_plain = plain(right_type);
  const auto mismatch = [&] {
    // `a < b < c` has been told by the parser.
    const bool compares_comparison =
        !arithmetic && left_plain == TypeTable::boolean && tree().kind(left) == NodeKind::BinaryExpression;
    if (compares_comparison) return TypeTable::boolean;
    auto& report = diagnostics_.report(diagnostics::OperatorTypes, tree().main_span(node),
                                       std::string(tree().main_text(node)), describe(left_type), describe(right_type));
    if (is_number(left_plain) && is_number(right_plain)) {
      report.hint(fmt::format("convert one of them, for example with `as {}`", describe(left_plain)));
    } else if (operation == TokenKind::Plus && (left_plain == TypeTable::string || right_plain == TypeTable::string)) {
      report.hint("convert the value with `.to_string()`, or write it in a template string: \"{{ … }}\"");
    }
    return arithmetic ? TypeTable::error : TypeTable::boolean;
  };
  if (arithmetic) {
    if (is_number(left_plain) && left_plain == right_plain) return left_plain;
    if (operation == TokenKind::Plus && left_plain == TypeTable::string && right_plain == TypeTable::string)
      return left_plain;
    if (operation == TokenKind::Plus && types_.kind(left_plain) == TypeKind::List &&
        types_.kind(right_plain) == TypeKind::List) {
      if (const auto common = common_type(left_plain, right_plain)) return *common;
    }
    const bool joins_tools = operation == TokenKind::Plus && types_.kind(left_plain) == TypeKind::Tools;
    if (joins_tools && left_plain == right_plain) return left_plain;
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
  if (left_plain == right_plain && (is_number(left_plain) || left_plain == TypeTable::string))
    return TypeTable::boolean;
  return mismatch();
}

/// `option ?? value`, `option ?? option`.
TypeId Checker::check_default(NodeId node, Wanted wanted) {
  const NodeId left = tree().first(node);
  const NodeId right = tree().next(left);
  const TypeId option = check_expression(left, Wanted::any());
  if (option == TypeTable::error || option == TypeTable::never) {
    check_expression(right, wanted.has_type() ? wanted : Wanted::any());
    return option;
  }
  if (types_.kind(option) != TypeKind::Option) {
    diagnostics_.report(diagnostics::FallbackWithoutOption, tree().main_span(node), describe(option));
    check_expression(right, Wanted::any());
    return option;
  }
  const TypeId inner = types_.get(option).arguments[0];
  const TypeId other = check_kind(right, Wanted::value(inner));
  record(right, other);
  if (types_.kind(other) == TypeKind::Option && types_.kind(inner) != TypeKind::Option) {
    if (const auto common = common_type(option, other)) return *common;
  }
  if (const auto common = common_type(inner, other)) return *common;
  coerce(right, other, inner);
  return inner;
}

TypeId Checker::check_cast(NodeId node) {
  const NodeId value = tree().first(node);
  const NodeId target = value.exists() ? tree().next(value) : NodeId{};
  if (!target.exists()) return TypeTable::error;
  const TypeId to = resolve_type(target);
  const bool literal = tree().kind(value) == NodeKind::IntegerExpression;
  const TypeId from =
      check_expression(value, literal && is_integer(to) ? Wanted::value(types_.base(to)) : Wanted::any());
  if (from == TypeTable::error || to == TypeTable::error) return to;
  const bool numbers =
      is_number(from) && is_number(to) && types_.kind(to) != TypeKind::Union && types_.kind(to) != TypeKind::Refined;
  if (!numbers) {
    auto& report = diagnostics_.report(diagnostics::InvalidCast, tree().span(node), describe(from), describe(to));
    if (is_text(from) && is_number(to)) {
      report.hint(fmt::format("parse the number with `.parse<{}>()`", describe(to)));
    } else if (types_.base(to) == TypeTable::string) {
      report.hint("convert it with `.to_string()`");
    } else {
      report.hint("`as` only converts between `i32`, `i64` and `f64`");
    }
  }
  return to;
}

TypeId Checker::check_range(NodeId node) {
  TypeId type = TypeTable::i32;
  std::vector<NodeId> sides;
  for (NodeId side = tree().first(node); side.exists(); side = tree().next(side)) sides.push_back(side);
  if (sides.size() != 2) {
    diagnostics_.report(diagnostics::CannotInferType, tree().span(node), "a range without both ends")
        .hint("write `0..n`");
    return TypeTable::error;
  }
  const bool second_first = tree().kind(sides[0]) == NodeKind::IntegerExpression;
  const TypeId known = check_expression(sides[second_first ? 1 : 0], Wanted::any());
  type = types_.base(known);
  if (types_.kind(type) == TypeKind::Union) type = TypeTable::i64;
  if (known != TypeTable::error && !is_integer(type)) {
    diagnostics_.report(diagnostics::TypeMismatch, tree().span(sides[second_first ? 1 : 0]), describe(known), "i32");
    return TypeTable::error;
  }
  check_value(sides[second_first ? 0 : 1], type);
  if (node != walked_range_) {
    diagnostics_.report(diagnostics::MisplacedRange, tree().span(node))
        .hint("write `for i in 0..n`, or a list such as `[0, 1, 2]`");
    return TypeTable::error;
  }
  return types_.range(type);
}

TypeId Checker::check_list(NodeId node, Wanted wanted) {
  TypeId element;
  if (wanted.has_type() && types_.kind(types_.base(wanted.type)) == TypeKind::List) {
    element = types_.get(types_.base(wanted.type)).arguments[0];
  }
  const NodeId first = tree().first(node);
  if (!first.exists()) {
    if (element.exists()) return types_.list(element);
    if (wanted.kind != Wanted::Kind::Nothing && wanted.type != TypeTable::error) {
      diagnostics_.report(diagnostics::CannotInferType, tree().span(node), "an empty list")
          .hint("add a type annotation: `let xs: List<String> = []`");
    }
    return TypeTable::error;
  }
  if (element.exists()) {
    for (NodeId item = first; item.exists(); item = tree().next(item)) check_value(item, element);
    return types_.list(element);
  }
  std::optional<TypeId> joined;
  for (NodeId item = first; item.exists(); item = tree().next(item)) {
    const Wanted hint = joined && is_number(*joined) ? Wanted{Wanted::Kind::Value, *joined} : Wanted::any();
    TypeId type = check_kind(item, hint);
    record(item, type);
    if (refuse_context(type, item, "stored in a list")) type = TypeTable::error;
    if (!joined || *joined == TypeTable::error || *joined == TypeTable::any_option) {
      joined = type;
    } else if (const auto common = common_type(*joined, type)) {
      joined = common;
    } else {
      coerce(item, type, *joined);
    }
  }
  if (*joined == TypeTable::unit) {
    diagnostics_.report(diagnostics::ValueExpected, tree().span(first));
    return TypeTable::error;
  }
  return types_.list(*joined);
}

TypeId Checker::check_tuple(NodeId node, Wanted wanted) {
  std::vector<TypeId> hints;
  if (wanted.has_type() && types_.kind(wanted.type) == TypeKind::Tuple) hints = types_.get(wanted.type).arguments;
  std::vector<NodeId> nodes;
  std::vector<TypeId> items;
  for (NodeId item = tree().first(node); item.exists(); item = tree().next(item)) {
    const bool hinted = items.size() < hints.size();
    nodes.push_back(item);
    items.push_back(hinted ? check_value(item, hints[items.size()]) : check_expression(item, Wanted::any()));
  }
  if (items.empty()) return TypeTable::unit;
  if (items.size() == 1) return items[0];
  for (std::size_t at = 0; at < items.size(); ++at) {
    if (refuse_context(items[at], nodes[at], "stored in a tuple")) return TypeTable::error;
  }
  return types_.tuple(std::move(items));
}

TypeId Checker::check_struct(NodeId node) {
  const NodeId name_node = tree().first(node);
  const std::vector<syntax::TokenIndex> path = tree().path(name_node);
  const std::string name(tree().text(path.back()));
  std::optional<TypeId> type;
  if (path.size() == 1) {
    type = find_type(name);
  } else if (const auto imported = module_->imports.find(std::string(tree().text(path[0])));
             imported != module_->imports.end()) {
    type = find_type_in(imported->second.module, name);
  }
  const std::vector<NodeId> given = tree().children(node, NodeKind::FieldInitializer);
  if (!type || types_.kind(*type) != TypeKind::Struct) {
    const std::optional<TypeId> owner =
        path.size() == 2 ? find_type(std::string(tree().text(path[0]))) : std::optional<TypeId>();
    if (owner && types_.kind(*owner) == TypeKind::Enum) {
      diagnostics_.report(diagnostics::NotAStruct, tree().span(name_node), std::string(tree().text(name_node)))
          .hint(fmt::format("remove the field names, enum cases have positional values: `{}(…)`",
                            tree().text(name_node)));
      record(name_node, TypeTable::error);
    } else if (!type) {
      report_unknown_name(name_node, name, tree().span(name_node), NameUse::Type);
    } else {
      diagnostics_.report(diagnostics::NotAStruct, tree().span(name_node), name);
    }
    for (const NodeId field : given) {
      if (tree().first(field).exists()) check_expression(tree().first(field), Wanted::any());
    }
    return TypeTable::error;
  }
  const std::vector<Field> fields = types_.struct_type(*type).fields;
  std::vector<bool> seen(fields.size(), false);
  for (const NodeId initializer : given) {
    const std::string field_name(tree().main_text(initializer));
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.name == field_name; });
    const NodeId value = tree().first(initializer);
    if (found == fields.end()) {
      std::vector<std::string_view> candidates;
      for (const Field& field : fields) candidates.push_back(field.name);
      auto& report = diagnostics_.report(diagnostics::UnknownField, tree().main_span(initializer), name, field_name);
      if (const auto nearest = diagnostics::find_nearest(field_name, candidates))
        report.hint(fmt::format("did you mean `{}`?", *nearest));
      if (value.exists()) check_expression(value, Wanted::any());
      continue;
    }
    const auto position = static_cast<std::size_t>(found - fields.begin());
    if (seen[position]) diagnostics_.report(diagnostics::SpecifiedTwice, tree().main_span(initializer), field_name);
    seen[position] = true;
    facts(initializer).target = {TargetKind::Field, static_cast<std::uint32_t>(position), 0};
    if (value.exists()) {
      check_value(value, found->type);
    } else if (const auto local = find_local(field_name)) {  // `Point { x }` is `Point { x: x }`
      record(initializer, program_.locals[local->index].type);
      facts(initializer).target.detail = local->index;
      coerce(initializer, program_.locals[local->index].type, found->type);
    } else {
      report_unknown_name(initializer, field_name, tree().main_span(initializer), NameUse::Value);
    }
  }
  for (std::size_t at = 0; at < fields.size(); ++at) {
    if (!seen[at]) diagnostics_.report(diagnostics::MissingField, tree().span(name_node), name, fields[at].name);
  }
  return *type;
}

TypeId Checker::check_index(NodeId node) {
  const NodeId owner = tree().first(node);
  const NodeId index = owner.exists() ? tree().next(owner) : NodeId{};
  if (!index.exists()) return TypeTable::error;
  const TypeId type = types_.base(check_expression(owner, Wanted::any()));
  const TypeKind kind = types_.kind(type);
  if (kind == TypeKind::List) {
    const TypeId given = types_.base(check_expression(index, Wanted::any()));
    if (given != TypeTable::error && !is_integer(given)) {
      diagnostics_.report(diagnostics::TypeMismatch, tree().span(index), describe(given), "i32");
    }
    return types_.get(type).arguments[0];
  }
  if (kind == TypeKind::Map) {
    check_value(index, TypeTable::string);
    return types_.get(type).arguments[0];
  }
  check_expression(index, Wanted::any());
  if (type != TypeTable::error) {
    auto& report = diagnostics_.report(diagnostics::NotIndexable, tree().span(owner), describe(type));
    if (is_text(type)) report.hint("use `.slice(from, to)` or `.chars()` on a text");
    if (kind == TypeKind::Tuple) report.hint("access the items of a tuple with `.0`, `.1`, …");
  }
  return TypeTable::error;
}

TypeId Checker::field_type(NodeId node, TypeId owner, std::string_view name, Target& target) {
  const TypeId base = types_.base(owner);
  if (types_.kind(base) == TypeKind::Struct) {
    const std::vector<Field>& fields = types_.struct_type(base).fields;
    for (std::size_t at = 0; at < fields.size(); ++at) {
      if (fields[at].name == name) {
        target = {TargetKind::Field, static_cast<std::uint32_t>(at), 0};
        return fields[at].type;
      }
    }
  } else if (types_.kind(base) == TypeKind::Tuple) {
    const std::vector<TypeId>& items = types_.get(base).arguments;
    const auto index = syntax::integer_value(name);
    if (index && *index < items.size()) {
      target = {TargetKind::Field, static_cast<std::uint32_t>(*index), 0};
      return items[*index];
    }
  }
  if (base == TypeTable::error) return base;
  std::vector<std::string_view> candidates;
  if (types_.kind(base) == TypeKind::Struct) {
    for (const Field& field : types_.struct_type(base).fields) candidates.push_back(field.name);
  }
  auto& report =
      diagnostics_.report(diagnostics::UnknownField, tree().main_span(node), describe(owner), std::string(name));
  if (const auto nearest = diagnostics::find_nearest(name, candidates)) {
    report.hint(fmt::format("did you mean `{}`?", *nearest));
  } else if (find_builtin_method(types_, base, name)) {
    report.hint(fmt::format("it is a method: write `.{}()`", name));
  } else if (types_.kind(base) == TypeKind::Option) {
    report.hint(fmt::format("the value may be `None`: use `?.{}`", name));
  }
  return TypeTable::error;
}

TypeId Checker::check_field(NodeId node) {
  const NodeId owner = tree().first(node);
  if (!owner.exists()) return TypeTable::error;
  const TypeId type = check_expression(owner, Wanted::any());
  const std::string_view name = tree().main_text(node);
  bool optional = false;
  for (syntax::TokenIndex at = tree()[node].main_token; at-- > tree()[owner].end_token - 1 && !optional;) {
    optional = tree().tokens[at].kind == TokenKind::QuestionDot;
  }
  Target target;
  if (!optional) {
    const TypeId field = field_type(node, type, name, target);
    facts(node).target = target;
    return field;
  }
  if (type == TypeTable::error) return type;
  if (types_.kind(type) != TypeKind::Option) {
    diagnostics_.report(diagnostics::OptionalAccess, tree().main_span(node), describe(type))
        .hint(fmt::format("use `.{}`", name));
    return TypeTable::error;
  }
  const TypeId field = field_type(node, types_.get(type).arguments[0], name, target);
  target.detail = 1;  // through `?.`
  facts(node).target = target;
  if (field == TypeTable::error || types_.kind(field) == TypeKind::Option) return field;
  return types_.option(field);
}

TypeId Checker::check_try(NodeId node, Wanted wanted) {
  const NodeId inner = tree().first(node);
  if (!inner.exists()) return TypeTable::error;
  Wanted hint = Wanted::any();
  if (wanted.has_type() && types_.kind(wanted.type) == TypeKind::Result)
    hint = Wanted::value(types_.get(wanted.type).arguments[0]);
  ++depth_.guarded;
  const TypeId type = check_expression(inner, hint);
  --depth_.guarded;
  if (type == TypeTable::error) return type;
  if (refuse_context(type, inner, "stored in a `Result`")) return TypeTable::error;
  return types_.result(type == TypeTable::never ? TypeTable::unit : hint.has_type() ? hint.type : type);
}

TypeId Checker::check_return(NodeId node) {
  const NodeId value = tree().first(node);
  const TypeId promised = program_.functions[function_.index].result;
  if (depth_.finally_blocks > 0) {
    diagnostics_.report(diagnostics::JumpOutOfFinally, tree().span(node), "return");
  } else if (depth_.closures > 0) {
    diagnostics_.report(diagnostics::ReturnInClosure, tree().span(node));
  } else if (in_branch_) {
    diagnostics_.report(diagnostics::JumpOutOfBranch, tree().span(node), "return");
  }
  if (!value.exists()) {
    if (promised != TypeTable::unit && promised != TypeTable::error) {
      diagnostics_.report(diagnostics::ReturnMismatch, tree().span(node), "()", describe(promised));
    }
    return TypeTable::never;
  }
  const TypeId given = check_kind(value, Wanted::value(promised));
  record(value, given);
  const bool narrows =
      types_.kind(promised) == TypeKind::Refined && is_assignable(types_.base(given), types_.base(promised));
  if (is_assignable(given, promised) || narrows) {
    if (narrows && !is_assignable(given, promised)) facts(value).narrowed_to = promised;
  } else {
    const auto [found, expected] = describe_apart(program_, given, promised);
    auto& report = diagnostics_.report(diagnostics::ReturnMismatch, tree().span(value), found, expected);
    if (types_.kind(promised) == TypeKind::Struct)
      report.hint(fmt::format("construct it with `{} {{ … }}`", describe(promised)));
    if ((types_.kind(promised) == TypeKind::Text || types_.kind(promised) == TypeKind::Union) && is_text(given)) {
      report.hint(conversion_hint(promised));
    }
  }
  return TypeTable::never;
}

}  // namespace tenon::types
