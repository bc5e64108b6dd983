/* Every accessor and writer of tenon/extern.h, from C. */
#include <stdlib.h>
#include <string.h>
#include <tenon/extern.h>

TENON_EXTERN_AS(total, "(List<Order>) -> f64") {
  const tenon_value* orders = tenon_argument(call, 0);
  double sum = 0;
  size_t i;
  for (i = 0; i < tenon_length(call, orders); i++) {
    sum += tenon_as_f64(call, tenon_field(call, tenon_item(call, orders, i), "price"));
  }
  tenon_put_f64(call, tenon_result(call), sum);
}

TENON_EXTERN(make_orders) {
  const int32_t count = tenon_argument_i32(call, 0);
  tenon_slot* result = tenon_result(call);
  int32_t i;
  tenon_put_list(call, result);
  for (i = 0; i < count; i++) {
    tenon_slot* order = tenon_put_item(call, result);
    tenon_slot* tags = tenon_put_field(call, order, "tags");
    tenon_put_i64(call, tenon_put_field(call, order, "id"), i);
    tenon_put_f64(call, tenon_put_field(call, order, "price"), i * 0.5);
    tenon_put_list(call, tags);
    if (i > 0) tenon_put_string(call, tenon_put_item(call, tags), "später");
    if (i > 1) tenon_put_string(call, tenon_put_some(call, tenon_put_field(call, order, "note")), "two");
  }
}

/* Reads any value with the accessors and writes it with the writers: the result equals the argument. */
static void rebuild(tenon_call* call, tenon_slot* slot, const tenon_value* value, const char* kind_of_enum) {
  size_t i, cursor = 0;
  tenon_text key;
  const tenon_value* part;
  switch (tenon_kind_of(call, value)) {
    case TENON_UNIT:
      break;
    case TENON_BOOLEAN:
      tenon_put_boolean(call, slot, tenon_as_boolean(call, value));
      break;
    case TENON_INTEGER:
      tenon_put_i64(call, slot, tenon_as_i64(call, value));
      break;
    case TENON_FLOAT:
      tenon_put_f64(call, slot, tenon_as_f64(call, value));
      break;
    case TENON_TEXT:
      key = tenon_as_text(call, value);
      tenon_put_text(call, slot, key.data, key.length);
      break;
    case TENON_LIST:
      tenon_put_list(call, slot);
      for (i = 0; i < tenon_length(call, value); i++) {
        rebuild(call, tenon_put_item(call, slot), tenon_item(call, value, i), kind_of_enum);
      }
      break;
    case TENON_MAP:
      tenon_put_map(call, slot);
      while (tenon_next_entry(call, value, &cursor, &key, &part)) {
        if (tenon_find(call, value, key.data, key.length) != part) tenon_fail(call, "find gives another entry");
        rebuild(call, tenon_put_entry(call, slot, key.data, key.length), part, kind_of_enum);
      }
      if (tenon_find(call, value, "no such key", 11) != NULL) tenon_fail(call, "a key that is not there");
      break;
    case TENON_TUPLE:
      for (i = 0; i < tenon_length(call, value); i++) {
        rebuild(call, tenon_put_position(call, slot, i), tenon_item(call, value, i), kind_of_enum);
      }
      break;
    case TENON_OPTION:
      part = tenon_some(call, value);
      if (part == NULL) {
        tenon_put_none(call, slot);
      } else {
        rebuild(call, tenon_put_some(call, slot), part, kind_of_enum);
      }
      break;
    case TENON_ENUM: {
      char name[64];
      key = tenon_case_of(call, value);
      memcpy(name, key.data, key.length);
      name[key.length] = '\0';
      tenon_put_case(call, slot, name);
      for (i = 0; i < tenon_length(call, value); i++) {
        rebuild(call, tenon_put_position(call, slot, i), tenon_item(call, value, i), kind_of_enum);
      }
      break;
    }
    default:
      tenon_put_value(call, slot, value);
  }
}
TENON_EXTERN(echo) { rebuild(call, tenon_result(call), tenon_argument(call, 0), ""); }
TENON_EXTERN(copy) { tenon_put_value(call, tenon_result(call), tenon_argument(call, 0)); }

TENON_EXTERN(refuse) {
  const tenon_text why = tenon_argument_text(call, 0);
  tenon_fail(call, "refused: %s (%d)", why.data, 42);
  tenon_fail(call, "this one is not reported");
}
TENON_EXTERN(checked) {
  if (tenon_argument_boolean(call, 0)) {
    tenon_put_i64(call, tenon_put_ok(call, tenon_result(call)), 5);
  } else {
    static const char why[] = "not\0today";
    tenon_put_err_text(call, tenon_result(call), why, sizeof why - 1);
  }
}
TENON_EXTERN(effect_key) { tenon_put_string(call, tenon_result(call), tenon_effect_key(call)); }

