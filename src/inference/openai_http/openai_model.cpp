#include "inference/openai_http/openai_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "base/ensure.h"
#include "http_client/http_client.h"
#include "inference/openai_http/chat_reply.h"
#include "inference/openai_http/chat_request.h"
#include "inference/openai_http/reply_outcome.h"
#include "inference/openai_http/streamed_reply.h"

namespace tenon::inference {
namespace {

using http_client::HttpClient, http_client::HttpRequest, http_client::Reading, http_client::ReplyFraming;
using http_client::TransferResult;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;

/// A longer timeout counts as this, so that no time of day overflows.
constexpr milliseconds timeout_max = std::chrono::hours(24 * 365);

enum class Stage : std::uint8_t { Queued, Sent, BackingOff, Finished };

struct Generation {
  GenerationId id = 0;
  std::uint64_t serial = 0;  ///< tells apart generations that were given the same id one after the other
  GenerationRequest request;
  GenerationSink* sink = nullptr;
  Stage stage = Stage::Queued;
  TimePoint started_at;
  TimePoint deadline;
  TimePoint alarm;  ///< its entry in the alarms
  std::uint32_t attempts = 0;
  HttpRequest* transfer = nullptr;           ///< while Sent
  bool is_joined = false;                    ///< as it was sent: adjacent messages of one role were joined
  std::optional<StreamedReply> stream;       ///< while Sent, where the model streams
  std::optional<TimePoint> last_byte_at;     ///< of the streamed reply
  std::optional<GenerationOutcome> outcome;  ///< once Finished, until it is delivered
  std::string last_fault;                    ///< what the attempt before this one met
};

/// A report to a sink, delivered when no curl call is on the stack.
struct Delivery {
  GenerationId id = 0;
  std::uint64_t serial = 0;
  std::uint32_t attempt = 0;
  std::optional<std::string> piece;
  std::optional<milliseconds> retry_wait;  ///< the attempt has failed, and the next one comes after this
  std::string reason;                      ///< why it has failed; without any of these: the outcome
};

bool is_success(int status) {
  return status >= 200 && status <= 299;
}

std::string seconds(milliseconds duration) {
  return fmt::format("{:g} s", static_cast<double>(duration.count()) / 1000.0);
}

class CurlOpenAiModel final : public OpenAiModel {
 public:
  CurlOpenAiModel(OpenAiOptions options, OpenAiEnvironment environment, std::unique_ptr<HttpClient> client,
                  std::string host, TokenLimitField token_limit_field)
      : options_(std::move(options)),
        environment_(std::move(environment)),
        client_(std::move(client)),
        host_(std::move(host)),
        writer_(options_, token_limit_field),
        in_flight_max_(options_.requests_in_flight_max) {}

  [[nodiscard]] std::string_view name() const override { return options_.model; }
  void start(GenerationId id, GenerationRequest request, GenerationSink& sink) override;
  [[nodiscard]] std::optional<GenerationRequest> sent_form(const GenerationRequest& request) const override {
    return writer_.sent_form(request);
  }
  void cancel(GenerationId id) override;
  void poll(milliseconds wait) override;
  void begin_only_while(std::function<bool()> may_begin) override { may_begin_ = std::move(may_begin); }
  void wake() override { client_->wake(); }

 private:
  void set_alarm(Generation& generation, TimePoint at);
  void drop_alarm(Generation& generation);
  void ring_alarms();
  void send_queued();
  void send(Generation& generation);
  void read_stream(Generation& generation);
  void conclude(Generation& generation);
  void conclude_reply(Generation& generation);
  void fail_attempt(Generation& generation, ReplyFault fault, std::optional<milliseconds> asked_wait = std::nullopt);
  void finish(Generation& generation, GenerationOutcome outcome);
  void finish_with(Generation& generation, ModelErrorKind kind, std::string message, std::string detail = {},
                   std::optional<milliseconds> retry_after = std::nullopt);
  void finish_with(Generation& generation, ReplyFault fault, std::optional<milliseconds> retry_after);
  [[nodiscard]] std::variant<ChatReply, ReplyFault> read_whole(HttpRequest& transfer) const;
  void release_transfer(Generation& generation);
  void deliver();
  [[nodiscard]] std::optional<milliseconds> asked_wait(const HttpRequest& transfer) const;
  [[nodiscard]] milliseconds until_next_alarm(milliseconds longest) const;

