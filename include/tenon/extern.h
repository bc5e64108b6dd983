#pragma once

/*
 * tenon/extern.h: C or C++ functions for `extern fn` declarations whose types plain C cannot represent.
 * C99 and C++11; needs no library. The guide is docs/guides/externs.md; tenon/extern.hpp is a C++ layer on top.
 *
 *   extern fn total(orders: List<Order>) -> f64;          // in the program
 *
 *   TENON_EXTERN(total) {                                 // in the library; `call` is the parameter
 *     const tenon_value* orders = tenon_argument(call, 0);
 *     double sum = 0;
 *     for (size_t i = 0; i < tenon_length(call, orders); i++)
 *       sum += tenon_as_f64(call, tenon_field(call, tenon_item(call, orders, i), "price"));
 *     tenon_put_f64(call, tenon_result(call), sum);
 *   }
 *
 * Rules for everything here:
 *  - Handles (`tenon_call`, `tenon_value`, `tenon_slot`) and texts are valid until the function returns, and only
 *    on the thread that called it.
 *  - A mistake (a text read as a number, a missing field, an index out of range, a number that the declared type cannot
 *    represent) fails the call and returns 0, NULL or an empty text. A NULL handle may be passed to other functions,
 *    which then do nothing, also a NULL call, which counts as failed. The first failure is the one that is reported;
 *    `tenon_failed` says whether there is one.
 *  - Texts are UTF-8. Texts from Tenon end with a NUL, which `length` does not count, and may contain NULs.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#define TENON_C_LINKAGE extern "C"
#define TENON_CAST(type, value) static_cast<type>(value)
#else
#define TENON_C_LINKAGE extern
#define TENON_CAST(type, value) ((type)(value))
#endif

/* The version of the binary interface, which only grows: version n supports all libraries built for 1 to n. */
#define TENON_EXTERN_ABI 1u

typedef struct tenon_call tenon_call;
typedef struct tenon_value tenon_value; /* a value to read: an argument or a part of one */
typedef struct tenon_slot tenon_slot;   /* a value to write: the result or a part of it */

typedef struct tenon_text {
  const char* data; /* never NULL */
  size_t length;    /* bytes */
} tenon_text;

/* The kind of a value. New kinds may be added. */
typedef int32_t tenon_kind;
enum {
  TENON_NOTHING = 0, /* the kind of NULL */
  TENON_UNIT = 1,
  TENON_BOOLEAN = 2,
  TENON_INTEGER = 3, /* i32, i64, a union of numbers */
  TENON_FLOAT = 4,
  TENON_TEXT = 5, /* String, a text type, a union of texts */
  TENON_LIST = 6,
  TENON_MAP = 7,
  TENON_STRUCT = 8,
  TENON_TUPLE = 9,
  TENON_ENUM = 10,
  TENON_OPTION = 11, /* cases None and Some */
  TENON_RESULT = 12  /* cases Ok and Err */
};

/* Each call carries a pointer to these functions, so a library links against nothing. The table is only ever appended
 * to. Use the inline functions below, which have the same names. */
