#include "telemetry/otlp_exporter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ensure.h"
#include "http_client/http_client.h"
#include "telemetry/otlp.h"

namespace tenon::telemetry {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

/// Between two tries of a batch; doubled each time.
constexpr milliseconds first_pause{500};
/// A collector answers with one line; a longer reply is cut off.
constexpr std::size_t reply_bytes_max = std::size_t{64} << 10U;
/// How long the thread waits for its socket before it looks whether the process ends.
constexpr milliseconds look_every{100};

milliseconds until(Steady::time_point time) {
  return std::max(std::chrono::duration_cast<milliseconds>(time - Steady::now()), milliseconds{0});
}

/// Those that OTLP names as worth another try.
bool is_worth_another_try(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace

Result<std::unique_ptr<OtlpExporter>, std::string> OtlpExporter::open(OtlpOptions options,
                                                                      std::function<void(std::string_view)> report) {
  http_client::HttpClientOptions client_options;
  client_options.url = options.url;
  client_options.headers = options.headers;
  client_options.headers.emplace_back("Content-Type: application/json");
  client_options.ca_file = options.ca_file;
  client_options.proxy = options.proxy;
  client_options.no_proxy = options.no_proxy;
  client_options.reply_bytes_max = reply_bytes_max;
  client_options.connections_kept_max = 1;
  client_options.connect_timeout = options.timeout;
  auto client = http_client::HttpClient::open(client_options);
  if (!client) return failure(std::move(client.error()));
  return std::unique_ptr<OtlpExporter>(new OtlpExporter(std::move(options), std::move(*client), std::move(report)));
}

OtlpExporter::OtlpExporter(OtlpOptions options, std::unique_ptr<http_client::HttpClient> client,
                           std::function<void(std::string_view)> report)
    : options_(std::move(options)), client_(std::move(client)), report_(std::move(report)) {
  thread_ = std::thread([this] { loop(); });
}

OtlpExporter::~OtlpExporter() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
    flush_until_ = Steady::now() + options_.flush_max;
  }
  changed_.notify_one();
  client_->wake();
  thread_.join();
}

void OtlpExporter::take(Span span) {
  const std::size_t bytes = bytes_of(span);
  bool is_batch = false;
  {
    const std::scoped_lock lock(mutex_);
    if (queue_.size() >= options_.queue_spans_max || queue_bytes_ + bytes > options_.queue_bytes_max) {
      ++counts_.dropped;
      return;
    }
    queue_.push_back(std::move(span));
    queue_bytes_ += bytes;
    is_batch = queue_.size() == options_.batch_spans_max;
  }
  if (is_batch) changed_.notify_one();
}

void OtlpExporter::loop() {
  for (;;) {
    const std::vector<Span> batch = next_batch();
    if (batch.empty()) return;
    try {
      send(batch);
    } catch (const BrokenCondition& broken) {
      report_(fmt::format("no more spans are exported: {}", broken.what()));
      return;
    }
  }
}

/// Waits until a batch is full or its time has come. Empty: the process ends and nothing is left.
std::vector<Span> OtlpExporter::next_batch() {
  std::unique_lock lock(mutex_);
  const auto is_due = [this] { return is_ending_ || queue_.size() >= options_.batch_spans_max; };
  while (!is_due()) {
    changed_.wait_for(lock, options_.schedule, is_due);
    if (!queue_.empty()) break;
  }
  std::vector<Span> batch;
  while (!queue_.empty() && batch.size() < options_.batch_spans_max) {
    queue_bytes_ -= bytes_of(queue_.front());
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return batch;
}

OtlpExporter::TimePoint OtlpExporter::deadline_of_batch() {
  const std::scoped_lock lock(mutex_);
  return is_ending_ ? flush_until_ : TimePoint::max();
}

/// Tries until the batch is taken, refused, or its time is over.
void OtlpExporter::send(const std::vector<Span>& batch) {
  const std::string body = encode_otlp(options_.resource, options_.version, batch);
  const auto own_deadline = Steady::now() + options_.timeout;
  milliseconds pause = first_pause;
  std::string problem;
  for (;;) {
    const auto sent = post(body, own_deadline, problem);
    if (sent == Sent::Taken) {
      counts_.exported += batch.size();
      has_reported_ = false;
      return;
    }
    ++counts_.requests_failed;
    const auto deadline = std::min(own_deadline, deadline_of_batch());
    if (sent == Sent::Refused || Steady::now() + pause >= deadline) break;
    std::unique_lock lock(mutex_);
    const bool was_ending = is_ending_;
    changed_.wait_for(lock, pause, [this, was_ending] { return is_ending_ != was_ending; });
    pause *= 2;
  }
  counts_.dropped += batch.size();
  if (std::exchange(has_reported_, true)) return;
  report_(fmt::format("spans cannot be sent to {}: {}; they are dropped",
                      http_client::find_host(options_.url).value_or("the collector"), problem));
}

OtlpExporter::Sent OtlpExporter::post(const std::string& body, TimePoint deadline, std::string& problem) {
  http_client::HttpRequest& request = client_->acquire();
  request.body = body;
  client_->begin(request, http_client::Reading::AtEnd);
  std::vector<http_client::HttpRequest*> received, ended;
  while (ended.empty()) {
    const auto left = until(std::min(deadline, deadline_of_batch()));
    if (left.count() == 0) break;
    client_->poll(std::min(left, look_every), received, ended);
  }
  auto sent = Sent::TryAgain;
  if (ended.empty()) {
    problem = "no answer in time";
  } else if (request.result == http_client::TransferResult::CertificateRefused ||
             request.result == http_client::TransferResult::Failed) {
    problem = request.detail;
    sent = Sent::Refused;
  } else if (request.result != http_client::TransferResult::Replied) {
    problem = request.detail;
  } else if (request.status / 100 == 2) {
    sent = Sent::Taken;
  } else {
    // Not the reply's text: it may repeat what was sent.
    problem = fmt::format("it answers with {}", request.status);
    if (!is_worth_another_try(request.status)) sent = Sent::Refused;
  }
  client_->release(request);
  return sent;
}

}  // namespace tenon::telemetry
