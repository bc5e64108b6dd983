#include "http_client/http_client.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <unordered_map>

#include "base/ascii.h"
#include "base/descriptor.h"
#include "base/ensure.h"
#include "base/waker.h"
#include "http_client/curl_library.h"

namespace tenon::http_client {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// Buffers above this are given back with their HttpRequest; smaller ones wait for the next request.
constexpr std::size_t buffer_kept_max = 64 * 1024;

/// The requests of a group. To find a free connection, libcurl looks at all those to the host that its handle has.
constexpr std::size_t group_size = 64;

/// Later dates count as this one: far above every limit on waits, and far below what overflows a count of nanoseconds.
constexpr std::time_t date_max = 8'000'000'000;

/// What epoll says of a socket: the socket and its group.
std::uint64_t event_key(int socket, std::uint32_t group) {
  return (std::uint64_t{group} << 32U) | static_cast<std::uint32_t>(socket);
}

/// What libcurl waits for at a socket, as epoll says it.
std::uint32_t events_of(int interest) {
  std::uint32_t events = 0;
  if ((interest & CURL_POLL_IN) != 0) events |= EPOLLIN;
  if ((interest & CURL_POLL_OUT) != 0) events |= EPOLLOUT;
  return events;
}

/// Separates the failures that sending the request again may fix from the rest.
TransferResult transfer_result(CURLcode code, bool was_connected) {
  switch (code) {
    case CURLE_OK:
      return TransferResult::Replied;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      return TransferResult::CannotConnect;
    case CURLE_OPERATION_TIMEDOUT:
      return was_connected ? TransferResult::Cut : TransferResult::CannotConnect;
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_SSL_CONNECT_ERROR:
      return TransferResult::Cut;
    case CURLE_UNSUPPORTED_PROTOCOL:  // of a reply: HTTP/0.9, which is any bytes
    case CURLE_WEIRD_SERVER_REPLY:
      return TransferResult::NotHttp;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return TransferResult::CertificateRefused;
    default:
      return TransferResult::Failed;  // some eighty codes of protocols and options that are not used here
  }
}

struct UrlDeleter {
  void operator()(CURLU* url) const { curl().url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, UrlDeleter>;

std::string part_of(const Url& url, CURLUPart part) {
  char* text = nullptr;
  if (curl().url_get(url.get(), part, &text, 0) != CURLUE_OK) return {};
  std::string result(text);
  curl().free(text);
  return result;
}

Url parse_url(const std::string& text) {
  Url url(curl().url());
  ENSURE(url != nullptr);
  if (curl().url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return nullptr;
  const std::string scheme = part_of(url, CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return nullptr;
  return url;
}

class CurlHttpClient;
class CurlHttpRequest;

/// Some of the requests, and the connections that they share. A request stays in its group, which keeps as many
/// connections as it has requests.
struct RequestGroup {
  CurlHttpClient* client;
  CURLM* multi;
  std::uint32_t index;
  std::optional<Clock::time_point> timer;  ///< when libcurl has to be called although no socket is ready
};

/// What the epoll knows of a connection's socket. The socket stays there between two requests, which saves two system
/// calls for each.
struct WatchedSocket {
  std::uint32_t events = 0;  ///< that the epoll waits for; 0: it does not have the socket
  bool is_idle = false;      ///< libcurl does not wait for it
};

class CurlHttpClient final : public HttpClient {
 public:
  CurlHttpClient() = default;
  ~CurlHttpClient() override;

  [[nodiscard]] std::optional<std::string> set_up(const HttpClientOptions& options);
  HttpRequest& acquire() override;
  void begin(HttpRequest& request, Reading reading) override;
  void release(HttpRequest& request) override;
  void poll(milliseconds wait, std::vector<HttpRequest*>& received, std::vector<HttpRequest*>& ended) override;
  void wake() override;

 private:
  friend class CurlHttpRequest;

  static int on_socket(CURL* easy, curl_socket_t socket, int interest, void* group, void* known);
  static int on_timer(CURLM* multi, long timeout_ms, void* group);
  static int on_close_socket(void* self,
                             curl_socket_t socket);  ///< may come after the end of the request that opened it

  [[nodiscard]] RequestGroup& group_for_next();

  void apply_options(CURL* easy, CurlHttpRequest& request) const;
  void watch(RequestGroup& group, curl_socket_t socket, int interest, const void* known);
  void watch_connection(WatchedSocket& watched, const RequestGroup& group, curl_socket_t socket, int interest);
  bool drop_if_idle(curl_socket_t socket);
  void run_timers();
  void wait_for_sockets(milliseconds wait);
  void collect(std::vector<HttpRequest*>& received, std::vector<HttpRequest*>& ended);
  static void collect_ended(CURLM* multi, std::vector<HttpRequest*>& ended);

  HttpClientOptions options_;
  Url url_;  ///< parsed once, not for each request
  curl_slist* headers_ = nullptr;
  std::vector<std::unique_ptr<RequestGroup>> groups_;  ///< made when they are needed
  std::size_t groups_max_ = 1;
  Descriptor epoll_;
  const Waker waker_;
  std::unordered_map<curl_socket_t, WatchedSocket> connections_;  ///< those that libcurl has open
  std::vector<std::unique_ptr<CurlHttpRequest>> requests_;
  std::deque<CurlHttpRequest*> idle_;    ///< at its end, those whose connection may be open
  std::vector<CurlHttpRequest*> fresh_;  ///< received bytes since the last `collect`
};

class CurlHttpRequest final : public HttpRequest {
 public:
  CurlHttpRequest(CurlHttpClient& client, CURLM* multi) : client_(client), multi_(multi), easy_(curl().easy_init()) {
    ENSURE(easy_ != nullptr);
  }
  ~CurlHttpRequest() override { curl().easy_cleanup(easy_); }
  CurlHttpRequest(const CurlHttpRequest&) = delete;
  CurlHttpRequest& operator=(const CurlHttpRequest&) = delete;

  [[nodiscard]] std::optional<std::string> find_header(const char* name) const override {
    curl_header* header = nullptr;
    if (curl().easy_header(easy_, name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK) return std::nullopt;
    return std::string(header->value);
  }

  [[nodiscard]] ReplyFraming framing() const override {
    long version = 0;
    curl().easy_getinfo(easy_, CURLINFO_HTTP_VERSION, &version);
    const bool is_framed =
        version > CURL_HTTP_VERSION_1_1 || find_header("content-length") || find_header("transfer-encoding");
    return is_framed ? ReplyFraming::ByLength : ReplyFraming::ByConnection;
  }

  [[nodiscard]] int current_status() const {
    long code = 0;
    curl().easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &code);
    return static_cast<int>(code);
  }

  static std::size_t on_bytes(char* bytes, std::size_t size, std::size_t count, void* self_pointer) {
    CurlHttpRequest& self = *static_cast<CurlHttpRequest*>(self_pointer);
    const std::size_t length = size * count;
    if (length > self.client_.options_.reply_bytes_max - self.received_total_) {
      self.too_long_ = true;
      return 0;  // makes libcurl abort the transfer
    }
    self.received_total_ += length;
    self.received.append(bytes, length);
    if (self.reading_ == Reading::AsItComes && !self.is_fresh_) {
      self.is_fresh_ = true;
      self.client_.fresh_.push_back(&self);
    }
    return length;
  }

  static curl_socket_t on_open_socket(void* self_pointer, curlsocktype /*purpose*/, curl_sockaddr* address) {
    const int opened = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (opened < 0) {
      static_cast<CurlHttpRequest*>(self_pointer)->out_of_sockets_ =
          errno == EMFILE || errno == ENFILE || errno == ENOBUFS;
      return CURL_SOCKET_BAD;
    }
    static_cast<CurlHttpRequest*>(self_pointer)->client_.connections_[opened] = {};
    return opened;
  }

  enum class State : std::uint8_t { Idle, Acquired, InProgress };

  CurlHttpClient& client_;
  CURLM* multi_;  ///< of its group
  CURL* easy_;
  std::array<char, CURL_ERROR_SIZE> error_text_{};
  std::size_t received_total_ = 0;
  State state_ = State::Idle;
  Reading reading_ = Reading::AtEnd;
  bool is_fresh_ = false;
  bool too_long_ = false;
  bool out_of_sockets_ = false;
};

template <class Value>
void set_option(CURL* easy, CURLoption option, Value value) {
  ENSURE(curl().easy_setopt(easy, option, value) == CURLE_OK);
}

CurlHttpClient::~CurlHttpClient() {
  for (const auto& request : requests_) {
    if (request->state_ == CurlHttpRequest::State::InProgress) {
      curl().multi_remove_handle(request->multi_, request->easy_);
    }
  }
  requests_.clear();
  for (const auto& group : groups_) curl().multi_cleanup(group->multi);
  if (headers_ != nullptr) curl().slist_free_all(headers_);
}

std::optional<std::string> CurlHttpClient::set_up(const HttpClientOptions& options) {
  if (const auto library = load_curl(); !library) return library.error();
  options_ = options;
  url_ = parse_url(options_.url);
  if (!url_) return "the URL is not an http or https URL";
  for (const std::string& header : options_.headers) {
    curl_slist* longer = curl().slist_append(headers_, header.c_str());
    ENSURE(longer != nullptr);
    headers_ = longer;
  }
  // HTTP/2, which TLS may lead to, shares a connection among all requests, so these are one group then.
  if (!options_.url.starts_with("https")) {
    groups_max_ = std::max<std::size_t>((options_.connections_kept_max + group_size - 1) / group_size, 1);
  }
  epoll_ = Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.is_open() || !waker_.is_open()) return "too many open files (raise `ulimit -n`)";
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = event_key(waker_.descriptor(), 0);
  ENSURE(::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, waker_.descriptor(), &event) == 0);
  // A first request finds out which options libcurl rejects; only those that the user chose can be wrong.
  CurlHttpRequest probe(*this, nullptr);
  apply_options(probe.easy_, probe);
  if (!options_.ca_file.empty() && ::access(options_.ca_file.c_str(), R_OK) != 0) {
    return "cannot read the CA certificates in `" + options_.ca_file + "`";
  }
  return std::nullopt;
}

RequestGroup& CurlHttpClient::group_for_next() {
  const std::size_t index = std::min(requests_.size() / group_size, groups_max_ - 1);
  if (index < groups_.size()) return *groups_[index];
  CURLM* const multi = curl().multi_init();
  ENSURE(multi != nullptr);
  groups_.push_back(std::make_unique<RequestGroup>(this, multi, static_cast<std::uint32_t>(index), std::nullopt));
  RequestGroup& group = *groups_.back();
  curl().multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &CurlHttpClient::on_socket);
  curl().multi_setopt(multi, CURLMOPT_SOCKETDATA, &group);
  curl().multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &CurlHttpClient::on_timer);
  curl().multi_setopt(multi, CURLMOPT_TIMERDATA, &group);
  // The last group has the requests that are left. Without a number, libcurl keeps four times as many as are in
  // progress, and closes the rest after a burst.
  const std::size_t left = options_.connections_kept_max - index * group_size;
  const std::size_t kept_max = index + 1 == groups_max_ ? left : group_size;
  curl().multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(std::min<std::size_t>(kept_max, LONG_MAX)));
  return group;
}

