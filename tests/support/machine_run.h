#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bytecode/program.h"
#include "vm/machine.h"

namespace tenon::test {

/// How a run is driven.
enum class Drive : std::uint8_t {
  Straight,                 ///< until it ends or waits
  SnapshotEachInstruction,  ///< after every instruction the machine is encoded, dropped and decoded
};

/// Answers a request; without an outcome, the request remains open until all others are answered.
using Answerer = std::function<vm::Outcome(vm::Machine& machine, const vm::Request& request)>;

/// The observable behavior of a run.
struct RunRecord {
  std::string end;        ///< `value JSON`, `failed Kind: message (place; blame)`, `damaged: message` or `waiting`
  std::string label;      ///< of the value or the failure, in words
  std::string requests;   ///< one per line: key, kind, subject, arguments, context, label
  std::string cancelled;  ///< numbers of requests, separated by spaces
  std::uint64_t instructions = 0;
  vm::CallStack call_stack;  ///< of a failure
  friend bool operator==(const RunRecord& a, const RunRecord& b) {
    return a.end == b.end && a.label == b.label && a.requests == b.requests && a.cancelled == b.cancelled &&
           a.instructions == b.instructions;
  }
};

/// Loads a program; an error ends the process.
[[nodiscard]] std::shared_ptr<const vm::LoadedProgram> load(bytecode::Program program);

/// Runs a function until it ends or no open request is answered. The newest request is answered first, so that outcomes
/// arrive out of order.
[[nodiscard]] RunRecord run_once(const std::shared_ptr<const vm::LoadedProgram>& program,
                                 std::vector<vm::Argument> arguments, Drive drive, const Answerer& answerer = {},
                                 const bytecode::Bounds& bounds = {}, std::uint32_t function = 0);

/// Runs in both modes and expects the same result.
[[nodiscard]] RunRecord run(const std::shared_ptr<const vm::LoadedProgram>& program,
                            const std::vector<vm::Argument>& arguments = {}, const Answerer& answerer = {},
                            const bytecode::Bounds& bounds = {}, std::uint32_t function = 0);

}  // namespace tenon::test
