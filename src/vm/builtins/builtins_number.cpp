#include <algorithm>
#include <bit>
#include <cmath>

#include "vm/builtins/builtins.h"
#include "vm/execution/operations.h"
#include "vm/execution/trust.h"
#include "vm/values/context.h"
#include "vm/values/render.h"

namespace tenon::vm {
namespace {

using types::Builtin;
using types::FailureKind;
using types::TypeTable;

std::int64_t whole(const BuiltinCall& call, std::size_t index) {
  return static_cast<std::int64_t>(call.arguments[index].bits());
}
double real(const BuiltinCall& call, std::size_t index) {
  return std::bit_cast<double>(call.arguments[index].bits());
}

OpStatus absolute(BuiltinCall& call, std::int64_t low, std::string_view type) {
  const std::int64_t number = whole(call, 0);
  if (number <= low) {
    return fail(call.state, FailureKind::Arithmetic,
                "abs() of " + std::to_string(number) + " does not fit into " + std::string(type), call.label);
  }
  call.result = Value::integer(number < 0 ? -number : number);
  return OpStatus::Ok;
}

OpStatus absolute_i32(BuiltinCall& call) {
  return absolute(call, INT32_MIN, "i32");
}
OpStatus absolute_i64(BuiltinCall& call) {
  return absolute(call, INT64_MIN, "i64");
}

OpStatus minimum(BuiltinCall& call) {
  call.result = Value::integer(std::min(whole(call, 0), whole(call, 1)));
  return OpStatus::Ok;
}

OpStatus maximum(BuiltinCall& call) {
  call.result = Value::integer(std::max(whole(call, 0), whole(call, 1)));
  return OpStatus::Ok;
}

/// By squaring; the last square is not needed, so its overflow is ignored.
OpStatus power(BuiltinCall& call, std::int64_t low, std::int64_t high, std::string_view type) {
  std::int64_t base = whole(call, 0);
  std::int64_t exponent = whole(call, 1);
  std::int64_t result = 1;
  bool fits = exponent >= 0;
  while (fits && exponent > 0) {
    if ((exponent & 1) != 0) fits = !__builtin_mul_overflow(result, base, &result);
    exponent >>= 1;
    if (fits && exponent > 0) fits = !__builtin_mul_overflow(base, base, &base);
  }
  if (!fits || result < low || result > high) {
    return fail(
        call.state, FailureKind::Arithmetic,
        std::to_string(whole(call, 0)) + ".pow(" + std::to_string(whole(call, 1)) + ")" +
            (whole(call, 1) < 0 ? ": the exponent must be 0 or more" : " does not fit into " + std::string(type)),
        call.label);
  }
  call.result = Value::integer(result);
  return OpStatus::Ok;
}

OpStatus power_i32(BuiltinCall& call) {
  return power(call, INT32_MIN, INT32_MAX, "i32");
}
OpStatus power_i64(BuiltinCall& call) {
  return power(call, INT64_MIN, INT64_MAX, "i64");
}

template <double (*function)(double)>
OpStatus real_function(BuiltinCall& call) {
  call.result = Value::floating(function(real(call, 0)));
  return OpStatus::Ok;
}

template <double (*function)(double, double)>
OpStatus real_function_of_two(BuiltinCall& call) {
  call.result = Value::floating(function(real(call, 0), real(call, 1)));
  return OpStatus::Ok;
}

OpStatus unwrap_option(BuiltinCall& call) {
  const Value& option = call.arguments[0];
  if (option.tag() == Tag::Case) return fail(call.state, FailureKind::Conversion, "unwrap() of None", call.label);
  if (option.tag() != Tag::Variant) return damage(call.state, "an Option was expected");
  call.result = option.fields()[0];
  add_label(call.result, option.label(), call.state.labels);
  return OpStatus::Ok;
}

OpStatus unwrap_result(BuiltinCall& call) {
  const Value& result = call.arguments[0];
  if (result.tag() != Tag::Variant) return damage(call.state, "a Result was expected");
  Value content = result.fields()[0];
  add_label(content, result.label(), call.state.labels);
  if (result.case_index() != 0) return raise_again(call.state, content);
  call.result = std::move(content);
  return OpStatus::Ok;
}

OpStatus context_text(BuiltinCall& call) {
  if (call.arguments[0].tag() != Tag::Context) return damage(call.state, "a context was expected");
  auto text = render(call.arguments[0], call.state.program->types(), call.state.labels);
  if (!text) return fail(call.state, FailureKind::Index, describe(text.error()), call.label);
  defer_cost(call.state, text->as_text().size());
  call.result = std::move(*text);
  return OpStatus::Ok;
}

OpStatus context_entries_visible(BuiltinCall& call) {
  if (call.arguments[0].tag() != Tag::Context) return damage(call.state, "a context was expected");
  call.result = Value::integer(context_length(call.arguments[0]));
  call.result.set_label(context_count_label(call.arguments[0], call.state.labels));
  return OpStatus::Ok;
}

OpStatus context_trusted_part(BuiltinCall& call) {
  const Value& context = call.arguments[0];
  if (context.tag() != Tag::Context) return damage(call.state, "a context was expected");
  defer_cost(call.state, context_length(context) * sizeof(Value));
  call.result =
      trusted_context(context, call.state.labels, [&](LabelId label) { return vm::is_trusted(call.state, label); });
  return OpStatus::Ok;
}

OpStatus value_to_json(BuiltinCall& call) {
  auto text = render_json(call.arguments[0], call.state.program->types(), call.state.labels);
  if (!text) return fail(call.state, FailureKind::Index, describe(text.error()), call.label);
  defer_cost(call.state, text->as_text().size());
  call.result = std::move(*text);
  return OpStatus::Ok;
}

/// The result has no label of its own: labels do not depend on what is not trusted, so neither do the cuts.
OpStatus cut_value_by_trust(BuiltinCall& call) {
  const auto is_trusted = [&](LabelId label) { return vm::is_trusted(call.state, label); };
  auto parts = cut_by_trust(call.arguments[0], call.state.program->types(), call.state.labels, is_trusted);
  if (!parts || parts->size() > list_items_max) {
    return fail(call.state, FailureKind::Index, describe(parts ? RenderError::TooLong : parts.error()),
                whole_label(call.arguments[0], call.state.labels));
  }
  for (const Value& part : *parts) defer_cost(call.state, part.as_text().size());
  call.result = Value::list(std::move(*parts));
  call.label = {};
  return OpStatus::Ok;
}

OpStatus is_value_trusted(BuiltinCall& call) {
  std::uint64_t visited = 0;
  const LabelId label = whole_label(call.arguments[0], call.state.labels, visited);
  defer_cost(call.state, visited * sizeof(Value));
  call.result = Value::boolean(is_trusted(call.state, label));
  call.label = {};
  return OpStatus::Ok;
}

}  // namespace

BuiltinFunction* find_number_builtin(types::Builtin builtin) {
  if (builtin == types::Builtin::IntegerAbsoluteI32) return absolute_i32;
  if (builtin == types::Builtin::IntegerAbsoluteI64) return absolute_i64;
  if (builtin == types::Builtin::F64Absolute) return real_function<std::fabs>;
  if (builtin == types::Builtin::IntegerMinimum) return minimum;
  if (builtin == types::Builtin::IntegerMaximum) return maximum;
  if (builtin == types::Builtin::F64Minimum) return real_function_of_two<std::fmin>;
  if (builtin == types::Builtin::F64Maximum) return real_function_of_two<std::fmax>;
  if (builtin == types::Builtin::F64Floor) return real_function<std::floor>;
  if (builtin == types::Builtin::F64Ceil) return real_function<std::ceil>;
  if (builtin == types::Builtin::F64Round) return real_function<std::round>;
  if (builtin == types::Builtin::F64Sqrt) return real_function<std::sqrt>;
  if (builtin == types::Builtin::I32Power) return power_i32;
  if (builtin == types::Builtin::I64Power) return power_i64;
  if (builtin == types::Builtin::F64Power) return real_function_of_two<std::pow>;
  return nullptr;
}

BuiltinFunction* find_other_builtin(types::Builtin builtin) {
  if (builtin == types::Builtin::OptionUnwrap) return unwrap_option;
  if (builtin == types::Builtin::ResultUnwrap) return unwrap_result;
  if (builtin == types::Builtin::ContextText) return context_text;
  if (builtin == types::Builtin::ContextLength) return context_entries_visible;
  if (builtin == types::Builtin::ContextTrustedPart) return context_trusted_part;
  if (builtin == types::Builtin::ToJson) return value_to_json;
  if (builtin == types::Builtin::CutByTrust) return cut_value_by_trust;
  if (builtin == types::Builtin::IsTrusted) return is_value_trusted;
  return nullptr;
}

}  // namespace tenon::vm
