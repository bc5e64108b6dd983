#pragma once

#include <string>

#include "cli/environment.h"
#include "runtime/runtime.h"

namespace tenon::cli {

/// What a run has come to: its value goes to stdout, everything else to stderr. Gives the exit code. `store`: the path
/// that was given, empty without one.
[[nodiscard]] int report_run(const runtime::Runtime& runtime, runtime::RunId run, const std::string& store,
                             const Environment& environment);

/// The same of the newest turn of a conversation.
[[nodiscard]] int report_turn(const runtime::Runtime& runtime, runtime::RunId run, const Environment& environment);

/// What is printed of a value: text raw, the rest as JSON, a line each; nothing for ().
[[nodiscard]] std::optional<std::string> shown_result(const vm::Value& value, types::TypeId type,
                                                      const types::TypeTable& table);

/// Asks at the terminal, which does not show the answer to a question for a secret. Nothing as Environment::read_line.
[[nodiscard]] std::optional<std::string> read_answer(const runtime::PendingInput& question,
                                                     const Environment& environment);

/// The person at the terminal: questions on stderr, answers a line each on stdin.
class TerminalPrompter final : public runtime::InteractivePrompter {
 public:
  explicit TerminalPrompter(const Environment& environment) : environment_(environment) {}
  [[nodiscard]] std::optional<std::string> ask(const runtime::PendingInput& question,
                                               std::string_view complaint) override;

 private:
  const Environment& environment_;
};

}  // namespace tenon::cli
