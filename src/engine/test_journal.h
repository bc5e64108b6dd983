#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "vm/loaded_program.h"
#include "vm/request.h"

namespace tenon::engine {

/// Answers a request of a test, or fails with the reason why its script has no answer.
using TestAnswerer = std::function<Result<vm::Outcome, std::string>(const vm::Request& request)>;

/// Runs a test as a durable run: each request and each outcome is a record, and the machine is discarded after each
/// record. The test continues from the records, once from the first one and once from an earlier snapshot; both must
/// reach the same state. Returns nothing if the test has passed, otherwise why it failed.
[[nodiscard]] std::optional<std::string> run_test_through_journal(
    const std::shared_ptr<const vm::LoadedProgram>& program, std::uint32_t function, const TestAnswerer& answer);

}  // namespace tenon::engine
