#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bytecode/program.h"
#include "vm/loaded_program.h"

namespace tenon::engine {

/// How a test of a program is run. Its script answers all requests.
enum class TestMode : std::uint8_t {
  Plain,
  Reloaded,   ///< the machine is encoded and decoded after each instruction
  Journalled  ///< as a durable run, see run_test_through_journal
};

/// Runs one test of the program's Program::tests. Returns nothing if it has passed, otherwise why it failed, on one or
/// more lines. `interrupted` ends it early; may be null.
[[nodiscard]] std::optional<std::string> run_test(const std::shared_ptr<const vm::LoadedProgram>& program,
                                                  const bytecode::TestCase& test, TestMode mode,
                                                  const std::atomic<bool>* interrupted);

}  // namespace tenon::engine
