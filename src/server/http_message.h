#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Requests and responses without sockets: what the routes work with, and what their tests create.
namespace tenon::server {

struct HttpRequest {
  std::string method;
  std::string target;  ///< as it was sent: path and query
  /// Names in lower case. A header that was sent several times has its values in one, separated by `, `.
  std::map<std::string, std::string> headers;
  std::string body;

  /// Returns null for a missing header.
  [[nodiscard]] const std::string* find_header(std::string_view name) const;
  /// Returns an empty text for a missing header.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

/// Turns a target in absolute form (`http://HOST/PATH`, RFC 9112 section 3.2.2) into its path; its host replaces the
/// Host header. A target that is not such a URL stays as it is, and is then rejected by `parse_target`.
void resolve_absolute_target(HttpRequest& request);

/// The parts of a target, percent-decoded.
struct Target {
  std::vector<std::string> path;  ///< segments: `/v1/runs` is {"v1", "runs"}
  std::map<std::string, std::string> query;
  std::optional<std::string> repeated;  ///< a parameter that appears more than once
};
/// Returns nothing for what is not an absolute path with an optional query (RFC 9112 section 3.2.1): a text without `/`
/// at its start, with a fragment, with a character that must be percent-encoded, or with `%` that two hexadecimal
/// digits do not follow.
[[nodiscard]] std::optional<Target> parse_target(std::string_view target);

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

/// A response body that is produced piece by piece. Used by the server's thread only.
class BodySource {
 public:
  virtual ~BodySource() = default;
  /// Returns what can be sent now, at most about `bytes_max` bytes. Empty and not `is_done`: nothing yet.
  [[nodiscard]] virtual std::string take(std::size_t bytes_max) = 0;
  [[nodiscard]] virtual bool is_done() const = 0;
  /// Call it once, before the first `take`. `notify` is called, on any thread, when `take` may return more.
  virtual void watch(std::function<void()> notify) = 0;
  /// For a body that is collected before it is sent: the final status, when it differs from the head's.
  [[nodiscard]] virtual std::optional<int> status() const { return std::nullopt; }
  /// Whether the client can read the rest later: a server that stops does not wait for the end of such a body.
  [[nodiscard]] virtual bool can_be_continued() const { return false; }
  /// Ends the body when the server cannot wait any longer. Returns what is sent instead of the rest, so that a client
  /// does not take the part for the whole.
  [[nodiscard]] virtual std::string break_off(std::string_view reason) = 0;
};

/// A body that is created on the server's thread when it is watched. Null: an empty body.
class LaterBody final : public BodySource {
 public:
  explicit LaterBody(std::function<std::unique_ptr<BodySource>()> make) : make_(std::move(make)) {}
  [[nodiscard]] std::string take(std::size_t bytes_max) override {
    return body_ ? body_->take(bytes_max) : std::string();
  }
  [[nodiscard]] bool is_done() const override { return !body_ || body_->is_done(); }
  void watch(std::function<void()> notify) override {
    body_ = make_();
    if (body_) body_->watch(std::move(notify));
  }
  [[nodiscard]] std::optional<int> status() const override { return body_ ? body_->status() : std::nullopt; }
  [[nodiscard]] bool can_be_continued() const override { return body_ && body_->can_be_continued(); }
  [[nodiscard]] std::string break_off(std::string_view reason) override {
    return body_ ? body_->break_off(reason) : std::string();
  }

 private:
  std::function<std::unique_ptr<BodySource>()> make_;
  std::unique_ptr<BodySource> body_;
};

/// A response, either complete or with a body that is produced piece by piece.
struct HttpAnswer {
  HttpResponse head;
  std::unique_ptr<BodySource> body;
  /// Pieces are sent as they are produced; otherwise they are collected and sent together.
  bool is_streamed = true;
};

/// An answer with a complete body.
[[nodiscard]] HttpAnswer whole(HttpResponse response);

/// Called once, on any thread.
using OnAnswer = std::function<void(HttpAnswer)>;

/// {"error":{"message":…,"type":…,"param":…,"code":…}}, the format of OpenAI's API. Where repeating the request would
/// not help (409, 500), a header keeps OpenAI's clients from repeating it automatically; where it would (503), one says
/// when. `param`: the field of the request that is wrong; empty: not in the body.
[[nodiscard]] HttpResponse make_error(int status, std::string_view code, std::string_view message,
                                      std::string_view param = {});
/// A JSON response.
[[nodiscard]] HttpResponse make_json(std::string body, int status = 200);

/// One server-sent event: optional `id`, and `data` on one line.
[[nodiscard]] std::string make_sse(std::optional<std::uint64_t> id, std::string_view data);

/// Compares in a time that depends only on the length of `given`.
[[nodiscard]] bool equal_in_constant_time(std::string_view given, std::string_view secret);

}  // namespace tenon::server
