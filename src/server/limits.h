#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::server {

/// What the server takes at most; `--limit NAME=N` sets each by its name.
struct Limits {
  std::size_t body_bytes = std::size_t{4} << 20U;     ///< of a request
  std::size_t header_bytes = std::size_t{16} << 10U;  ///< of a request, its line included
  std::size_t connections = 4'096;                    ///< at once; further ones are answered 503
  /// Of a run's newest events that are kept for its readers; a reader that falls behind gets older ones from the store.
  std::size_t queue_bytes = std::size_t{1} << 20U;
  std::size_t chunk_bytes = std::size_t{64} << 10U;  ///< that are under way to one reader
  std::size_t write_seconds = 20;                    ///< that one chunk may take; then the reader is cut
  std::size_t idle_seconds = 120;  ///< that a connection waits for a request, and a request for its rest
  std::size_t drain_seconds = 10;  ///< that requests under way get when the server stops
  std::size_t listed = 1'000;      ///< runs or events in one answer
  /// Of one value that a chat answers with; a longer one is an error, so that a few do not fill the memory.
  std::size_t answer_bytes = std::size_t{16} << 20U;
  std::size_t memory_mb = 4'096;  ///< of the values of all runs in memory
  std::size_t idle_runs = 1'000;  ///< waiting runs that are kept in memory
};

/// The limit of that name; null when there is none.
[[nodiscard]] std::size_t* find_limit(Limits& limits, std::string_view name);
/// The names, separated by commas.
[[nodiscard]] std::string limit_names();

}  // namespace tenon::server
