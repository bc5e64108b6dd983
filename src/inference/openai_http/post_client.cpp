#include "inference/openai_http/post_client.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "base/ensure.h"
#include "inference/openai_http/curl_library.h"

namespace tenon::inference {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// Buffers above this are given back with their Post; smaller ones wait for the next request.
constexpr std::size_t buffer_kept_max = 64 * 1024;

/// libcurl's names for what mends itself when the request is sent once more.
PostEnd end_of(CURLcode code, bool was_connected) {
  switch (code) {
    case CURLE_OK:
      return PostEnd::Replied;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      return PostEnd::CannotConnect;
    case CURLE_OPERATION_TIMEDOUT:
      return was_connected ? PostEnd::Cut : PostEnd::CannotConnect;
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_SSL_CONNECT_ERROR:
      return PostEnd::Cut;
    case CURLE_UNSUPPORTED_PROTOCOL:  // of a reply: HTTP/0.9, which is any bytes
    case CURLE_WEIRD_SERVER_REPLY:
      return PostEnd::NotHttp;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return PostEnd::CertificateRefused;
    default:
      return PostEnd::Failed;  // some eighty codes of protocols and options that are not in use here
  }
}

class CurlPost;

class CurlPostClient final : public PostClient {
 public:
  CurlPostClient() = default;
  ~CurlPostClient() override;

  [[nodiscard]] std::optional<std::string> set_up(const PostClientOptions& options);
  Post& lend() override;
  void begin(Post& post, Reading reading) override;
  void release(Post& post) override;
  void poll(milliseconds wait, std::vector<Post*>& received, std::vector<Post*>& ended) override;
  void wake() override;

 private:
  friend class CurlPost;

  static int on_socket(CURL* easy, curl_socket_t socket, int interest, void* self, void* known);
  static int on_timer(CURLM* multi, long timeout_ms, void* self);

  void apply_options(CURL* easy, CurlPost& post) const;
  void watch(curl_socket_t socket, int interest, const void* known);
  void run_timer();
  void wait_for_sockets(milliseconds wait);
  void collect(std::vector<Post*>& received, std::vector<Post*>& ended);

  PostClientOptions options_;
  curl_slist* headers_ = nullptr;
  CURLM* multi_ = nullptr;
  int epoll_ = -1;
  int wake_ = -1;
  std::optional<Clock::time_point> timer_;  ///< when libcurl wants to be called though no socket stirs
  std::vector<std::unique_ptr<CurlPost>> posts_;
  std::vector<CurlPost*> idle_;
  std::vector<CurlPost*> fresh_;  ///< received bytes since the last `collect`
};

class CurlPost final : public Post {
 public:
  explicit CurlPost(CurlPostClient& client) : client_(client), easy_(curl().easy_init()) { ENSURE(easy_ != nullptr); }
  ~CurlPost() override { curl().easy_cleanup(easy_); }
  CurlPost(const CurlPost&) = delete;
  CurlPost& operator=(const CurlPost&) = delete;

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
    CurlPost& self = *static_cast<CurlPost*>(self_pointer);
    const std::size_t length = size * count;
    if (length > self.client_.options_.reply_bytes_max - self.received_total_) {
      self.too_long_ = true;
      return 0;  // libcurl breaks the transfer off
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
      static_cast<CurlPost*>(self_pointer)->out_of_sockets_ = errno == EMFILE || errno == ENFILE || errno == ENOBUFS;
      return CURL_SOCKET_BAD;
    }
    return opened;
  }

  enum class State : std::uint8_t { Idle, Lent, UnderWay };