typedef struct tenon_functions {
  uint32_t size; /* bytes of this table */
  uint32_t abi;

  size_t (*argument_count)(tenon_call*);
  const tenon_value* (*argument)(tenon_call*, size_t index);
  const char* (*effect_key)(tenon_call*);
  bool (*is_cancelled)(tenon_call*);
  void (*fail)(tenon_call*, const char* message, size_t length);
  bool (*failed)(tenon_call*);

  tenon_kind (*kind_of)(tenon_call*, const tenon_value*);
  bool (*as_boolean)(tenon_call*, const tenon_value*);
  int32_t (*as_i32)(tenon_call*, const tenon_value*);
  int64_t (*as_i64)(tenon_call*, const tenon_value*);
  double (*as_f64)(tenon_call*, const tenon_value*);
  tenon_text (*as_text)(tenon_call*, const tenon_value*);
  size_t (*length)(tenon_call*, const tenon_value*);
  const tenon_value* (*item)(tenon_call*, const tenon_value*, size_t index);
  const tenon_value* (*field)(tenon_call*, const tenon_value*, const char* name);
  const tenon_value* (*find)(tenon_call*, const tenon_value*, const char* key, size_t length);
  bool (*next_entry)(tenon_call*, const tenon_value*, size_t* cursor, tenon_text* key, const tenon_value** value);
  tenon_text (*case_of)(tenon_call*, const tenon_value*);
  const tenon_value* (*some)(tenon_call*, const tenon_value*);

  tenon_slot* (*result)(tenon_call*);
  void (*put_boolean)(tenon_call*, tenon_slot*, bool);
  void (*put_i64)(tenon_call*, tenon_slot*, int64_t);
  void (*put_f64)(tenon_call*, tenon_slot*, double);
  void (*put_text)(tenon_call*, tenon_slot*, const char* data, size_t length);
  void (*put_value)(tenon_call*, tenon_slot*, const tenon_value*);
  void (*put_list)(tenon_call*, tenon_slot*);
  tenon_slot* (*put_item)(tenon_call*, tenon_slot*);
  void (*put_i64s)(tenon_call*, tenon_slot*, const int64_t*, size_t count);
  void (*put_f64s)(tenon_call*, tenon_slot*, const double*, size_t count);
  void (*put_map)(tenon_call*, tenon_slot*);
  tenon_slot* (*put_entry)(tenon_call*, tenon_slot*, const char* key, size_t length);
  tenon_slot* (*put_field)(tenon_call*, tenon_slot*, const char* name);
  tenon_slot* (*put_position)(tenon_call*, tenon_slot*, size_t index);
  void (*put_case)(tenon_call*, tenon_slot*, const char* name, size_t length);
  void (*put_none)(tenon_call*, tenon_slot*);
  tenon_slot* (*put_some)(tenon_call*, tenon_slot*);
  tenon_slot* (*put_ok)(tenon_call*, tenon_slot*);
  void (*put_err)(tenon_call*, tenon_slot*, const char* message, size_t length);

  void (*pause_for_input)(tenon_call*, const char* question, size_t length);
  tenon_text (*input)(tenon_call*);
  void (*pause_for_child)(tenon_call*, const char* agent, const char* input, size_t length);
  void (*finish_agent)(tenon_call*, const char* agent, const char* input, size_t length);
  void (*fail_unavailable)(tenon_call*, const char* message, size_t length);
  tenon_text (*as_json)(tenon_call*, const tenon_value*);
  void (*put_json)(tenon_call*, tenon_slot*, const char* data, size_t length);
  void (*fail_interrupted)(tenon_call*, const char* message, size_t length);
} tenon_functions;

/* The part of a call that a library sees. It is followed by private data of Tenon. */
struct tenon_call {
  const tenon_functions* functions;
};

/* The symbol that TENON_EXTERN exports as `tenon_extern_NAME`. */
typedef struct tenon_extern_entry {
  uint32_t size; /* bytes of this struct */
  uint32_t abi;  /* the version that the library was built for */
  void (*function)(tenon_call*);
  const char* signature; /* types of the arguments and the result, checked before a program starts; or NULL */
} tenon_extern_entry;

#if defined(_WIN32)
#define TENON_EXPORT __declspec(dllexport)
#else
#define TENON_EXPORT __attribute__((visibility("default")))
#endif

/* Starts the definition of `extern fn NAME`. A body in braces follows, in which the call is named `call`. With a
 * signature such as "(List<Order>, i32) -> f64", a program with another declaration is rejected before it starts. */
#define TENON_EXTERN(name) TENON_EXTERN_ENTRY(name, NULL)
#define TENON_EXTERN_AS(name, signature) TENON_EXTERN_ENTRY(name, signature)
#define TENON_EXTERN_ENTRY(name, signature)                                                                            \
  static void tenon_body_of_##name(tenon_call* call);                                                                  \
  TENON_C_LINKAGE TENON_EXPORT const tenon_extern_entry tenon_extern_##name;                                           \
  const tenon_extern_entry tenon_extern_##name = {sizeof(tenon_extern_entry), TENON_EXTERN_ABI, &tenon_body_of_##name, \
                                                  signature};                                                          \
  static void tenon_body_of_##name(tenon_call* call)

