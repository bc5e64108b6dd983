#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "vm/loaded_program.h"
#include "vm/request.h"

namespace tenon::cli {

/// Answers a request of a test, or says why its script has no answer.
using TestAnswerer = std::function<Result<vm::Outcome, std::string>(const vm::Request& request)>;

/// Runs a test as a durable run: whatever it asks for and gets is a record, and after each record its machine is
/// dropped. It goes on from the records, from the first one as from a snapshot of the time before; both must come to
/// the same state. Nothing when the test has passed; otherwise what went wrong.
[[nodiscard]] std::optional<std::string> run_test_through_journal(
    const std::shared_ptr<const vm::LoadedProgram>& program, std::uint32_t function, const TestAnswerer& answer);

}  // namespace tenon::cli
