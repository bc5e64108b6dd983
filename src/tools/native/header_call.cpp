#include "tools/native/header_call.h"

#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "base/utf8.h"
#include "diagnostics/nearest.h"
#include "tools/native/promises.h"
#include "tools/native/result_slots.h"
#include "vm/values/object.h"
#include "vm/values/render.h"

namespace tenon::tools {
namespace {

using types::TypeId;
using types::TypeKind;
using types::TypeTable;
using vm::Tag;
using vm::Value;

using Call = HeaderCall;

Call& of(tenon_call* call) {
  return Call::of(call);
}

const Value* of(const tenon_value* value) {
  return reinterpret_cast<const Value*>(value);
}
std::string text_or_nothing(const char* text, size_t bytes) {
  return replace_invalid_utf8(text == nullptr ? std::string() : std::string(text, bytes));
}

void prompt(Call& call, const char* agent, const char* input, size_t bytes, vm::PromptKind kind) {
  if (agent == nullptr) return call.slots.fail("the name of the agent is NULL");
  call.question.reset();
  call.prompt = effects::AgentPrompt{text_or_nothing(agent, std::strlen(agent)), text_or_nothing(input, bytes), kind};
}

Slot* of(tenon_slot* slot) {
  return reinterpret_cast<Slot*>(slot);
}

std::string_view text_or_empty(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

tenon_kind kind_of_value(const Call& call, const Value& value) {
  switch (value.tag()) {
    case Tag::Unit:
      return TENON_UNIT;
    case Tag::Boolean:
      return TENON_BOOLEAN;
    case Tag::Integer:
      return TENON_INTEGER;
    case Tag::Float:
      return TENON_FLOAT;
    case Tag::String:
      return TENON_TEXT;
    case Tag::List:
      return TENON_LIST;
    case Tag::Map:
      return TENON_MAP;
    case Tag::Record:
      return call.types.kind(value.type()) == TypeKind::Tuple ? TENON_TUPLE : TENON_STRUCT;
    case Tag::Case:
    case Tag::Variant:
      if (value.type() == TypeTable::any_option) return TENON_OPTION;
      return value.type() == TypeTable::any_result ? TENON_RESULT : TENON_ENUM;
    case Tag::Secret:
    case Tag::Context:
      return TENON_NOTHING;
  }
  return TENON_NOTHING;
}

/// Whether the value has one of the tags; fails the call otherwise. Null, which has failed before, has none.
bool reads(Call& call, const Value* value, std::initializer_list<Tag> tags, std::string_view what) {
  if (value == nullptr) return false;
  for (const Tag tag : tags) {
    if (value->tag() == tag) return true;
  }
  call.slots.fail(fmt::format("{} is read as {}", describe_value(*value), what));
  return false;
}

std::string_view case_name(const Call& call, const Value& value) {
  if (value.type() == TypeTable::any_option) return value.case_index() == 0 ? "None" : "Some";
  if (value.type() == TypeTable::any_result) return value.case_index() == 0 ? "Ok" : "Err";
  return call.types.enum_type(value.type()).variants[value.case_index()].name;
}

tenon_text text_of_view(std::string_view text) {
  return {text.data(), text.size()};
}

size_t argument_count(tenon_call* call) {
  return of(call).arguments.size();
}

const tenon_value* argument(tenon_call* call, size_t index) {
  Call& self = of(call);
  if (index < self.arguments.size()) return handle_of(&self.arguments[index]);
  self.slots.fail(fmt::format("argument {} does not exist: the call has {}", index, self.arguments.size()));
  return nullptr;
}

const char* effect_key(tenon_call* call) {
  return of(call).key.c_str();
}

bool is_cancelled(tenon_call* call) {
  const std::atomic<bool>* const cancelled = of(call).cancelled;
  return cancelled != nullptr && cancelled->load(std::memory_order_relaxed);
}

void fail(tenon_call* call, const char* message, size_t length) {
  of(call).slots.fail(message == nullptr ? std::string() : std::string(message, length));
}

void fail_unavailable(tenon_call* call, const char* message, size_t length) {
  if (!of(call).slots.has_failed()) of(call).is_unavailable = true;
  fail(call, message, length);
}

void fail_interrupted(tenon_call* call, const char* message, size_t length) {
  if (!of(call).slots.has_failed()) of(call).is_interrupted = true;
  fail(call, message, length);
}

bool failed(tenon_call* call) {
  return of(call).slots.has_failed();
}

tenon_kind kind_of(tenon_call* call, const tenon_value* value) {
  return value == nullptr ? TENON_NOTHING : kind_of_value(of(call), *of(value));
}

bool as_boolean(tenon_call* call, const tenon_value* value) {
  return reads(of(call), of(value), {Tag::Boolean}, "a Boolean") && of(value)->as_boolean();
}

int64_t as_i64(tenon_call* call, const tenon_value* value) {
  return reads(of(call), of(value), {Tag::Integer}, "an integer") ? of(value)->as_integer() : 0;
}

int32_t as_i32(tenon_call* call, const tenon_value* value) {
  const int64_t number = as_i64(call, value);
  if (number >= std::numeric_limits<int32_t>::min() && number <= std::numeric_limits<int32_t>::max()) {
    return static_cast<int32_t>(number);
  }
  of(call).slots.fail(fmt::format("`{}` is read as an i32, but is out of range", number));
  return 0;
}

double as_f64(tenon_call* call, const tenon_value* value) {
  return reads(of(call), of(value), {Tag::Float}, "a float") ? of(value)->as_float() : 0.0;
}

tenon_text as_text(tenon_call* call, const tenon_value* value) {
  if (!reads(of(call), of(value), {Tag::String}, "a text")) return {"", 0};
  return text_of_view(of(value)->as_text());
}

constexpr std::initializer_list<Tag> tags_with_parts = {Tag::List, Tag::Record, Tag::Variant, Tag::Case};

std::span<const Value> parts_of(const Value& value) {
  return value.tag() == Tag::List ? value.items() : value.fields();
}

size_t length(tenon_call* call, const tenon_value* value) {
  if (value != nullptr && of(value)->tag() == Tag::Map) return of(value)->entries().size();
  return reads(of(call), of(value), tags_with_parts, "something with parts") ? parts_of(*of(value)).size() : 0;
}

const tenon_value* item(tenon_call* call, const tenon_value* value, size_t index) {
  Call& self = of(call);
  if (!reads(self, of(value), tags_with_parts, "something with items")) return nullptr;
  const std::span<const Value> parts = parts_of(*of(value));
  if (index < parts.size()) return handle_of(&parts[index]);
  self.slots.fail(
      fmt::format("item {} does not exist in {} of length {}", index, describe_value(*of(value)), parts.size()));
  return nullptr;
}

const tenon_value* field(tenon_call* call, const tenon_value* value, const char* name) {
  Call& self = of(call);
  if (!reads(self, of(value), {Tag::Record}, "a struct")) return nullptr;
  const TypeId type = of(value)->type();
  std::vector<std::string_view> names;
  if (self.types.kind(type) == TypeKind::Struct) {
    const std::vector<types::Field>& fields = self.types.struct_type(type).fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].name == text_or_empty(name)) return handle_of(&of(value)->fields()[i]);
    }
    for (const types::Field& other : fields) names.push_back(other.name);
  }
  const auto nearest = diagnostics::find_nearest(text_or_empty(name), names);
  self.slots.fail(fmt::format("`{}` has no field `{}`{}", self.types.describe(type), text_or_empty(name),
                              nearest ? fmt::format("; did you mean `{}`?", *nearest) : ""));
  return nullptr;
}

