#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::inference {

struct PostClientOptions {
  std::string url;
  std::vector<std::string> headers;  ///< "Name: value"
  std::chrono::milliseconds connect_timeout{10'000};
  std::size_t reply_bytes_max = std::size_t{32} << 20U;
  std::size_t connections_kept_max = 1'024;
  std::string ca_file;
  std::string proxy;
  std::string no_proxy;
};

enum class PostEnd : std::uint8_t {
  Replied,        ///< the whole reply is there, whatever its status
  CannotConnect,  ///< no address, nobody listening, or no connection in time
  Cut,            ///< the connection ended before the reply did
  NotHttp,        ///< what came back does not follow the protocol
  CertificateRefused,
  ReplyTooLong,
  OutOfSockets,  ///< the process may open no more files; nothing was sent
  Failed,        ///< anything else that sending again does not mend
};

/// Whether somebody reads a reply's bytes while they come.
enum class Reading : bool { AtEnd, AsItComes };

/// What told where the reply ends. A reply that ends with its connection may have been cut without a sign.
enum class ReplyFraming : bool { ByConnection, ByLength };

/// One POST under way and what came back for it. Lent by its PostClient from `begin` to `release`.
class Post {
 public:
  virtual ~Post() = default;

  std::string body;      ///< the request's; not touched while under way
  std::string received;  ///< the reply's bytes; the reader may take them out
  void* owner = nullptr;

  PostEnd end = PostEnd::Replied;
  int status = 0;      ///< HTTP; 0: none came
  std::string detail;  ///< the transport's words for what went wrong

  [[nodiscard]] virtual ReplyFraming framing() const = 0;
  /// The value of a header of the reply. Case does not matter.
  [[nodiscard]] virtual std::optional<std::string> find_header(const char* name) const = 0;
};

/// POSTs to one URL over kept connections, many at once, on the caller's thread: libcurl tells which sockets and times
/// matter, one epoll waits for them. A step costs what is ready, not what is under way.
class PostClient {
 public:
  /// Fails with a sentence where the options cannot be used.
  [[nodiscard]] static Result<std::unique_ptr<PostClient>, std::string> open(const PostClientOptions& options);
  virtual ~PostClient() = default;

  /// A Post whose `body` is to be written next. It is sent by the `poll` that follows its `begin`.
  [[nodiscard]] virtual Post& lend() = 0;
  virtual void begin(Post& post, Reading reading) = 0;
  /// Gives a Post back, whether it was begun, has ended, or neither; what is under way is broken off.
  virtual void release(Post& post) = 0;

  /// Does what is to be done, waits for something `wait` at most when there is nothing, and tells which Posts received
  /// bytes (only those read as they come) and which ended, in this order.
  virtual void poll(std::chrono::milliseconds wait, std::vector<Post*>& received, std::vector<Post*>& ended) = 0;
  /// Ends a `poll` that waits. From any thread and from signal handlers.
  virtual void wake() = 0;

 protected:
  PostClient() = default;
  PostClient(const PostClient&) = delete;
  PostClient& operator=(const PostClient&) = delete;
};

/// "host" or "host:port" of a URL, without the user and password that it may hold. Nothing for what is no http(s) URL.
[[nodiscard]] std::optional<std::string> find_host(const std::string& url);

/// `url` with `suffix` added to its path, its query kept. Nothing for what is no http(s) URL.
[[nodiscard]] std::optional<std::string> add_to_path(const std::string& url, std::string_view suffix);

}  // namespace tenon::inference
