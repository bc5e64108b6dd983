#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/engine_error.h"
#include "journal/open_store.h"
#include "journal/work_queue.h"
#include "server/http_message.h"

namespace tenon::server {

/// Requests that wait for the inspector at once; further ones get 503.
inline constexpr std::size_t inspections_max = 64;
/// Records of a run that is inspected. To replay so many takes the inspector a few seconds.
inline constexpr std::uint64_t inspected_records_max = 500'000;

/// Answers requests that replay recorded runs, one after the other, on a thread of its own with a connection to the
/// store of its own: the server's thread does not wait for them. Used by the server's thread.
class Inspector final {
 public:
  /// Nothing: it answers itself, or has something else answer.
  using Inspect = std::function<std::optional<HttpResponse>(journal::Store& store)>;
  using OpenReader = std::function<Result<std::unique_ptr<journal::StoreConnection>, engine::EngineError>()>;
  /// Receives what was thrown: a bug in Tenon, or there is no memory. On the inspector's thread.
  using Report = std::function<void(std::string_view message)>;

  Inspector(OpenReader open, Report report) : open_(std::move(open)), report_(std::move(report)) {}
  /// Answers what waits first.
  ~Inspector() = default;
  Inspector(const Inspector&) = delete;
  Inspector& operator=(const Inspector&) = delete;

  /// Answers once, on the inspector's thread, or at once if too many requests wait.
  void begin(Inspect inspect, OnAnswer answer);

 private:
  [[nodiscard]] std::optional<HttpResponse> perform(const Inspect& inspect);

  OpenReader open_;
  Report report_;
  std::unique_ptr<journal::StoreConnection> reader_;  ///< of the inspector's thread; opened by its first request
  std::atomic<std::size_t> waiting_{0};
  journal::ThreadQueue queue_;  ///< last: its thread uses the others
};

}  // namespace tenon::server
