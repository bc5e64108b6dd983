#pragma once

#include <string>
#include <string_view>

#include "bytecode/program.h"
#include "tests/support/machine_run.h"

namespace tenon::test {

/// The labels of the calls of an extern in a run, in order, separated by `; `.
[[nodiscard]] std::string labels_of_calls(const RunRecord& record, const bytecode::Program& program,
                                          std::string_view callee);

}  // namespace tenon::test