  CurlPostClient& client_;
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

CurlPostClient::~CurlPostClient() {
  for (const auto& post : posts_) {
    if (post->state_ == CurlPost::State::UnderWay) curl().multi_remove_handle(multi_, post->easy_);
  }
  posts_.clear();
  if (multi_ != nullptr) curl().multi_cleanup(multi_);
  if (headers_ != nullptr) curl().slist_free_all(headers_);
  if (epoll_ >= 0) ::close(epoll_);
  if (wake_ >= 0) ::close(wake_);
}

std::optional<std::string> CurlPostClient::set_up(const PostClientOptions& options) {
  if (const auto library = load_curl(); !library) return library.error();
  options_ = options;
  for (const std::string& header : options_.headers) {
    curl_slist* longer = curl().slist_append(headers_, header.c_str());
    ENSURE(longer != nullptr);
    headers_ = longer;
  }
  multi_ = curl().multi_init();
  ENSURE(multi_ != nullptr);
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  wake_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (epoll_ < 0 || wake_ < 0) return "the process may open no more files";
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_;
  ENSURE(::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) == 0);
  curl().multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlPostClient::on_socket);
  curl().multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl().multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlPostClient::on_timer);
  curl().multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  // Without a number, libcurl keeps four times as many as are under way, and closes the rest when a burst is over.
  curl().multi_setopt(multi_, CURLMOPT_MAXCONNECTS,
                      static_cast<long>(std::min<std::size_t>(options_.connections_kept_max, LONG_MAX)));

  // A first Post shows what libcurl does not take; only that which the user gave can be at fault.
  CurlPost probe(*this);
  apply_options(probe.easy_, probe);
  if (!options_.ca_file.empty() && ::access(options_.ca_file.c_str(), R_OK) != 0) {
    return "the file of certificate authorities cannot be read: " + options_.ca_file;
  }
  return std::nullopt;
}

