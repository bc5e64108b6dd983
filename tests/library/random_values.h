#pragma once

// Random calls of tenon/extern.h: values that are read and written as they are declared, or not.
#include <tenon/tenon.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

#include "random_support.h"

namespace {

#define TENON_ALL_VALUE                                                                                \
  R"({"flag": true, "small": 3, "large": 5000000000, "real": 0.5, "text": "tea", "percent": 7, )"      \
  R"("kind": "billing", "tags": ["a", "b"], "numbers": [1, 2], "reals": [0.5], "ages": {"Ann": 30}, )" \
  R"("maybe": 4, "both": [1, "x"], "shape": {"Named": [3, "y"]}})"
/// A value of `All`, and the arguments of `mixed`.
constexpr const char* all_value = TENON_ALL_VALUE;
constexpr const char* all_values = R"({"all": )" TENON_ALL_VALUE "}";

constexpr const char* member_names[] = {"flag",    "small", "large", "real",  "text", "percent", "kind",    "tags",
                                        "numbers", "reals", "ages",  "maybe", "both", "shape",   "nothing", ""};

const char* random_name(Random& random) {
  return member_names[random() % std::size(member_names)];
}

/// Externs are called on any thread.
Random& extern_random() {
  static std::atomic<unsigned> next = 1;
  thread_local Random random(next++);
  return random;
}

void check_text(tenon_text text) {
  if (text.data == nullptr || text.data[text.length] != '\0') give_up("a text has no end");
}

void read_value(tenon_call* call, const tenon_value* value, Random& random, int depth);

/// As the value's kind has it.
void read_parts(tenon_call* call, const tenon_value* value, Random& random, int depth) {
  if (tenon_kind_of(call, value) == TENON_MAP) {
    std::size_t cursor = 0;
    tenon_text key = tenon_no_text();
    const tenon_value* entry = nullptr;
    while (tenon_next_entry(call, value, &cursor, &key, &entry)) {
      if (tenon_find(call, value, key.data, key.length) == nullptr) give_up("a map has lost a key");
      read_value(call, entry, random, depth + 1);
    }
    return;
  }
  const std::size_t count = tenon_length(call, value);
  for (std::size_t at = 0; at < count; ++at) read_value(call, tenon_item(call, value, at), random, depth + 1);
}

/// As any kind has it, which is a mistake for most values.
void read_wrongly(tenon_call* call, const tenon_value* value, Random& random) {
  switch (random() % 9) {
    case 0:
      static_cast<void>(tenon_as_boolean(call, value));
      break;
    case 1:
      static_cast<void>(tenon_as_i32(call, value));
      break;
    case 2:
      static_cast<void>(tenon_as_i64(call, value));
      break;
    case 3:
      static_cast<void>(tenon_as_f64(call, value));
      break;
    case 4:
      check_text(tenon_as_text(call, value));
      break;
    case 5:
      static_cast<void>(tenon_item(call, value, random() % 3 + tenon_length(call, value)));
      break;
    case 6:
      static_cast<void>(tenon_field(call, value, random_name(random)));
      break;
    case 7:
      static_cast<void>(tenon_find(call, value, "x", 1));
      break;
    default:
      static_cast<void>(tenon_some(call, value));
      check_text(tenon_case_of(call, value));
      break;
  }
}

void read_value(tenon_call* call, const tenon_value* value, Random& random, int depth) {
  if (random() % 200 == 0) return read_wrongly(call, value, random);
  if (random() % 8 == 0) check_text(tenon_as_json(call, value));
  switch (tenon_kind_of(call, value)) {
    case TENON_BOOLEAN:
      static_cast<void>(tenon_as_boolean(call, value));
      break;
    case TENON_INTEGER:
      if (tenon_as_i64(call, value) < std::numeric_limits<std::int32_t>::max())
        static_cast<void>(tenon_as_i32(call, value));
      break;
    case TENON_FLOAT:
      static_cast<void>(tenon_as_f64(call, value));
      break;
    case TENON_TEXT:
      check_text(tenon_as_text(call, value));
      break;
    case TENON_OPTION:
      check_text(tenon_case_of(call, value));
      if (tenon_some(call, value) != nullptr) read_value(call, tenon_some(call, value), random, depth + 1);
      break;
    case TENON_ENUM:
    case TENON_RESULT:
      check_text(tenon_case_of(call, value));
      [[fallthrough]];
    default:
      if (depth < 4) read_parts(call, value, random, depth);
      break;
  }
}

/// Any value, whatever the slot's type; parts of it, too.
void write_anything(tenon_call* call, tenon_slot* slot, Random& random, int depth) {
  static const std::array<std::int64_t, 3> numbers = {1, -5, 5'000'000'000};
  static const std::array<double, 2> reals = {0.5, -1e300};
  static constexpr const char* cases[] = {"Dot", "Circle", "Named", "Nobody"};
  const char* const name = random_name(random);
  tenon_slot* part = nullptr;
  switch (random() % 20) {
    case 0:
      return tenon_put_boolean(call, slot, true);
    case 1:
      return tenon_put_i64(call, slot, numbers[random() % numbers.size()]);
    case 2:
      return tenon_put_f64(call, slot, reals[random() % reals.size()]);
    case 3:
      return tenon_put_text(call, slot, "\xff", random() % 2);
    case 4:
      return tenon_put_string(call, slot, name);
    case 5:
      return tenon_put_value(call, slot, tenon_argument(call, 0));
    case 6:
      tenon_put_list(call, slot);
      part = tenon_put_item(call, slot);
      break;
    case 7:
      return tenon_put_i64s(call, slot, numbers.data(), random() % (numbers.size() + 1));
    case 8:
      return tenon_put_f64s(call, slot, reals.data(), reals.size());
    case 9:
      tenon_put_map(call, slot);
      part = tenon_put_entry(call, slot, name, tenon_length_of_string(name));
      break;
    case 10:
    case 11:
    case 12:
      part = tenon_put_field(call, slot, name);
      break;
    case 13:
      tenon_put_case(call, slot, cases[random() % std::size(cases)]);
      [[fallthrough]];
    case 14:
      part = tenon_put_position(call, slot, random() % 3);
      break;
    case 15:
      tenon_put_case_text(call, slot, "Dotted", 3);
      break;
    case 16:
      tenon_put_none(call, slot);
      part = random() % 2 == 0 ? tenon_put_some(call, slot) : nullptr;
      break;
    case 17:
      part = tenon_put_ok(call, slot);
      break;
    case 18:
      tenon_put_err(call, slot, name);
      return tenon_put_err_text(call, slot, "no reason", random() % 9);
    default:
      return tenon_put_json_text(call, slot, R"({"Circle": 0.5} )", random() % 17);
  }
  if (depth < 4 && part != nullptr) write_anything(call, part, random, depth + 1);
}

/// A value of the declared type.
void write_rightly(tenon_call* call, Random& random) {
  tenon_slot* result = tenon_result(call);
  const tenon_value* const all = tenon_argument(call, 0);
  if (tenon_kind_of(call, all) != TENON_STRUCT) return tenon_put_json(call, result, "null");
  // Of a Result; for another type it is the slot itself, or a mistake.
  if (random() % 2 == 0) {
    tenon_slot* const ok = tenon_put_ok(call, result);
    if (ok != nullptr) result = ok;
  }
  if (random() % 2 == 0) return tenon_put_value(call, result, all);
  for (const char* const name : member_names) {
    if (*name == '\0' || std::string(name) == "nothing") continue;
    tenon_put_value(call, tenon_put_field(call, result, name), tenon_field(call, all, name));
  }
}

/// Reads the arguments of an extern and writes its result.
void use_values(tenon_call* call, Random& random) {
  const std::size_t count = tenon_argument_count(call);
  for (std::size_t at = 0; at < count; ++at) read_value(call, tenon_argument(call, at), random, 0);
  if (tenon_effect_key(call) == nullptr) give_up("a call has no key");
  static_cast<void>(tenon_is_cancelled(call));
  static_cast<void>(tenon_is_lone(call));
  if (random() % 4 == 0) write_anything(call, tenon_result(call), random, 0);
  if (random() % 16 == 0) {  // of the first argument, which is a struct
    static_cast<void>(tenon_argument_boolean(call, 0));
    static_cast<void>(tenon_argument_i32(call, 0));
    static_cast<void>(tenon_argument_i64(call, 1));
    static_cast<void>(tenon_argument_f64(call, 0));
    check_text(tenon_argument_text(call, 0));
  }
  if (!tenon_failed(call)) write_rightly(call, random);
  if (random() % 32 == 0) tenon_fail_interrupted(call, "it was cut off");
}

/// An extern that asks a person or an agent instead of returning a result, or leaves the turn.
void pause_or_answer(tenon_call* call, Random& random) {
  static constexpr tenon_text asked = {"And then?!", 9};
  if (tenon_input(call).data != nullptr) return tenon_put_string(call, tenon_result(call), tenon_input(call).data);
  switch (random() % 10) {
    case 0:
      return tenon_pause_for_input(call, "Which one?");
    case 1:
      return tenon_pause_for_input_text(call, asked.data, asked.length);
    case 2:
      return tenon_pause_for_child(call, "Counter", "one");
    case 3:
      return tenon_pause_for_child_text(call, random() % 2 == 0 ? "Counter" : "Nobody", asked.data, asked.length);
    case 4:
      return tenon_finish_agent(call, "Counter", "two");
    case 5:
      return tenon_finish_agent_text(call, "Counter", asked.data, asked.length);
    case 6:
      return tenon_fail_text(call, asked.data, asked.length);
    default:
      return tenon_put_string(call, tenon_result(call), "It is so.");
  }
}

}  // namespace
