#pragma once

#include "bytecode/program.h"

namespace tenon::test {

/// A verified program with all features: types of all kinds, externs, sites, budgets, tests, handlers, blocks. Its
/// `main(ctx: Context, s: String)` executes most instructions, asks the model, calls `fetch`, and returns a list.
[[nodiscard]] bytecode::Program sample_program();

}  // namespace tenon::test