/* --- The call ------------------------------------------------------------------------------------------------- */

/* Of a text that ends with a NUL; 0 for NULL. */
static inline size_t tenon_length_of_string(const char* text) {
  return text == NULL ? 0 : strlen(text);
}
static inline tenon_text tenon_no_text(void) {
  const tenon_text none = {"", 0};
  return none;
}

static inline size_t tenon_argument_count(tenon_call* call) {
  return call == NULL ? 0 : call->functions->argument_count(call);
}
static inline const tenon_value* tenon_argument(tenon_call* call, size_t index) {
  return call == NULL ? NULL : call->functions->argument(call, index);
}
/* Identifies this call of this run permanently: the same after a crash and in a retry, different for every other call.
 * Pass it to a service as the idempotency key. Empty if the run is not recorded, for example in tests. */
static inline const char* tenon_effect_key(tenon_call* call) {
  return call == NULL ? "" : call->functions->effect_key(call);
}
/* Asks a person instead of returning a result; return after this call. The run waits, for days if necessary. Then the
 * function is called again with the same arguments, a new effect key and the answer as `tenon_input`. */
static inline void tenon_pause_for_input_text(tenon_call* call, const char* question, size_t length) {
  if (call == NULL) return;
  if (call->functions->size > offsetof(tenon_functions, pause_for_input)) {
    call->functions->pause_for_input(call, question, length);
  } else {
    static const char too_old[] = "this Tenon cannot ask a person for an extern";
    call->functions->fail(call, too_old, sizeof too_old - 1);
  }
}
static inline void tenon_pause_for_input(tenon_call* call, const char* question) {
  tenon_pause_for_input_text(call, question, tenon_length_of_string(question));
}
/* The person's answer to the latest question; `data` is NULL if no question was asked yet. */
static inline tenon_text tenon_input(tenon_call* call) {
  const tenon_text none = {NULL, 0};
  if (call == NULL || call->functions->size <= offsetof(tenon_functions, input)) return none;
  return call->functions->input(call);
}
/* Prompts an agent of the program instead of returning a result; return after this call. The run sends the prompt, the
 * agent takes a turn with its own state and context, and the value of that turn is the result of the call. It must have
 * the type that the extern declares; `String` accepts every text type. `input` is the input of the turn: a text as it
 * is, anything else as JSON. The agent may ask people and call other agents, and the run may wait for days. */
static inline void tenon_pause_for_child_text(tenon_call* call, const char* agent, const char* input, size_t length) {
  if (call == NULL) return;
  if (call->functions->size > offsetof(tenon_functions, pause_for_child)) {
    call->functions->pause_for_child(call, agent, input, length);
  } else {
    static const char too_old[] = "this Tenon cannot prompt an agent for an extern";
    call->functions->fail(call, too_old, sizeof too_old - 1);
  }
}
static inline void tenon_pause_for_child(tenon_call* call, const char* agent, const char* input) {
  tenon_pause_for_child_text(call, agent, input, tenon_length_of_string(input));
}
/* Hands the turn in which the extern was called off to another agent; return after this call. The rest of the turn is
 * not executed. The other agent continues with its own context, for the same caller, and takes the following turns of a
 * conversation. Its turn must return the same type. Outside of an agent's turn, and in a parallel branch, the call
 * fails. `input` is as above. */
static inline void tenon_finish_agent_text(tenon_call* call, const char* agent, const char* input, size_t length) {
  if (call == NULL) return;
  if (call->functions->size > offsetof(tenon_functions, finish_agent)) {
    call->functions->finish_agent(call, agent, input, length);
  } else {
    static const char too_old[] = "this Tenon cannot leave a turn for an extern";
    call->functions->fail(call, too_old, sizeof too_old - 1);
  }
}
static inline void tenon_finish_agent(tenon_call* call, const char* agent, const char* input) {
  tenon_finish_agent_text(call, agent, input, tenon_length_of_string(input));
}
/* True once the result is no longer needed. Check it in long loops. */
static inline bool tenon_is_cancelled(tenon_call* call) {
  return call != NULL && call->functions->is_cancelled(call);
}