  OpenAiOptions options_;
  OpenAiEnvironment environment_;
  std::unique_ptr<HttpClient> client_;
  std::string host_;
  ChatRequestWriter writer_;
  std::function<bool()> may_begin_;
  std::uint32_t in_flight_ = 0;
  std::uint32_t in_flight_max_;  ///< below the option's value while the process is short of sockets
  std::uint64_t next_serial_ = 0;
  std::unordered_map<GenerationId, Generation> generations_;
  std::deque<std::pair<GenerationId, std::uint64_t>> queue_;  ///< ids with serials; entries of cancelled ones are stale
  std::map<std::pair<TimePoint, std::uint64_t>, Generation*> alarms_;  ///< one for each generation that is not Finished
  std::vector<Delivery> deliveries_;
  std::vector<HttpRequest*> received_;
  std::vector<HttpRequest*> ended_;
};

void CurlOpenAiModel::start(GenerationId id, GenerationRequest request, GenerationSink& sink) {
  const auto [entry, is_new] = generations_.try_emplace(id);
  ENSURE(is_new);
  Generation& generation = entry->second;
  generation.id = id;
  generation.serial = next_serial_++;
  generation.request = std::move(request);
  writer_.leave_out_note(generation.request);
  generation.sink = &sink;
  generation.started_at = Clock::now();
  generation.request.timeout = std::clamp(generation.request.timeout, milliseconds(0), timeout_max);
  generation.deadline = generation.started_at + generation.request.timeout;
  const EarlierAttempts& earlier = generation.request.earlier;
  generation.attempts = earlier.count;
  generation.last_fault = earlier.reason;
  if (earlier.count > 0 && earlier.wait > milliseconds(0)) {
    // A wait that would outlast the request was not begun: the clock was set back in between.
    const milliseconds wait =
        earlier.wait < generation.request.timeout ? earlier.wait : std::min(earlier.wait, options_.retry.delay_max);
    generation.stage = Stage::BackingOff;
    set_alarm(generation, std::min(generation.started_at + wait, generation.deadline));
    return;
  }
  set_alarm(generation, generation.deadline);
  queue_.emplace_back(id, generation.serial);
}

void CurlOpenAiModel::cancel(GenerationId id) {
  const auto entry = generations_.find(id);
  if (entry == generations_.end()) return;
  Generation& generation = entry->second;
  if (generation.stage != Stage::Finished) {
    finish_with(generation, ModelErrorKind::Cancelled, "cancelled");
    deliveries_.pop_back();  // reported below
  }
  GenerationSink& sink = *generation.sink;
  GenerationOutcome outcome = std::move(*generation.outcome);
  generations_.erase(entry);
  sink.on_finished(id, std::move(outcome));
}

void CurlOpenAiModel::poll(milliseconds wait) {
  ring_alarms();
  send_queued();
  received_.clear();
  ended_.clear();
  client_->poll(deliveries_.empty() ? until_next_alarm(wait) : milliseconds(0), received_, ended_);
  for (HttpRequest* transfer : received_) read_stream(*static_cast<Generation*>(transfer->owner));
  for (HttpRequest* transfer : ended_) conclude(*static_cast<Generation*>(transfer->owner));
  ring_alarms();
  deliver();
}

void CurlOpenAiModel::set_alarm(Generation& generation, TimePoint at) {
  drop_alarm(generation);
  generation.alarm = at;
  alarms_.emplace(std::pair(at, generation.serial), &generation);
}

void CurlOpenAiModel::drop_alarm(Generation& generation) {
  alarms_.erase(std::pair(generation.alarm, generation.serial));
}

milliseconds CurlOpenAiModel::until_next_alarm(milliseconds longest) const {
  if (alarms_.empty()) return longest;
  const auto left = std::chrono::ceil<milliseconds>(alarms_.begin()->first.first - Clock::now());
  return std::max(std::min(left, longest), milliseconds(0));
}

void CurlOpenAiModel::ring_alarms() {
  if (alarms_.empty()) return;
  const TimePoint now = Clock::now();
  while (!alarms_.empty() && alarms_.begin()->first.first <= now) {
    Generation& generation = *alarms_.begin()->second;
    if (now >= generation.deadline) {
      std::string message = fmt::format("no answer within {}", seconds(generation.request.timeout));
      if (generation.stage == Stage::Queued) message += "; it was not sent, as too many requests were in progress";
      if (!generation.last_fault.empty()) message += fmt::format("; the attempt before: {}", generation.last_fault);
      finish_with(generation, ModelErrorKind::TimedOut, message);
    } else if (generation.stage == Stage::BackingOff) {
      generation.stage = Stage::Queued;
      queue_.emplace_front(generation.id, generation.serial);
      set_alarm(generation, generation.deadline);
    } else if (generation.last_byte_at && now - *generation.last_byte_at >= options_.idle_timeout) {
      fail_attempt(generation, {ModelErrorKind::TimedOut,
                                fmt::format("silent for {} in the middle of a reply", seconds(options_.idle_timeout)),
                                Retry::Worthwhile});
    } else {
      ENSURE(generation.last_byte_at.has_value());
      set_alarm(generation, std::min(generation.deadline, *generation.last_byte_at + options_.idle_timeout));
    }
  }
}

void CurlOpenAiModel::send_queued() {
  if (in_flight_ == 0) in_flight_max_ = options_.requests_in_flight_max;
  if (!queue_.empty() && may_begin_ && !may_begin_()) return;
  while (!queue_.empty() && in_flight_ < in_flight_max_) {
    const auto [id, serial] = queue_.front();
    queue_.pop_front();
    const auto entry = generations_.find(id);
    if (entry == generations_.end() || entry->second.serial != serial || entry->second.stage != Stage::Queued) continue;
    send(entry->second);
  }
}

void CurlOpenAiModel::send(Generation& generation) {
  HttpRequest& transfer = client_->acquire();
  writer_.append(transfer.body, generation.request);
  generation.is_joined = writer_.joins_adjacent();
  transfer.owner = &generation;
  generation.transfer = &transfer;
  generation.stage = Stage::Sent;
  ++generation.attempts;
  ++in_flight_;
  if (options_.streaming == Streaming::On) {
    generation.stream.emplace(options_.fields.thoughts);
    client_->begin(transfer, Reading::AsItComes);
  } else {
    client_->begin(transfer, Reading::AtEnd);
  }
}

void CurlOpenAiModel::read_stream(Generation& generation) {
  HttpRequest& transfer = *generation.transfer;
  const TimePoint now = Clock::now();
  if (!generation.last_byte_at) set_alarm(generation, std::min(generation.deadline, now + options_.idle_timeout));
  generation.last_byte_at = now;
  if (!is_success(transfer.status)) return;  // an error's text is read as a whole
  generation.stream->append(transfer.received);
  transfer.received.clear();
  std::string piece = generation.stream->take_piece();
  if (!piece.empty()) {
    deliveries_.push_back({generation.id, generation.serial, generation.attempts, std::move(piece), {}, {}});
  }
}

void CurlOpenAiModel::conclude(Generation& generation) {
  const HttpRequest& transfer = *generation.transfer;
  switch (transfer.result) {
    case TransferResult::Replied:
      conclude_reply(generation);
      return;
    case TransferResult::CannotConnect:
      fail_attempt(generation, {ModelErrorKind::Unreachable,
                                fmt::format("{} (check the base URL, and that the server runs)", transfer.reason),
                                Retry::Worthwhile, excerpt(transfer.detail)});
      return;
    case TransferResult::Cut:
      // A stream that ended before its connection was cut is complete.
      if (generation.stream && generation.stream->has_ended()) {
        conclude_reply(generation);
        return;
      }
      fail_attempt(generation, {ModelErrorKind::Unreachable, fmt::format("the connection was cut: {}", transfer.reason),
                                Retry::Worthwhile, excerpt(transfer.detail)});
      return;
    case TransferResult::NotHttp:
      finish_with(generation, ModelErrorKind::BadReply, fmt::format("the reply is not HTTP: {}", transfer.reason),
                  excerpt(transfer.detail));
      return;
    case TransferResult::CertificateRefused:
      finish_with(generation, ModelErrorKind::Unreachable,
                  fmt::format("the certificate is not trusted: {} (name a CA file in SSL_CERT_FILE)", transfer.reason),
                  excerpt(transfer.detail));
      return;
    case TransferResult::ReplyTooLong:
      finish_with(generation, ModelErrorKind::BadReply,
                  fmt::format("the reply is longer than {} bytes (reply_bytes_max)", options_.reply_bytes_max));
      return;
    case TransferResult::OutOfSockets:
      release_transfer(generation);
      --generation.attempts;
      if (in_flight_ == 0) {
        finish_with(generation, ModelErrorKind::Unreachable, "too many open files (raise `ulimit -n`)");
        return;
      }
      // Requests in progress have sockets; the rest take turns with them.
      in_flight_max_ = std::min(in_flight_max_, in_flight_);
      generation.stage = Stage::Queued;
      queue_.emplace_front(generation.id, generation.serial);
      return;
    case TransferResult::Failed:
      finish_with(generation, ModelErrorKind::Unreachable, transfer.reason, excerpt(transfer.detail));
      return;
  }
}

void CurlOpenAiModel::conclude_reply(Generation& generation) {
  HttpRequest& transfer = *generation.transfer;
  if (!is_success(transfer.status)) {
    const std::string body = options_.api_key.scrub(std::move(transfer.received));
    if (options_.fields.adjacent == AdjacentMessages::Learn && !generation.is_joined && requires_alternation(body)) {
      writer_.join_adjacent();
      release_transfer(generation);
      set_alarm(generation, generation.deadline);
      generation.stage = Stage::Queued;
      queue_.emplace_front(generation.id, generation.serial);
      return;
    }
    const std::string location = options_.api_key.scrub(transfer.find_header("location").value_or(""));
    fail_attempt(generation, fault_of_status(transfer.status, body, location), asked_wait(transfer));
    return;
  }
  auto read = generation.stream ? generation.stream->finish() : read_whole(transfer);
  if (auto* fault = std::get_if<ReplyFault>(&read)) {
    fail_attempt(generation, std::move(*fault), asked_wait(transfer));
    return;
  }
  auto& reply = std::get<ChatReply>(read);
  if (reply.error) reply.error->message = options_.api_key.scrub(std::move(reply.error->message));
  auto answer = answer_of(std::move(reply), options_.fields.thoughts);
  if (auto* fault = std::get_if<ReplyFault>(&answer)) {
    fail_attempt(generation, std::move(*fault), asked_wait(transfer));
    return;
  }
  finish(generation, std::move(std::get<Answer>(answer)));
}

std::variant<ChatReply, ReplyFault> CurlOpenAiModel::read_whole(HttpRequest& transfer) const {
  ChatReply reply;
  if (read_chat_json(transfer.received, reply) == ReplySyntax::Json) return reply;
  ReplyFault fault = fault_of_document(options_.api_key.scrub(std::move(transfer.received)));
  if (transfer.framing() == ReplyFraming::ByConnection) fault.retry = Retry::Worthwhile;
  return fault;
}

std::optional<milliseconds> CurlOpenAiModel::asked_wait(const HttpRequest& transfer) const {
  // OpenAI and Azure also give milliseconds.
  if (const auto value = transfer.find_header("retry-after-ms")) {
    if (const auto wait = read_retry_after_ms(*value)) return wait;
  }
  const auto value = transfer.find_header("retry-after");
  if (!value) return std::nullopt;
  // The reply's own date is the server's clock, so that a date does not depend on ours.
  const auto date = transfer.find_header("date");
  const auto server_now = date ? http_client::read_http_date(*date) : std::nullopt;
  return read_retry_after(*value, server_now ? *server_now : environment_.wall_clock());
}

void CurlOpenAiModel::fail_attempt(Generation& generation, ReplyFault fault, std::optional<milliseconds> asked_wait) {
  release_transfer(generation);
  fault.message = options_.api_key.scrub(std::move(fault.message));
  const RetryPolicy& policy = options_.retry;
  if (fault.retry == Retry::Never || generation.attempts >= policy.attempts_max) {
    if (generation.attempts > 1) fault.message += fmt::format("; sent {} times", generation.attempts);
    finish_with(generation, std::move(fault), asked_wait);
    return;
  }
  milliseconds wait = backoff_delay(policy, generation.attempts, environment_.random_unit());
  if (asked_wait) wait = std::max(wait, *asked_wait);
  const TimePoint retry_at = Clock::now() + wait;
  if (retry_at >= generation.deadline) {
    if (asked_wait && wait == *asked_wait) fault.message += fmt::format("; the server asks to wait {}", seconds(wait));
    fault.message += fmt::format("; sent {}, and the timeout of {} leaves no time for another attempt",
                                 counted(generation.attempts, "time"), seconds(generation.request.timeout));
    finish_with(generation, std::move(fault), asked_wait);
    return;
  }
  generation.last_fault = std::move(fault.message);
  generation.stage = Stage::BackingOff;
  set_alarm(generation, retry_at);
  deliveries_.push_back({generation.id, generation.serial, generation.attempts, {}, wait, generation.last_fault});
}

void CurlOpenAiModel::release_transfer(Generation& generation) {
  if (generation.transfer == nullptr) return;
  client_->release(*std::exchange(generation.transfer, nullptr));
  generation.stream.reset();
  generation.last_byte_at.reset();
  --in_flight_;
}

void CurlOpenAiModel::finish_with(Generation& generation, ModelErrorKind kind, std::string message, std::string detail,
                                  std::optional<milliseconds> retry_after) {
  finish(generation, ModelError{kind, options_.api_key.scrub(std::move(message)), Usage{}, host_,
                                options_.api_key.scrub(std::move(detail)), retry_after});
}

void CurlOpenAiModel::finish_with(Generation& generation, ReplyFault fault, std::optional<milliseconds> retry_after) {
  if (fault.is_refusal) {
    finish(generation, Answer{options_.api_key.scrub(std::move(fault.message)), Finish::Refused, {}, options_.model});
  } else {
    finish_with(generation, fault.kind, std::move(fault.message), std::move(fault.detail), retry_after);
  }
}

void CurlOpenAiModel::finish(Generation& generation, GenerationOutcome outcome) {
  release_transfer(generation);
  drop_alarm(generation);
  const std::chrono::duration<double, std::milli> took = Clock::now() - generation.started_at;
  std::visit(
      [&](auto& end) {
        end.usage.attempts = generation.attempts;
        end.usage.milliseconds = took.count();
      },
      outcome);
  generation.stage = Stage::Finished;
  generation.outcome = std::move(outcome);
  deliveries_.push_back({generation.id, generation.serial, generation.attempts, {}, {}, {}});
}

void CurlOpenAiModel::deliver() {
  // A sink may start and cancel; what it makes ready is delivered by the next poll.
  std::vector<Delivery> deliveries;
  deliveries.swap(deliveries_);
  for (Delivery& delivery : deliveries) {
    const auto entry = generations_.find(delivery.id);
    if (entry == generations_.end() || entry->second.serial != delivery.serial) continue;
    Generation& generation = entry->second;
    GenerationSink& sink = *generation.sink;
    if (delivery.piece) {
      sink.on_text(delivery.id, delivery.attempt, *delivery.piece);
      continue;
    }
    if (delivery.retry_wait) {
      sink.on_attempt_failed(delivery.id, delivery.attempt, delivery.reason, *delivery.retry_wait);
      continue;
    }
    GenerationOutcome outcome = std::move(*generation.outcome);
    generations_.erase(entry);
    sink.on_finished(delivery.id, std::move(outcome));
  }
  if (deliveries_.empty()) {
    deliveries.clear();
    deliveries_.swap(deliveries);  // its memory serves again
  }
}

bool is_one_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

/// Whether the host is OpenAI's own, or Azure's of OpenAI's models.
bool is_openai(std::string_view host) {
  host = host.substr(0, host.find(':'));
  return host == "api.openai.com" || host.ends_with(".openai.com") || host.ends_with(".openai.azure.com");
}

TokenLimitField decided_token_limit_field(TokenLimitField chosen, std::string_view host) {
  if (chosen != TokenLimitField::ByHost) return chosen;
  return is_openai(host) ? TokenLimitField::MaxCompletionTokens : TokenLimitField::MaxTokens;
}

}  // namespace

Result<std::unique_ptr<OpenAiModel>, ModelError> OpenAiModel::open(OpenAiOptions options,
                                                                   OpenAiEnvironment environment) {
  const auto refuse = [&](std::string message) {
    return failure(ModelError{ModelErrorKind::Rejected, options.api_key.scrub(std::move(message)), Usage{}});
  };
  if (auto loaded = http_client::load_http_library(); !loaded) return refuse(std::move(loaded.error()));
  const auto host = http_client::find_host(options.base_url);
  const auto url = http_client::add_to_path(options.base_url, "/chat/completions");
  if (!host || !url)
    return refuse(fmt::format("the base URL is not an http or https URL: {}", excerpt(options.base_url)));
  if (options.model.empty()) return refuse("the model has no name");
  if (!is_one_line(options.api_key.reveal()))
    return refuse("the API key contains a line break or another control character");
  if (options.api_key.empty() && is_openai(*host))
    return refuse(fmt::format("{} requires an API key: set OPENAI_API_KEY", *host));
  ENSURE(environment.random_unit && environment.wall_clock);
  options.requests_in_flight_max = std::max(options.requests_in_flight_max, 1U);

  http_client::HttpClientOptions client_options;
  client_options.url = *url;
  // An empty Expect keeps libcurl from asking for leave before it sends a large body, which costs a round trip.
  client_options.headers = {"Content-Type: application/json", "User-Agent: tenon", "Expect:"};
  client_options.headers.push_back(options.streaming == Streaming::On ? "Accept: text/event-stream"
                                                                      : "Accept: application/json");
  if (!options.api_key.empty()) client_options.headers.push_back("Authorization: Bearer " + options.api_key.reveal());
  client_options.connect_timeout = options.connect_timeout;
  client_options.reply_bytes_max = options.reply_bytes_max;
  client_options.connections_kept_max = options.requests_in_flight_max;
  client_options.ca_file = options.ca_file;
  client_options.proxy = options.proxy;
  client_options.no_proxy = options.no_proxy;
  auto client = HttpClient::open(client_options);
  if (!client) return refuse(std::move(client.error()));
  const TokenLimitField field = decided_token_limit_field(options.fields.token_limit, *host);
  return std::make_unique<CurlOpenAiModel>(std::move(options), std::move(environment), std::move(*client), *host,
                                           field);
}

}  // namespace tenon::inference
