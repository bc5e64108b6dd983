#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/environment.h"
#include "json/json.h"
#include "runtime/runtime.h"

namespace tenon::cli {

/// Prints the state of a run: its value on stdout, everything else on stderr. Returns the exit code. `store`: the path
/// from the command line, empty without a store.
[[nodiscard]] int report_run(const runtime::Runtime& runtime, runtime::RunId run, const std::string& store,
                             const Environment& environment);

/// The same for the newest turn of a conversation.
[[nodiscard]] int report_turn(const runtime::Runtime& runtime, runtime::RunId run, const Environment& environment);

/// Prints a value on stdout: text unchanged, anything else as JSON; nothing for (). A value that is too large for JSON
/// (vm::to_json) is an error. Returns the exit code.
[[nodiscard]] int print_result(const vm::Value& value, types::TypeId type, const types::TypeTable& table,
                               const Environment& environment);

/// `2026-11-23T08:02:11Z`. `ms`: milliseconds since 1970.
[[nodiscard]] std::string shown_time(std::int64_t ms);

/// What can be answered to a question: in words if there are few options, otherwise the type. `is_approval`: the
/// question shows a value of the type, which is to be approved.
[[nodiscard]] std::string shown_answer(std::string_view type, const Json& schema, bool is_approval);

/// Asks at the terminal, without echo if the answer is a secret. Returns nothing if Environment::read_line does.
[[nodiscard]] std::optional<std::string> read_answer(const runtime::PendingInput& question,
                                                     const Environment& environment, const Look& look = {});

/// Asks the person at the terminal: questions on stderr, answers as lines of stdin.
class TerminalPrompter final : public runtime::InteractivePrompter {
 public:
  explicit TerminalPrompter(const Environment& environment) : environment_(environment) {}
  [[nodiscard]] std::optional<std::string> ask(const runtime::PendingInput& question,
                                               std::string_view complaint) override;

 private:
  const Environment& environment_;
};

}  // namespace tenon::cli