void CurlHttpClient::apply_options(CURL* easy, CurlHttpRequest& request) const {
  set_option(easy, CURLOPT_CURLU, url_.get());
  set_option(easy, CURLOPT_HTTPHEADER, headers_);
  set_option(easy, CURLOPT_POST, 1L);
  set_option(easy, CURLOPT_NOSIGNAL, 1L);
  set_option(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set_option(easy, CURLOPT_FOLLOWLOCATION, 0L);  // the key is for this host only
  set_option(easy, CURLOPT_TCP_NODELAY, 1L);
  set_option(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  set_option(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout.count()));
  set_option(easy, CURLOPT_PROXY, options_.proxy.c_str());  // empty: no proxy, even if the environment names one
  set_option(easy, CURLOPT_NOPROXY, options_.no_proxy.c_str());
  set_option(easy, CURLOPT_PRIVATE, static_cast<void*>(&request));
  set_option(easy, CURLOPT_ERRORBUFFER, request.error_text_.data());
  set_option(easy, CURLOPT_WRITEFUNCTION, &CurlHttpRequest::on_bytes);
  set_option(easy, CURLOPT_WRITEDATA, static_cast<void*>(&request));
  set_option(easy, CURLOPT_OPENSOCKETFUNCTION, &CurlHttpRequest::on_open_socket);
  set_option(easy, CURLOPT_OPENSOCKETDATA, static_cast<void*>(&request));
  set_option(easy, CURLOPT_CLOSESOCKETFUNCTION, &CurlHttpClient::on_close_socket);
  set_option(easy, CURLOPT_CLOSESOCKETDATA, static_cast<void*>(&request.client_));
  if (options_.url.starts_with("https")) {
    set_option(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    // A burst waits for its first connection and shares it if the server supports HTTP/2.
    set_option(easy, CURLOPT_PIPEWAIT, 1L);
    if (!options_.ca_file.empty()) set_option(easy, CURLOPT_CAINFO, options_.ca_file.c_str());
  } else {
    set_option(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  }
}

HttpRequest& CurlHttpClient::acquire() {
  if (idle_.empty()) {
    CURLM* const multi = group_for_next().multi;
    requests_.push_back(std::make_unique<CurlHttpRequest>(*this, multi));
    CurlHttpRequest& made = *requests_.back();
    apply_options(made.easy_, made);
    idle_.push_back(&made);
  }
  CurlHttpRequest& request = *idle_.back();
  idle_.pop_back();
  request.state_ = CurlHttpRequest::State::Acquired;
  return request;
}

void CurlHttpClient::begin(HttpRequest& base, Reading reading) {
  CurlHttpRequest& request = static_cast<CurlHttpRequest&>(base);
  ENSURE(request.state_ == CurlHttpRequest::State::Acquired);
  request.state_ = CurlHttpRequest::State::InProgress;
  request.reading_ = reading;
  set_option(request.easy_, CURLOPT_POSTFIELDS, request.body.data());
  set_option(request.easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  ENSURE(curl().multi_add_handle(request.multi_, request.easy_) == CURLM_OK);
}

void CurlHttpClient::release(HttpRequest& base) {
  CurlHttpRequest& request = static_cast<CurlHttpRequest&>(base);
  ENSURE(request.state_ != CurlHttpRequest::State::Idle);
  const bool is_aborted = request.state_ == CurlHttpRequest::State::InProgress;
  if (is_aborted) curl().multi_remove_handle(request.multi_, request.easy_);
  const bool may_have_connection = !is_aborted && request.result == TransferResult::Replied;
  if (request.is_fresh_) std::erase(fresh_, &request);
  for (std::string* buffer : {&request.body, &request.received}) {
    buffer->clear();
    if (buffer->capacity() > buffer_kept_max) buffer->shrink_to_fit();
  }
  request.reason.clear();
  request.detail.clear();
  request.owner = nullptr;
  request.result = TransferResult::Replied;
  request.status = 0;
  request.error_text_[0] = '\0';
  request.received_total_ = 0;
  request.is_fresh_ = false;
  request.too_long_ = false;
  request.out_of_sockets_ = false;
  request.state_ = CurlHttpRequest::State::Idle;
  if (may_have_connection) {
    idle_.push_back(&request);
  } else {
    idle_.push_front(&request);
  }
}

void CurlHttpClient::poll(milliseconds wait, std::vector<HttpRequest*>& received, std::vector<HttpRequest*>& ended) {
  run_timers();
  collect(received, ended);
  const bool has_news = !received.empty() || !ended.empty();
  wait_for_sockets(has_news ? milliseconds(0) : wait);
  run_timers();
  collect(received, ended);
}

void CurlHttpClient::wake() {
  waker_.wake();
}

int CurlHttpClient::on_close_socket(void* self, curl_socket_t socket) {
  static_cast<CurlHttpClient*>(self)->connections_.erase(socket);
  return ::close(socket);
}

int CurlHttpClient::on_socket(CURL* /*easy*/, curl_socket_t socket, int interest, void* group_pointer, void* known) {
  RequestGroup& group = *static_cast<RequestGroup*>(group_pointer);
  group.client->watch(group, socket, interest, known);
  return 0;
}

void CurlHttpClient::watch(RequestGroup& group, curl_socket_t socket, int interest, const void* known) {
  if (const auto connection = connections_.find(socket); connection != connections_.end()) {
    watch_connection(connection->second, group, socket, interest);
    return;
  }
  // A socket with which libcurl's resolver of names wakes it; that one is closed without a call of `on_close_socket`.
  epoll_event event{};
  if (interest == CURL_POLL_REMOVE) {
    ::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, socket, &event);  // fails if libcurl has closed the socket already
    return;
  }
  event.events = events_of(interest);
  event.data.u64 = event_key(socket, group.index);
  const int first = known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (::epoll_ctl(epoll_.number(), first, socket, &event) != 0) {
    ::epoll_ctl(epoll_.number(), first == EPOLL_CTL_ADD ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
  }
  if (known == nullptr) curl().multi_assign(group.multi, socket, this);
}

void CurlHttpClient::watch_connection(WatchedSocket& watched, const RequestGroup& group, curl_socket_t socket,
                                      int interest) {
  const std::uint32_t wanted = events_of(interest);
  watched.is_idle = wanted == 0;
  if (watched.is_idle || wanted == watched.events) return;
  epoll_event event{};
  event.events = wanted;
  event.data.u64 = event_key(socket, group.index);
  const int operation = watched.events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (::epoll_ctl(epoll_.number(), operation, socket, &event) == 0) watched.events = wanted;
}

/// Whether no request uses this connection. Then it leaves the epoll: the next request that uses it finds out what has
/// happened there, such as its end.
bool CurlHttpClient::drop_if_idle(curl_socket_t socket) {
  const auto connection = connections_.find(socket);
  if (connection == connections_.end() || !connection->second.is_idle) return false;
  epoll_event event{};
  ::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, socket, &event);
  connection->second.events = 0;
  return true;
}

int CurlHttpClient::on_timer(CURLM* /*multi*/, long timeout_ms, void* group_pointer) {
  auto& timer = static_cast<RequestGroup*>(group_pointer)->timer;
  if (timeout_ms < 0) {
    timer.reset();
  } else {
    timer = Clock::now() + milliseconds(timeout_ms);
  }
  return 0;
}

void CurlHttpClient::run_timers() {
  for (const auto& group : groups_) {
    // The call may set the timer again; the next poll handles what is due then, so that this one ends.
    if (!group->timer || *group->timer > Clock::now()) continue;
    group->timer.reset();
    int running = 0;
    curl().multi_socket_action(group->multi, CURL_SOCKET_TIMEOUT, 0, &running);
  }
}

void CurlHttpClient::wait_for_sockets(milliseconds wait) {
  for (const auto& group : groups_) {
    if (group->timer) wait = std::min(wait, std::chrono::ceil<milliseconds>(*group->timer - Clock::now()));
  }
  const auto timeout = static_cast<int>(std::clamp<std::int64_t>(wait.count(), 0, INT_MAX));
  std::array<epoll_event, 256> events{};
  const int count = ::epoll_wait(epoll_.number(), events.data(), static_cast<int>(events.size()), timeout);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const auto socket = static_cast<curl_socket_t>(event.data.u64 & UINT32_MAX);
    if (socket == waker_.descriptor()) {
      waker_.clear();
      continue;
    }
    if (drop_if_idle(socket)) continue;
    int happened = 0;
    if ((event.events & EPOLLIN) != 0) happened |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) happened |= CURL_CSELECT_OUT;
    if ((event.events & (EPOLLERR | EPOLLHUP)) != 0) happened |= CURL_CSELECT_ERR;
    int running = 0;
    curl().multi_socket_action(groups_[event.data.u64 >> 32U]->multi, socket, happened, &running);
  }
}

void CurlHttpClient::collect(std::vector<HttpRequest*>& received, std::vector<HttpRequest*>& ended) {
  for (CurlHttpRequest* request : fresh_) {
    request->is_fresh_ = false;
    request->status = request->current_status();
    received.push_back(request);
  }
  fresh_.clear();
  for (const auto& group : groups_) collect_ended(group->multi, ended);
}

void CurlHttpClient::collect_ended(CURLM* multi, std::vector<HttpRequest*>& ended) {
  int left = 0;
  while (const CURLMsg* message = curl().multi_info_read(multi, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    void* private_pointer = nullptr;
    curl().easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private_pointer);
    CurlHttpRequest& request = *static_cast<CurlHttpRequest*>(private_pointer);
    request.status = request.current_status();
    if (code != CURLE_OK) {
      curl_off_t connect_time = 0;
      curl().easy_getinfo(request.easy_, CURLINFO_PRETRANSFER_TIME_T, &connect_time);
      request.reason = curl().easy_strerror(code);
      request.detail = request.error_text_[0] != '\0' ? request.error_text_.data() : request.reason;
      request.result = transfer_result(code, connect_time > 0);
      if (request.too_long_) request.result = TransferResult::ReplyTooLong;
      if (request.out_of_sockets_) request.result = TransferResult::OutOfSockets;
    }
    curl().multi_remove_handle(request.multi_, request.easy_);
    request.state_ = CurlHttpRequest::State::Acquired;
    ended.push_back(&request);
  }
}

}  // namespace

