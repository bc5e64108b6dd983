#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Requests and answers without sockets: what the routes work on, and what their tests make.
namespace tenon::server {

struct HttpRequest {
  std::string method;
  std::string target;                          ///< as it was sent: path and query
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;

  /// Empty when there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

/// A target's parts, their percent signs decoded.
struct Target {
  std::vector<std::string> path;  ///< segments: `/v1/runs` is {"v1", "runs"}
  std::map<std::string, std::string> query;
};
/// Nothing when it is no target: no `/` at its start, or a percent sign without two digits behind it.
[[nodiscard]] std::optional<Target> parse_target(std::string_view target);

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

/// A body that comes piece by piece. Used by the server's thread alone.
class BodySource {
 public:
  virtual ~BodySource() = default;
  /// What can be sent now, about `bytes_max` at most. Empty and not `is_done`: nothing yet.
  [[nodiscard]] virtual std::string take(std::size_t bytes_max) = 0;
  [[nodiscard]] virtual bool is_done() const = 0;
  /// `notify` is called, on any thread, when `take` may give more. Once, before the first `take`.
  virtual void watch(std::function<void()> notify) = 0;
  /// Of a body that is gathered, at its end: the status that it goes out with, if not the head's.
  [[nodiscard]] virtual std::optional<int> status() const { return std::nullopt; }
  /// Whether the reader comes back for the rest: a server that stops does not wait for the end of such a body.
  [[nodiscard]] virtual bool can_be_continued() const { return false; }
  /// What a reader is told instead of the rest when the server cannot wait any longer, so that nobody takes what has
  /// come for the whole. The body is done then.
  [[nodiscard]] virtual std::string break_off(std::string_view reason) = 0;
};

/// A body that is made on the server's thread, when it is watched; null is an empty one.
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

/// A response, whole or with a body that comes piece by piece.
struct HttpAnswer {
  HttpResponse head;
  std::unique_ptr<BodySource> body;
  /// The pieces go out as they come; otherwise they are gathered, and go out whole at the end.
  bool is_streamed = true;
};

/// The answer whose body is all there.
[[nodiscard]] HttpAnswer whole(HttpResponse response);

/// Called once, on any thread.
using OnAnswer = std::function<void(HttpAnswer)>;

/// {"error":{"message":…,"type":…,"code":…}}, as OpenAI's clients expect it too. Where sending the same again would not
/// help (409, 500), a header keeps those clients from doing so by themselves.
[[nodiscard]] HttpResponse make_error(int status, std::string_view code, std::string_view message);
/// 200 with JSON, or another status.
[[nodiscard]] HttpResponse make_json(std::string body, int status = 200);

/// One event of a stream: `id` (if there is one) and data on one line.
[[nodiscard]] std::string make_sse(std::optional<std::uint64_t> id, std::string_view data);

/// Whether both are the same, in a time that depends on the length of `given` alone.
[[nodiscard]] bool equal_in_constant_time(std::string_view given, std::string_view secret);

}  // namespace tenon::server