/* Fails the call with a message for people and for the program's `catch`. Return after this call. */
static inline void tenon_fail_text(tenon_call* call, const char* message, size_t length) {
  if (call != NULL) call->functions->fail(call, message, length);
}
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3), unused))
#endif
static void
tenon_fail(tenon_call* call, const char* format, ...) {
  char message[1024];
  va_list arguments;
  int length;
  va_start(arguments, format);
  length = format == NULL ? 0 : vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (length < 0) length = 0;
  tenon_fail_text(call, message,
                  TENON_CAST(size_t, length) < sizeof message ? TENON_CAST(size_t, length) : sizeof message - 1);
}
/* Fails the call because a service that it needs cannot be reached, and says that it has done nothing. A recorded run
 * waits, and makes the same call again, with the same effect key; elsewhere it is a failure like any other. */
static inline void tenon_fail_unavailable(tenon_call* call, const char* message) {
  if (call == NULL) return;
  if (call->functions->size > offsetof(tenon_functions, fail_unavailable)) {
    call->functions->fail_unavailable(call, message, tenon_length_of_string(message));
  } else {
    tenon_fail_text(call, message, tenon_length_of_string(message));
  }
}
/* Fails the call because its work was interrupted: it may have been done or not. A recorded run makes the same call
 * again, as after a crash, and asks a person about one that is made at most once; elsewhere it is a failure like any
 * other. */
static inline void tenon_fail_interrupted(tenon_call* call, const char* message) {
  if (call == NULL) return;
  if (call->functions->size > offsetof(tenon_functions, fail_interrupted)) {
    call->functions->fail_interrupted(call, message, tenon_length_of_string(message));
  } else {
    tenon_fail_text(call, message, tenon_length_of_string(message));
  }
}
static inline bool tenon_failed(tenon_call* call) {
  return call == NULL || call->functions->failed(call);
}

/* --- Reading -------------------------------------------------------------------------------------------------- */

static inline tenon_kind tenon_kind_of(tenon_call* call, const tenon_value* value) {
  return call == NULL ? TENON_NOTHING : call->functions->kind_of(call, value);
}
static inline bool tenon_as_boolean(tenon_call* call, const tenon_value* value) {
  return call != NULL && call->functions->as_boolean(call, value);
}
/* An i64 that does not fit fails the call. */
static inline int32_t tenon_as_i32(tenon_call* call, const tenon_value* value) {
  return call == NULL ? 0 : call->functions->as_i32(call, value);
}
static inline int64_t tenon_as_i64(tenon_call* call, const tenon_value* value) {
  return call == NULL ? 0 : call->functions->as_i64(call, value);
}
static inline double tenon_as_f64(tenon_call* call, const tenon_value* value) {
  return call == NULL ? 0 : call->functions->as_f64(call, value);
}
static inline tenon_text tenon_as_text(tenon_call* call, const tenon_value* value) {
  return call == NULL ? tenon_no_text() : call->functions->as_text(call, value);
}
/* The items of a list, entries of a map, fields of a struct, positions of a tuple, payload of a case. */
static inline size_t tenon_length(tenon_call* call, const tenon_value* value) {
  return call == NULL ? 0 : call->functions->length(call, value);
}
/* An item of a list, a position of a tuple, a field of a struct by its index, a part of a case's payload. */
static inline const tenon_value* tenon_item(tenon_call* call, const tenon_value* value, size_t index) {
  return call == NULL ? NULL : call->functions->item(call, value, index);
}
/* A struct's field by its name. */
static inline const tenon_value* tenon_field(tenon_call* call, const tenon_value* value, const char* name) {
  return call == NULL ? NULL : call->functions->field(call, value, name);
}
/* A map's value; NULL, without a failure, if the key is missing. */
static inline const tenon_value* tenon_find(tenon_call* call, const tenon_value* map, const char* key, size_t length) {
  return call == NULL ? NULL : call->functions->find(call, map, key, length);
}
/* Iterates over a map's entries in insertion order; `cursor` starts at 0. Returns false after the last entry. */
static inline bool tenon_next_entry(tenon_call* call, const tenon_value* map, size_t* cursor, tenon_text* key,
                                    const tenon_value** value) {
  return call != NULL && call->functions->next_entry(call, map, cursor, key, value);
}
/* The name of an enum's case; `None` or `Some`, `Ok` or `Err`. Read the payload with `tenon_item`. */
static inline tenon_text tenon_case_of(tenon_call* call, const tenon_value* value) {
  return call == NULL ? tenon_no_text() : call->functions->case_of(call, value);
}
/* The value in an Option; NULL, without a failure, for None. */
static inline const tenon_value* tenon_some(tenon_call* call, const tenon_value* option) {
  return call == NULL ? NULL : call->functions->some(call, option);
}
/* A value as JSON, as programs write it. The text is valid until the function returns. */
static inline tenon_text tenon_as_json(tenon_call* call, const tenon_value* value) {
  static const char too_old[] = "this Tenon cannot write JSON for an extern";
  if (call == NULL) return tenon_no_text();
  if (call->functions->size > offsetof(tenon_functions, as_json)) return call->functions->as_json(call, value);
  call->functions->fail(call, too_old, sizeof too_old - 1);
  return tenon_no_text();
}

