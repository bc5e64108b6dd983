#pragma once

#include <string_view>

#include "bytecode/program.h"

namespace tenon::test {

/// Makes a program from the text of its functions, with the names of the instruction table. `base` holds what the text
/// cannot: types, externs, sites, budgets. For tests: a mistake ends the process.
///
///     fn fib registers=5 params=i64 result=i64 context=none
///       LessShort 1 0 2          # operands as the table names them; registers are numbers
///       JumpUnless 1 @big
///       Return 0
///     @big
///       AddI64Short 1 0 -1
///       Call 1 fib               # functions, externs and built-ins by name; sites and budgets by number
///       LoadConstant 2 "text"    # constants: "…", 1, 1.5, true, ()
///       Parallel 1 [@a @b]       # jump tables: targets, after `else` the default
///       MakeRecord 1 2 Point     # types as TypeTable::describe gives them
///       Return 1
///     handler @a @b @target 3 0  # begin, end, target, register, budget depth
///
/// The place of an instruction is `test.tn`, its line of the text, column 1.
[[nodiscard]] bytecode::Program assemble(std::string_view text, bytecode::Program base = {});

}  // namespace tenon::test
