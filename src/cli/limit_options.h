#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command_line.h"

namespace tenon::cli {

/// Reads the values of `--budget`: `calls=N`, `tokens=N`, `instructions=N`, `depth=N`, `time=MS`.
[[nodiscard]] Result<void, UsageError> read_budgets(const std::vector<std::string>& texts, bytecode::Bounds& budgets);

/// Reads the values of `--retry`, which are those of `[retry]` in the manifest: `initial=TIME`, `factor=N`,
/// `max_interval=TIME`, `max_elapsed=TIME`.
[[nodiscard]] Result<void, UsageError> read_retries(const std::vector<std::string>& texts,
                                                    effects::RetrySettings& retry);

}  // namespace tenon::cli