static inline bool tenon_argument_boolean(tenon_call* call, size_t index) {
  return tenon_as_boolean(call, tenon_argument(call, index));
}
static inline int32_t tenon_argument_i32(tenon_call* call, size_t index) {
  return tenon_as_i32(call, tenon_argument(call, index));
}
static inline int64_t tenon_argument_i64(tenon_call* call, size_t index) {
  return tenon_as_i64(call, tenon_argument(call, index));
}
static inline double tenon_argument_f64(tenon_call* call, size_t index) {
  return tenon_as_f64(call, tenon_argument(call, index));
}
static inline tenon_text tenon_argument_text(tenon_call* call, size_t index) {
  return tenon_as_text(call, tenon_argument(call, index));
}

/* --- Writing -------------------------------------------------------------------------------------------------- *
 * A slot has the type that the program declares for it and accepts only that. A later write replaces an earlier one.
 * A slot that is still empty when the function returns fails the call, except that `()` needs no value and an empty
 * Option is None. */

static inline tenon_slot* tenon_result(tenon_call* call) {
  return call == NULL ? NULL : call->functions->result(call);
}
static inline void tenon_put_boolean(tenon_call* call, tenon_slot* slot, bool value) {
  if (call != NULL) call->functions->put_boolean(call, slot, value);
}
/* For i32 and i64. A number that is out of range for i32 fails the call. */
static inline void tenon_put_i64(tenon_call* call, tenon_slot* slot, int64_t value) {
  if (call != NULL) call->functions->put_i64(call, slot, value);
}
static inline void tenon_put_f64(tenon_call* call, tenon_slot* slot, double value) {
  if (call != NULL) call->functions->put_f64(call, slot, value);
}
/* Copies the text. Invalid UTF-8 fails the call. */
static inline void tenon_put_text(tenon_call* call, tenon_slot* slot, const char* data, size_t length) {
  if (call != NULL) call->functions->put_text(call, slot, data, length);
}
/* The same for a NUL-terminated text. */
static inline void tenon_put_string(tenon_call* call, tenon_slot* slot, const char* text) {
  if (call != NULL) call->functions->put_text(call, slot, text, tenon_length_of_string(text));
}
/* Copies an argument or a part of one. */
static inline void tenon_put_value(tenon_call* call, tenon_slot* slot, const tenon_value* value) {
  if (call != NULL) call->functions->put_value(call, slot, value);
}
/* Writes an empty list; the first tenon_put_item does so too. */
static inline void tenon_put_list(tenon_call* call, tenon_slot* slot) {
  if (call != NULL) call->functions->put_list(call, slot);
}
/* Appends to a list and returns the slot of the new item. */
static inline tenon_slot* tenon_put_item(tenon_call* call, tenon_slot* list) {
  return call == NULL ? NULL : call->functions->put_item(call, list);
}
/* Writes a whole list of numbers. */
static inline void tenon_put_i64s(tenon_call* call, tenon_slot* list, const int64_t* items, size_t count) {
  if (call != NULL) call->functions->put_i64s(call, list, items, count);
}
static inline void tenon_put_f64s(tenon_call* call, tenon_slot* list, const double* items, size_t count) {
  if (call != NULL) call->functions->put_f64s(call, list, items, count);
}
/* Writes an empty map; the first tenon_put_entry does so too. */
static inline void tenon_put_map(tenon_call* call, tenon_slot* slot) {
  if (call != NULL) call->functions->put_map(call, slot);
}
/* Returns the slot of a map's value. An existing key gets a new value. */
static inline tenon_slot* tenon_put_entry(tenon_call* call, tenon_slot* map, const char* key, size_t length) {
  return call == NULL ? NULL : call->functions->put_entry(call, map, key, length);
}
/* Returns the slot of a struct's field. */
static inline tenon_slot* tenon_put_field(tenon_call* call, tenon_slot* slot, const char* name) {
  return call == NULL ? NULL : call->functions->put_field(call, slot, name);
}
/* Returns the slot of a tuple's position or, after tenon_put_case, of a part of the case's payload. */
static inline tenon_slot* tenon_put_position(tenon_call* call, tenon_slot* slot, size_t index) {
  return call == NULL ? NULL : call->functions->put_position(call, slot, index);
}
/* Writes an enum's case by its name. */
static inline void tenon_put_case_text(tenon_call* call, tenon_slot* slot, const char* name, size_t length) {
  if (call != NULL) call->functions->put_case(call, slot, name, length);
}
static inline void tenon_put_case(tenon_call* call, tenon_slot* slot, const char* name) {
  tenon_put_case_text(call, slot, name, tenon_length_of_string(name));
}
static inline void tenon_put_none(tenon_call* call, tenon_slot* slot) {
  if (call != NULL) call->functions->put_none(call, slot);
}
/* Returns the slot of the value in an Option. */
static inline tenon_slot* tenon_put_some(tenon_call* call, tenon_slot* slot) {
  return call == NULL ? NULL : call->functions->put_some(call, slot);
}
/* For a function that returns a Result: returns the slot of its value, or writes the failure as a value. */
static inline tenon_slot* tenon_put_ok(tenon_call* call, tenon_slot* slot) {
  return call == NULL ? NULL : call->functions->put_ok(call, slot);
}
static inline void tenon_put_err_text(tenon_call* call, tenon_slot* slot, const char* message, size_t length) {
  if (call != NULL) call->functions->put_err(call, slot, message, length);
}
static inline void tenon_put_err(tenon_call* call, tenon_slot* slot, const char* message) {
  tenon_put_err_text(call, slot, message, tenon_length_of_string(message));
}
/* A value as JSON of the slot's type. */
static inline void tenon_put_json_text(tenon_call* call, tenon_slot* slot, const char* data, size_t length) {
  static const char too_old[] = "this Tenon cannot read JSON of an extern";
  if (call == NULL) return;
  if (call->functions->size > offsetof(tenon_functions, put_json)) {
    call->functions->put_json(call, slot, data, length);
  } else {
    call->functions->fail(call, too_old, sizeof too_old - 1);
  }
}
static inline void tenon_put_json(tenon_call* call, tenon_slot* slot, const char* text) {
  tenon_put_json_text(call, slot, text, tenon_length_of_string(text));
}

#ifdef __cplusplus
} /* extern "C" */
#endif
