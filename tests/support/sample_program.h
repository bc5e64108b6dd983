#pragma once

#include "bytecode/program.h"

namespace tenon::test {

/// A verified program that has some of everything: types of all kinds, externs, sites, budgets, tests, handlers,
/// blocks. Its `main(ctx: Context, s: String)` runs through most instructions, asks the model, calls `fetch`, and
/// returns a list.
[[nodiscard]] bytecode::Program sample_program();

}  // namespace tenon::test