const tenon_value* find(tenon_call* call, const tenon_value* value, const char* key, size_t key_length) {
  if (!reads(of(call), of(value), {Tag::Map}, "a map")) return nullptr;
  return handle_of(of(value)->find_entry(key == nullptr ? std::string_view() : std::string_view(key, key_length)));
}

bool next_entry(tenon_call* call, const tenon_value* value, size_t* cursor, tenon_text* key,
                const tenon_value** found) {
  if (!reads(of(call), of(value), {Tag::Map}, "a map")) return false;
  if (cursor == nullptr || key == nullptr || found == nullptr) {
    of(call).slots.fail("the cursor of a map, or the place for its key or its value, is NULL");
    return false;
  }
  // The cursor counts slots, some of which may be holes.
  const std::vector<vm::MapEntry>& slots = vm::map_of(*of(value)).slots;
  std::size_t at = *cursor;
  while (at < slots.size() && slots[at].key.tag() == Tag::Unit) ++at;
  if (at >= slots.size()) return false;
  *cursor = at + 1;
  *key = text_of_view(slots[at].key.as_text());
  *found = handle_of(&slots[at].value);
  return true;
}

tenon_text case_of(tenon_call* call, const tenon_value* value) {
  if (!reads(of(call), of(value), {Tag::Case, Tag::Variant}, "an enum")) return {"", 0};
  return text_of_view(case_name(of(call), *of(value)));
}

