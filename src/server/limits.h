#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::server {

/// The server's limits; `--limit NAME=N` sets each by its name.
struct Limits {
  std::size_t body_bytes = std::size_t{4} << 20U;     ///< of a request
  std::size_t header_bytes = std::size_t{16} << 10U;  ///< of a request, with the request line
  std::size_t connections = 4'096;                    ///< at once; further ones get 503
  /// Newest events of a run that are kept for its readers; a reader that is too slow gets older ones from the store.
  std::size_t queue_bytes = std::size_t{1} << 20U;
  std::size_t chunk_bytes = std::size_t{64} << 10U;  ///< sent to one reader at once
  std::size_t write_seconds = 20;                    ///< for sending one chunk; then the reader is disconnected
  std::size_t idle_seconds = 120;  ///< for which a connection may be silent, between requests or within one
  std::size_t drain_seconds = 10;  ///< for requests in progress when the server stops
  std::size_t listed = 1'000;      ///< runs or events in one answer
  /// Size of one value in a chat's answer; a larger one is an error, so that a few of them cannot fill the memory.
  std::size_t answer_bytes = std::size_t{16} << 20U;
  std::size_t memory_mb = 4'096;  ///< of the values of all runs in memory
  std::size_t idle_runs = 1'000;  ///< waiting runs that are kept in memory
};

/// Returns the limit with that name; null for an unknown one.
[[nodiscard]] std::size_t* find_limit(Limits& limits, std::string_view name);
/// The names, separated by commas.
[[nodiscard]] std::string limit_names();

}  // namespace tenon::server
