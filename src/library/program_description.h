#pragma once

#include "bytecode/program.h"
#include "json/json.h"

namespace tenon::library {

/// What a program offers to a host, as a JSON object:
/// - `functions` of the entry file that are not generic, each with `name`, `documentation`, `parameters` and `result`;
/// - `agents`, each with `name`, `documentation`, `input` and `result`, the types of a turn;
/// - `externs` without those of `std`, in the form of the functions;
/// - `types`, a list: all types above are indices into it.
/// A parameter has a `name` and a `type`; one of type Context is left out. docs/guides/library.md describes the types.
[[nodiscard]] Json describe_program(const bytecode::Program& program);

}  // namespace tenon::library
