#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.h"
#include "telemetry/span.h"

namespace tenon::http_client {
class HttpClient;
}

namespace tenon::telemetry {

struct OtlpOptions {
  std::string url;                   ///< of the traces, as http://localhost:4318/v1/traces
  std::vector<std::string> headers;  ///< "Name: value"
  std::string ca_file;
  std::string proxy;
  std::string no_proxy;
  std::vector<Attribute> resource;
  std::string version;                         ///< of Tenon
  std::size_t queue_spans_max = 2'048;         ///< further spans are dropped, and counted
  std::size_t queue_bytes_max = 16U << 20U;    ///< the same for what they take
  std::size_t batch_spans_max = 512;           ///< in one request
  std::chrono::milliseconds schedule{5'000};   ///< that a span waits for others at most
  std::chrono::milliseconds timeout{10'000};   ///< of a batch, repetitions included
  std::chrono::milliseconds flush_max{3'000};  ///< that the end of the process waits for what is left
};

/// Counters for monitoring; any thread.
struct ExportCounts {
  std::atomic<std::uint64_t> exported{0}, dropped{0}, requests_failed{0};
};

/// Sends spans to a collector from a separate thread, in batches. Its callers never wait: spans that do not fit into
/// the queue, or cannot be delivered in time, are dropped and counted.
class OtlpExporter final : public SpanSink {
 public:
  /// `report`: receives a problem, for people, on the exporter's thread; once until a request succeeds again. Fails
  /// with a message if the options cannot be used.
  [[nodiscard]] static Result<std::unique_ptr<OtlpExporter>, std::string> open(
      OtlpOptions options, std::function<void(std::string_view)> report);
  /// Sends the queue, for OtlpOptions::flush_max at most.
  ~OtlpExporter() override;
  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;

  /// From any thread.
  void take(Span span) override;
  [[nodiscard]] const ExportCounts& counts() const { return counts_; }

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  enum class Sent : std::uint8_t { Taken, Refused, TryAgain };

  OtlpExporter(OtlpOptions options, std::unique_ptr<http_client::HttpClient> client,
               std::function<void(std::string_view)> report);
  void loop();
  [[nodiscard]] std::vector<Span> next_batch();
  void send(const std::vector<Span>& batch);
  [[nodiscard]] Sent post(const std::string& body, TimePoint deadline, std::string& problem);
  [[nodiscard]] TimePoint deadline_of_batch();

  const OtlpOptions options_;
  const std::unique_ptr<http_client::HttpClient> client_;
  const std::function<void(std::string_view)> report_;
  ExportCounts counts_;
  bool has_reported_ = false;  ///< the exporter's thread alone

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Span> queue_;
  std::size_t queue_bytes_ = 0;
  bool is_ending_ = false;
  TimePoint flush_until_;

  std::thread thread_;
};

}  // namespace tenon::telemetry
