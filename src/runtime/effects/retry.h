#pragma once

#include <cstdint>
#include <optional>

#include "effects/record.h"

/// When a run tries again to reach a model or a tool.
namespace tenon::runtime {

inline constexpr std::uint64_t retry_initial_ms_default = 1'000;
inline constexpr std::uint64_t retry_factor_thousandths_default = 2'000;
inline constexpr std::uint64_t retry_interval_max_ms_default = 60'000;
inline constexpr std::uint64_t retry_elapsed_max_ms_default = std::uint64_t{24} * 60 * 60 * 1'000;

/// Whether a run waits for services that cannot be reached; otherwise the effect fails.
[[nodiscard]] bool waits_for_services(const effects::RetrySettings& settings);

/// The wait before the next retry, milliseconds, when `retries` were made and `elapsed_ms` have passed since the first
/// failure; nothing when that would take longer than the settings allow. `random_unit`, in [0, 1), shortens it by up to
/// a fifth, so that runs that began to wait together do not all return at once.
[[nodiscard]] std::optional<std::int64_t> next_retry_ms(const effects::RetrySettings& settings, std::uint32_t retries,
                                                        std::int64_t elapsed_ms, double random_unit);

}  // namespace tenon::runtime