Result<std::unique_ptr<HttpClient>, std::string> HttpClient::open(const HttpClientOptions& options) {
  auto client = std::make_unique<CurlHttpClient>();
  if (auto fault = client->set_up(options)) return failure(std::move(*fault));
  return client;
}

Result<void, std::string> load_http_library() {
  if (const auto library = load_curl(); !library) return failure(library.error());
  return {};
}

std::optional<std::string> find_host(const std::string& url_text) {
  const Url url = parse_url(url_text);
  if (!url) return std::nullopt;
  std::string host = part_of(url, CURLUPART_HOST);
  if (const std::string port = part_of(url, CURLUPART_PORT); !port.empty()) host += ":" + port;
  return host;
}

std::optional<std::string> add_to_path(const std::string& url_text, std::string_view suffix) {
  const Url url = parse_url(url_text);
  if (!url) return std::nullopt;
  std::string path = part_of(url, CURLUPART_PATH);
  while (!path.empty() && path.back() == '/') path.pop_back();
  path += suffix;
  if (curl().url_set(url.get(), CURLUPART_PATH, path.c_str(), 0) != CURLUE_OK) return std::nullopt;
  return part_of(url, CURLUPART_URL);
}

std::optional<std::chrono::system_clock::time_point> read_http_date(std::string_view text) {
  const std::time_t time = curl().getdate(std::string(trimmed(text)).c_str(), nullptr);
  if (time == -1) return std::nullopt;
  return std::chrono::system_clock::from_time_t(std::clamp<std::time_t>(time, 0, date_max));
}

}  // namespace tenon::http_client