void CurlPostClient::apply_options(CURL* easy, CurlPost& post) const {
  set_option(easy, CURLOPT_URL, options_.url.c_str());
  set_option(easy, CURLOPT_HTTPHEADER, headers_);
  set_option(easy, CURLOPT_POST, 1L);
  set_option(easy, CURLOPT_NOSIGNAL, 1L);
  set_option(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set_option(easy, CURLOPT_FOLLOWLOCATION, 0L);  // the key is for this host alone
  set_option(easy, CURLOPT_TCP_NODELAY, 1L);
  set_option(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  set_option(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout.count()));
  set_option(easy, CURLOPT_PROXY, options_.proxy.c_str());  // empty: none, whatever the process's environment says
  set_option(easy, CURLOPT_NOPROXY, options_.no_proxy.c_str());
  set_option(easy, CURLOPT_PRIVATE, static_cast<void*>(&post));
  set_option(easy, CURLOPT_ERRORBUFFER, post.error_text_.data());
  set_option(easy, CURLOPT_WRITEFUNCTION, &CurlPost::on_bytes);
  set_option(easy, CURLOPT_WRITEDATA, static_cast<void*>(&post));
  set_option(easy, CURLOPT_OPENSOCKETFUNCTION, &CurlPost::on_open_socket);
  set_option(easy, CURLOPT_OPENSOCKETDATA, static_cast<void*>(&post));
  if (options_.url.starts_with("https")) {
    set_option(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    // A burst waits for its first connection, to share it where the server speaks HTTP/2.
    set_option(easy, CURLOPT_PIPEWAIT, 1L);
    if (!options_.ca_file.empty()) set_option(easy, CURLOPT_CAINFO, options_.ca_file.c_str());
  } else {
    set_option(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  }
}

Post& CurlPostClient::lend() {
  if (idle_.empty()) {
    posts_.push_back(std::make_unique<CurlPost>(*this));
    CurlPost& made = *posts_.back();
    apply_options(made.easy_, made);
    idle_.push_back(&made);
  }
  CurlPost& post = *idle_.back();
  idle_.pop_back();
  post.state_ = CurlPost::State::Lent;
  return post;
}

void CurlPostClient::begin(Post& base, Reading reading) {
  CurlPost& post = static_cast<CurlPost&>(base);
  ENSURE(post.state_ == CurlPost::State::Lent);
  post.state_ = CurlPost::State::UnderWay;
  post.reading_ = reading;
  set_option(post.easy_, CURLOPT_POSTFIELDS, post.body.data());
  set_option(post.easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(post.body.size()));
  ENSURE(curl().multi_add_handle(multi_, post.easy_) == CURLM_OK);
}

void CurlPostClient::release(Post& base) {
  CurlPost& post = static_cast<CurlPost&>(base);
  ENSURE(post.state_ != CurlPost::State::Idle);
  if (post.state_ == CurlPost::State::UnderWay) curl().multi_remove_handle(multi_, post.easy_);
  if (post.is_fresh_) std::erase(fresh_, &post);
  for (std::string* buffer : {&post.body, &post.received}) {
    buffer->clear();
    if (buffer->capacity() > buffer_kept_max) buffer->shrink_to_fit();
  }
  post.detail.clear();
  post.owner = nullptr;
  post.end = PostEnd::Replied;
  post.status = 0;
  post.error_text_[0] = '\0';
  post.received_total_ = 0;
  post.is_fresh_ = false;
  post.too_long_ = false;
  post.out_of_sockets_ = false;
  post.state_ = CurlPost::State::Idle;
  idle_.push_back(&post);
}

void CurlPostClient::poll(milliseconds wait, std::vector<Post*>& received, std::vector<Post*>& ended) {
  run_timer();
  collect(received, ended);
  const bool has_news = !received.empty() || !ended.empty();
  wait_for_sockets(has_news ? milliseconds(0) : wait);
  run_timer();
  collect(received, ended);
}

void CurlPostClient::wake() {
  const std::uint64_t one = 1;
  // A full counter (EAGAIN) wakes as well.
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

int CurlPostClient::on_socket(CURL* /*easy*/, curl_socket_t socket, int interest, void* self, void* known) {
  static_cast<CurlPostClient*>(self)->watch(socket, interest, known);
  return 0;
}

void CurlPostClient::watch(curl_socket_t socket, int interest, const void* known) {
  epoll_event event{};
  if (interest == CURL_POLL_REMOVE) {
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, &event);  // gone already where libcurl has closed it
    return;
  }
  if ((interest & CURL_POLL_IN) != 0) event.events |= EPOLLIN;
  if ((interest & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
  event.data.fd = socket;
  const int first = known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (::epoll_ctl(epoll_, first, socket, &event) != 0) {
    ::epoll_ctl(epoll_, first == EPOLL_CTL_ADD ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
  }
  if (known == nullptr) curl().multi_assign(multi_, socket, this);
}

int CurlPostClient::on_timer(CURLM* /*multi*/, long timeout_ms, void* self) {
  auto& timer = static_cast<CurlPostClient*>(self)->timer_;
  if (timeout_ms < 0) {
    timer.reset();
  } else {
    timer = Clock::now() + milliseconds(timeout_ms);
  }
  return 0;
}

void CurlPostClient::run_timer() {
  // A call may set the timer anew; what is due at once by then is for the next poll, so that this one ends.
  if (!timer_ || *timer_ > Clock::now()) return;
  timer_.reset();
  int running = 0;
  curl().multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
}

void CurlPostClient::wait_for_sockets(milliseconds wait) {
  if (timer_) wait = std::min(wait, std::chrono::ceil<milliseconds>(*timer_ - Clock::now()));
  const auto timeout = static_cast<int>(std::clamp<std::int64_t>(wait.count(), 0, INT_MAX));
  std::array<epoll_event, 256> events{};
  const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), timeout);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == wake_) {
      std::uint64_t wakes = 0;
      [[maybe_unused]] const auto taken = ::read(wake_, &wakes, sizeof wakes);
      continue;
    }
    int happened = 0;
    if ((event.events & EPOLLIN) != 0) happened |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) happened |= CURL_CSELECT_OUT;
    if ((event.events & (EPOLLERR | EPOLLHUP)) != 0) happened |= CURL_CSELECT_ERR;
    int running = 0;
    curl().multi_socket_action(multi_, event.data.fd, happened, &running);
  }
}

void CurlPostClient::collect(std::vector<Post*>& received, std::vector<Post*>& ended) {
  for (CurlPost* post : fresh_) {
    post->is_fresh_ = false;
    post->status = post->current_status();
    received.push_back(post);
  }
  fresh_.clear();
  int left = 0;
  while (const CURLMsg* message = curl().multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    void* private_pointer = nullptr;
    curl().easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private_pointer);
    CurlPost& post = *static_cast<CurlPost*>(private_pointer);
    post.status = post.current_status();
    if (code != CURLE_OK) {
      curl_off_t connect_time = 0;
      curl().easy_getinfo(post.easy_, CURLINFO_PRETRANSFER_TIME_T, &connect_time);
      post.detail = post.error_text_[0] != '\0' ? post.error_text_.data() : curl().easy_strerror(code);
      post.end = end_of(code, connect_time > 0);
      if (post.too_long_) post.end = PostEnd::ReplyTooLong;
      if (post.out_of_sockets_) post.end = PostEnd::OutOfSockets;
    }
    curl().multi_remove_handle(multi_, post.easy_);
    post.state_ = CurlPost::State::Lent;
    ended.push_back(&post);
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

}  // namespace

Result<std::unique_ptr<PostClient>, std::string> PostClient::open(const PostClientOptions& options) {
  auto client = std::make_unique<CurlPostClient>();
  if (auto fault = client->set_up(options)) return failure(std::move(*fault));
  return client;
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

}  // namespace tenon::inference
