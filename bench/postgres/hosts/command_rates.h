#pragma once

#include <sys/types.h>
#include <tenon/tenon.hpp>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/postgres/processor_time.h"

namespace tenon::bench {

/// A gateway, and the processes that it needs.
struct Gateway {
  const tenon::host::Host& host;
  const std::vector<std::string>& conversations;
  pid_t owner = 0;  ///< the process that continues them
  const ServerProcessorTime& database;
};

/// Prompts through the gateway at constant rates, whatever the replies do. The time of each is that from when it was
/// due until its reply, which means durable: one that is sent late because others took long is late by that, too.
/// Returns what was measured at each rate, in commands a second, for so many seconds; and the highest rate whose p99 is
/// within the goal.
[[nodiscard]] nlohmann::ordered_json measure_command_rates(const Gateway& gateway, const std::vector<int>& rates,
                                                           double seconds);

}  // namespace tenon::bench
