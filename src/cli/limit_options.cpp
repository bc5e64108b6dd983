#include "cli/limit_options.h"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "base/duration.h"
#include "base/parse_number.h"

namespace tenon::cli {

static constexpr double retry_factor_max = 1'000;

static bool parse_budget(const std::string& text, bytecode::Bounds& budgets) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return false;
  const auto bound = bytecode::find_bound(text.substr(0, equals));
  // Prices of models are not known.
  if (!bound || *bound == &bytecode::Bounds::cost_millionths) return false;
  const std::string value = text.substr(equals + 1);
  auto amount = parse_number<std::uint64_t>(value);
  if (!amount && *bound == &bytecode::Bounds::milliseconds) amount = read_duration_ms(value);
  if (!amount) return false;
  budgets.*(*bound) = amount;
  return true;
}

Result<void, UsageError> read_budgets(const std::vector<std::string>& texts, bytecode::Bounds& budgets) {
  for (const std::string& text : texts) {
    if (parse_budget(text, budgets)) continue;
    return failure(
        UsageError{fmt::format("invalid value for `--budget`: expected calls=N, tokens=N, instructions=N, depth=N or "
                               "time=TIME, as in time=30s, got `{}`",
                               text)});
  }
  return {};
}

static bool parse_retry(const std::string& text, effects::RetrySettings& retry) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return false;
  const std::string name = text.substr(0, equals);
  const std::string value = text.substr(equals + 1);
  if (name == "factor") {
    double factor = 0;
    std::istringstream number(value);
    if (!(number >> factor) || !number.eof() || !(factor >= 1 && factor <= retry_factor_max)) return false;
    retry.factor_thousandths = static_cast<std::uint64_t>(std::llround(factor * 1'000));
    return true;
  }
  const auto milliseconds = read_duration_ms(value);
  if (!milliseconds || (*milliseconds == 0 && name != "max_elapsed")) return false;
  if (name == "initial") {
    retry.initial_ms = milliseconds;
  } else if (name == "max_interval") {
    retry.interval_max_ms = milliseconds;
  } else if (name == "max_elapsed") {
    retry.elapsed_max_ms = milliseconds;
  } else {
    return false;
  }
  return true;
}

Result<void, UsageError> read_retries(const std::vector<std::string>& texts, effects::RetrySettings& retry) {
  for (const std::string& text : texts) {
    if (parse_retry(text, retry)) continue;
    return failure(UsageError{fmt::format(
        "invalid value for `--retry`: expected initial=TIME, factor=N, max_interval=TIME or max_elapsed=TIME, got `{}`",
        text)});
  }
  return {};
}

}  // namespace tenon::cli