const tenon_value* some(tenon_call* call, const tenon_value* value) {
  Call& self = of(call);
  if (value == nullptr) return nullptr;
  if (kind_of_value(self, *of(value)) != TENON_OPTION) {
    self.slots.fail(fmt::format("{} is read as an Option", describe_value(*of(value))));
    return nullptr;
  }
  return of(value)->fields().empty() ? nullptr : handle_of(of(value)->fields().data());
}

tenon_slot* result(tenon_call* call) {
  return handle_of(of(call).slots.root());
}

tenon_text as_json(tenon_call* call, const tenon_value* value) {
  Call& self = of(call);
  if (value == nullptr) return {"", 0};
  std::string& text = self.texts.emplace_back();
  if (const auto written = vm::to_json(*of(value), self.types, text); !written) {
    self.slots.fail(
        fmt::format("{} cannot be written as JSON: {}", describe_value(*of(value)), vm::describe(written.error())));
    return {"", 0};
  }
  return text_of_view(text);
}

/// Within a handler: fails the call with what was thrown.
void fail_thrown(Call& call) noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      call.slots.fail("out of memory");
    } catch (const std::exception& problem) {
      call.slots.fail(problem.what());
    }
  } catch (...) {
    call.slots.fail("out of memory");  // short enough to need none
  }
}

/// A function of the table. No exception leaves it, as its caller may be in C: it fails the call, such as for lack of
/// memory.
template <auto function, class Result, class... Given>
Result guarded(tenon_call* call, Given... given) noexcept {
  try {
    return function(call, given...);
  } catch (...) {
    fail_thrown(of(call));
  }
  if constexpr (std::is_same_v<Result, tenon_text>) {
    return {"", 0};
  } else {
    return Result();
  }
}

