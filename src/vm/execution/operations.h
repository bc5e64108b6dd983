#pragma once

#include "bytecode/instructions.h"
#include "vm/machine_state.h"
#include "vm/values/value.h"

namespace tenon::vm {

/// One instruction on the registers of the running frame. Registers, indices and types were verified; tags were not.
using Operation = OpStatus(MachineState& state, Value* r, bytecode::Instruction instruction);

// text_operations.cpp
Operation operate_concatenate, operate_append, operate_template, operate_render, operate_describe,
    operate_describe_sides, operate_less_string, operate_less_equal_string, operate_read_json, operate_inject,
    operate_inject_as, operate_inject_prompt, operate_inject_role, operate_context_entries, operate_fail,
    operate_assert, operate_break_contract;

// aggregate_operations.cpp
Operation operate_load_case, operate_make_list, operate_make_map, operate_make_record, operate_make_variant,
    operate_get_field, operate_set_field, operate_take_field, operate_get_item, operate_set_item, operate_take_item,
    operate_get_entry, operate_set_entry, operate_take_entry, operate_get_case, operate_get_payload, operate_push,
    operate_pop, operate_remove_entry, operate_length, operate_insert_item, operate_remove_item, operate_equal,
    operate_not_equal, operate_for_list, operate_for_map, operate_raise;

/// Raises the failure of a Failure record again, with its original location.
[[nodiscard]] OpStatus raise_again(MachineState& state, const Value& raised);

// number_operations.cpp; the arithmetic ones only report why the interpreter could not execute the instruction
Operation operate_f64_to_integer, operate_integer_to_i32, operate_check;
Operation explain_add, explain_subtract, explain_multiply, explain_divide, explain_negate, explain_add_short;

// vm/builtins/builtins.cpp
Operation operate_call_builtin;

/// ForList and ForMap: whether there was a next item. OpStatus::Failed means that there was none, not a failure.
inline constexpr OpStatus no_more = OpStatus::Failed;

}  // namespace tenon::vm