/* Each number triggers one mistake. */
TENON_EXTERN(blunder) {
  const tenon_value* order = tenon_argument(call, 1);
  tenon_slot* result = tenon_result(call);
  switch (tenon_argument_i32(call, 0)) {
    case 0:
      tenon_as_i64(call, order);
      break;
    case 1:
      tenon_field(call, order, "prise");
      break;
    case 2:
      tenon_item(call, order, 9);
      break;
    case 3:
      tenon_argument(call, 2);
      break;
    case 4:
      tenon_put_string(call, result, "an order");
      break;
    case 5:
      tenon_put_field(call, result, "pryce");
      break;
    case 6:
      tenon_put_i64(call, tenon_put_field(call, result, "id"), 1);
      break;
    case 7:
      tenon_put_text(call, tenon_put_item(call, tenon_put_field(call, result, "tags")), "\xc3(", 2);
      break;
    case 8:
      tenon_put_text(call, tenon_put_item(call, tenon_put_field(call, result, "tags")), NULL, 5);
      break;
    case 9:
      tenon_put_item(call, result);
      break;
    case 10:
      tenon_as_text(call, tenon_some(call, tenon_field(call, order, "price")));
      break;
    case 11:
      tenon_put_position(call, result, 0);
      break;
    case 12:
      tenon_as_f64(call, NULL);
      tenon_put_i64(call, NULL, 1);
      tenon_put_item(call, NULL);
      break;
    case 13:
      tenon_find(call, order, "x", 1);
      break;
    case 14:
      tenon_case_of(call, order);
      break;
    case 15:
      tenon_put_value(call, result, tenon_field(call, order, "price"));
      break;
    default:
      break;
  }
  if (!tenon_failed(call) && tenon_argument_i32(call, 0) < 6) tenon_fail(call, "was not noticed");
}
TENON_EXTERN(put_integer) { tenon_put_i64(call, tenon_result(call), tenon_argument_i64(call, 0)); }
TENON_EXTERN(narrow) { tenon_put_i64(call, tenon_result(call), tenon_argument_i32(call, 0)); }
TENON_EXTERN(put_words) { tenon_put_string(call, tenon_result(call), "words"); }
TENON_EXTERN(put_case_of) {
  const tenon_text name = tenon_argument_text(call, 0);
  tenon_put_case_text(call, tenon_result(call), name.data, name.length);
}
TENON_EXTERN(numbers) {
  static const int64_t integers[] = {3, -1, INT64_MAX};
  tenon_put_i64s(call, tenon_result(call), integers, 3);
}
TENON_EXTERN(floats) {
  static const double floats[] = {0.5, -2};
  tenon_put_f64s(call, tenon_result(call), floats, 2);
}
TENON_EXTERN(overwrite) {
  tenon_slot* result = tenon_result(call);
  tenon_slot* entry = tenon_put_entry(call, result, "a", 1);
  tenon_put_i64(call, entry, 1);
  tenon_put_i64(call, tenon_put_entry(call, result, "b", 1), 2);
  tenon_put_i64(call, tenon_put_entry(call, result, "a", 1), 3);
}
TENON_EXTERN(stale_slot) {
  tenon_slot* result = tenon_result(call);
  tenon_slot* entry = tenon_put_entry(call, result, "a", 1);
  tenon_put_map(call, result);
  tenon_put_string(call, entry, "into a map that was begun anew");
}
TENON_EXTERN(nest) {
  tenon_slot* slot = tenon_result(call);
  int32_t i;
  for (i = 0; i < tenon_argument_i32(call, 0); i++) {
    slot = tenon_put_item(call, tenon_put_field(call, slot, "children"));
  }
  tenon_put_list(call, tenon_put_field(call, slot, "children"));
}
/* Returns when the call is cancelled. */
TENON_EXTERN(until_cancelled) {
  volatile int64_t turns = 0;
  while (!tenon_is_cancelled(call)) turns++;
  tenon_put_i64(call, tenon_result(call), 1);
}
TENON_EXTERN_AS(other_signature, "(i64) -> String") { tenon_put_string(call, tenon_result(call), ""); }
TENON_EXTERN_AS(no_signature, "i64 to String") { tenon_put_string(call, tenon_result(call), ""); }
TENON_EXTERN_AS(rich_signature, "(Order?, Map<(i32, _)>, Mood, List<String>, Percent, i64) -> Result<String>") {
  tenon_put_string(call, tenon_put_ok(call, tenon_result(call)), "fits");
}

/* An entry of a future version of the header, and a symbol that only looks like an entry. */
static void never(tenon_call* call) { (void)call; }
TENON_EXPORT const tenon_extern_entry tenon_extern_from_the_future = {sizeof(tenon_extern_entry), TENON_EXTERN_ABI + 1,
                                                                      &never, NULL};
TENON_EXPORT const char tenon_extern_no_entry[4] = "no";