constexpr tenon_functions function_table = {
    .size = sizeof(tenon_functions),
    .abi = TENON_EXTERN_ABI,
    .argument_count = guarded<argument_count>,
    .argument = guarded<argument>,
    .effect_key = guarded<effect_key>,
    .is_cancelled = guarded<is_cancelled>,
    .fail = guarded<fail>,
    .failed = guarded<failed>,
    .kind_of = guarded<kind_of>,
    .as_boolean = guarded<as_boolean>,
    .as_i32 = guarded<as_i32>,
    .as_i64 = guarded<as_i64>,
    .as_f64 = guarded<as_f64>,
    .as_text = guarded<as_text>,
    .length = guarded<length>,
    .item = guarded<item>,
    .field = guarded<field>,
    .find = guarded<find>,
    .next_entry = guarded<next_entry>,
    .case_of = guarded<case_of>,
    .some = guarded<some>,
    .result = guarded<result>,
    .put_boolean =
        guarded<[](tenon_call* call, tenon_slot* slot, bool value) { of(call).slots.put_boolean(of(slot), value); }>,
    .put_i64 =
        guarded<[](tenon_call* call, tenon_slot* slot, int64_t value) { of(call).slots.put_integer(of(slot), value); }>,
    .put_f64 =
        guarded<[](tenon_call* call, tenon_slot* slot, double value) { of(call).slots.put_float(of(slot), value); }>,
    .put_text = guarded<[](tenon_call* call, tenon_slot* slot, const char* data, size_t bytes) {
      of(call).slots.put_text(of(slot), data, bytes);
    }>,
    .put_value = guarded<[](tenon_call* call, tenon_slot* slot, const tenon_value* value) {
      of(call).slots.put_value(of(slot), of(value));
    }>,
    .put_list = guarded<[](tenon_call* call, tenon_slot* slot) { of(call).slots.put_list(of(slot)); }>,
    .put_item = guarded<[](tenon_call* call, tenon_slot* slot) { return handle_of(of(call).slots.item(of(slot))); }>,
    .put_i64s = guarded<[](tenon_call* call, tenon_slot* slot, const int64_t* items, size_t count) {
      of(call).slots.put_integers(of(slot), items, count);
    }>,
    .put_f64s = guarded<[](tenon_call* call, tenon_slot* slot, const double* items, size_t count) {
      of(call).slots.put_floats(of(slot), items, count);
    }>,
    .put_map = guarded<[](tenon_call* call, tenon_slot* slot) { of(call).slots.put_map(of(slot)); }>,
    .put_entry = guarded<[](tenon_call* call, tenon_slot* slot, const char* key, size_t bytes) {
      return handle_of(of(call).slots.entry(of(slot), key, bytes));
    }>,
    .put_field = guarded<[](tenon_call* call, tenon_slot* slot, const char* name) {
      return handle_of(of(call).slots.field(of(slot), text_or_empty(name)));
    }>,
    .put_position = guarded<[](tenon_call* call, tenon_slot* slot, size_t index) {
      return handle_of(of(call).slots.position(of(slot), index));
    }>,
    .put_case = guarded<[](tenon_call* call, tenon_slot* slot, const char* name, size_t bytes) {
      of(call).slots.put_case(of(slot), {name == nullptr ? "" : name, name == nullptr ? 0 : bytes});
    }>,
    .put_none = guarded<[](tenon_call* call, tenon_slot* slot) { of(call).slots.put_none(of(slot)); }>,
    .put_some = guarded<[](tenon_call* call, tenon_slot* slot) { return handle_of(of(call).slots.some(of(slot))); }>,
    .put_ok = guarded<[](tenon_call* call, tenon_slot* slot) { return handle_of(of(call).slots.ok(of(slot))); }>,
    .put_err = guarded<[](tenon_call* call, tenon_slot* slot, const char* message, size_t bytes) {
      of(call).slots.put_err(of(slot), {message == nullptr ? "" : message, message == nullptr ? 0 : bytes});
    }>,
    .pause_for_input = guarded<[](tenon_call* call, const char* question, size_t bytes) {
      if (question == nullptr) return of(call).slots.fail("the question is NULL");
      of(call).prompt.reset();
      of(call).question = text_or_nothing(question, bytes);
    }>,
    .input = guarded<[](tenon_call* call) {
      return of(call).input ? text_of_view(*of(call).input) : tenon_text{nullptr, 0};
    }>,
    .pause_for_child = guarded<[](tenon_call* call, const char* agent, const char* input, size_t bytes) {
      prompt(of(call), agent, input, bytes, vm::PromptKind::PauseForChild);
    }>,
    .finish_agent = guarded<[](tenon_call* call, const char* agent, const char* input, size_t bytes) {
      prompt(of(call), agent, input, bytes, vm::PromptKind::FinishAgent);
    }>,
    .fail_unavailable = guarded<fail_unavailable>,
    .as_json = guarded<as_json>,
    .put_json = guarded<[](tenon_call* call, tenon_slot* slot, const char* data, size_t bytes) {
      of(call).slots.put_json(of(slot), data == nullptr ? std::string_view() : std::string_view(data, bytes));
    }>,
    .fail_interrupted = guarded<fail_interrupted>,
};

}  // namespace

HeaderCall::HeaderCall(const vm::Refinements& refinements, TypeId result, std::span<const Value> given,
                       std::string_view blame, const CallCircumstances& circumstances)
    : tenon_call{&function_table},
      types(refinements.types()),
      arguments(given),
      key(circumstances.key),
      cancelled(circumstances.is_cancelled),
      input(circumstances.input),
      slots(refinements, result, blame) {}

HeaderCall::HeaderCall(const vm::Refinements& refinements, const bytecode::Function& function)
    : tenon_call{&function_table},
      types(refinements.types()),
      slots(refinements, function.parameters, function.parameter_names) {}

ExternOutcome HeaderCall::finish(std::string_view blame) {
  if (!slots.failure_message() && (question || prompt)) {
    return failure(
        ExternError{types::FailureKind::ToolFailed, {}, std::string(blame), std::move(question), std::move(prompt)});
  }
  std::optional<Value> value = slots.finish();
  if (value) return std::move(*value);
  return failure(ExternError{types::FailureKind::ToolFailed,
                             slots.failure_message().value_or("it failed without a message"), std::string(blame),
                             std::nullopt, std::nullopt, is_unavailable, is_interrupted});
}

ExternOutcome call_header_function(void (*function)(tenon_call*), const vm::Refinements& refinements,
                                   TypeId result_type, std::span<const Value> arguments, std::string_view blame,
                                   const CallCircumstances& circumstances) {
  HeaderCall call(refinements, result_type, arguments, blame, circumstances);
  try {
    function(&call);
  } catch (const BrokenCondition&) {
    throw;
  } catch (const std::exception& exception) {
    call.slots.fail(exception.what());
  } catch (...) {
    call.slots.fail("an exception without a message");
  }
  return call.finish(blame);
}

}  // namespace tenon::tools
