#pragma once

#include <string_view>

#include "bytecode/program.h"

namespace tenon::test {

/// Assembles a program from the text of its functions, with the names of the instruction table. `base` contains what
/// the text cannot express: types, externs, sites, budgets. For tests only: an error ends the process.
///
///     fn fib registers=5 params=i64 result=i64 context=none
///       LessShort 1 0 2          # operands in the order of the table; registers are numbers
///       JumpUnless 1 @big
///       Return 0
///     @big
///       AddI64Short 1 0 -1
///       Call 1 fib               # functions, externs and built-ins by name; sites and budgets by number
///       LoadConstant 2 "text"    # constants: "…", 1, 1.5, true, ()
///       Parallel 1 [@a @b]       # jump tables: targets, after `else` the default
///       MakeRecord 1 2 Point     # types as TypeTable::describe returns them
///       Return 1
///     handler @a @b @target 3 0  # begin, end, target, register, budget depth
///
/// The location of an instruction is `test.tn`, its line in the text, column 1.
[[nodiscard]] bytecode::Program assemble(std::string_view text, bytecode::Program base = {});

}  // namespace tenon::test
