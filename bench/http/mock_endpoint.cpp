#include "bench/http/mock_endpoint.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <unordered_map>

#include "tests/support/mock_server.h"

namespace tenon::bench {
namespace {

using Json = nlohmann::ordered_json;
using namespace tenon::test;

/// The simplest value that a schema allows. Supports only the schemas of the benchmarks.
Json simplest_value(const Json& schema, const Json& root) {
  if (const auto ref = schema.find("$ref"); ref != schema.end()) {
    return simplest_value(root.at(Json::json_pointer(ref->get<std::string>().substr(1))), root);
  }
  if (const auto value = schema.find("const"); value != schema.end()) return *value;
  if (const auto values = schema.find("enum"); values != schema.end()) return values->at(0);
  for (const auto* key : {"anyOf", "oneOf", "allOf"}) {
    if (const auto choices = schema.find(key); choices != schema.end()) return simplest_value(choices->at(0), root);
  }
  const std::string type = schema.value("type", "object");
  if (type == "boolean") return true;
  if (type == "integer" || type == "number") return schema.value("minimum", 7);
  if (type == "string") return "ok";
  if (type == "null") return nullptr;
  if (type == "array") return Json::array({simplest_value(schema.at("items"), root)});
  Json object = Json::object();
  if (const auto properties = schema.find("properties"); properties != schema.end()) {
    for (const auto& [name, property] : properties->items()) object[name] = simplest_value(property, root);
  }
  return object;
}

/// The JSON object that starts at `at`.
std::string_view object_at(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  bool is_in_string = false;
  for (std::size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string) {
      if (c == '\\') ++i;
      if (c == '"') is_in_string = false;
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return text.substr(at, i + 1 - at);
    }
  }
  return {};
}

class MockEndpoint {
 public:
  ReplyPlan reply(const HttpRequest& request, const MockServer& server) {
    const auto begin = std::chrono::steady_clock::now();
    std::string_view path = request.path;
    std::chrono::milliseconds delay{0};
    if (path.starts_with("/d")) {
      std::uint32_t milliseconds = 0;
      const auto [end, error] = std::from_chars(path.data() + 2, path.data() + path.size(), milliseconds);
      if (error == std::errc()) {
        delay = std::chrono::milliseconds(milliseconds);
        path.remove_prefix(static_cast<std::size_t>(end - path.data()));
      }
    }
    // For clients that describe the answer's form in the prompt instead of sending a schema.
    const bool answers_verdicts = path.starts_with(verdicts);
    if (answers_verdicts) path.remove_prefix(verdicts.size());
    if (path == "/stats") return {Send{http_reply(200, stats(server))}};
    if (path == "/reset") {
      requests_ = 0;
      handler_time_ = {};
      first_request_ns_ = 0;
      return {Send{http_reply(200, "{}")}};
    }
    if (path != "/v1/chat/completions") return {Send{http_reply(404, R"({"error":{"message":"no such path"}})")}};
    if (requests_++ == 0) {
      first_request_ns_ =
          std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
              .count();
    }
    ReplyPlan plan;
    if (delay.count() > 0) plan.emplace_back(Wait{delay});
    plan.emplace_back(Send{reply_to(request.body, answers_verdicts ? R"({"ok":true})" : "ok")});
    handler_time_ += std::chrono::steady_clock::now() - begin;
    return plan;
  }

 private:
  static constexpr std::string_view verdicts = "/verdicts";

  [[nodiscard]] std::string stats(const MockServer& server) const {
    return fmt::format(R"({{"requests":{},"handler_ns":{},"first_request_ns":{},"in_progress_max":{}}})", requests_,
                       handler_time_.count(), first_request_ns_, server.counts().in_progress_max);
  }

  /// There are few schemas and many prompts, so the reply for each schema is cached.
  const std::string& reply_to(std::string_view body, const std::string& without_schema) {
    static constexpr std::string_view key = R"("schema":)";
    const std::size_t at = body.rfind(key);
    const std::string schema(at == std::string_view::npos ? std::string_view{} : object_at(body, at + key.size()));
    const auto known = replies_.find(schema.empty() ? without_schema : schema);
    if (known != replies_.end()) return known->second;
    const Json parsed = Json::parse(schema, nullptr, false);
    const std::string content = parsed.is_object() ? simplest_value(parsed, parsed).dump() : without_schema;
    return replies_.emplace(schema.empty() ? without_schema : schema, http_reply(200, chat_reply_json(content)))
        .first->second;
  }

  std::unordered_map<std::string, std::string> replies_;
  std::uint64_t requests_ = 0;
  std::chrono::nanoseconds handler_time_{0};
  std::int64_t first_request_ns_ = 0;
};

}  // namespace

void run_mock_endpoint() {
  MockEndpoint endpoint;
  MockServer* running = nullptr;
  MockServer server([&](const HttpRequest& request) { return endpoint.reply(request, *running); });
  running = &server;
  std::printf("%s\n", server.url().c_str());
  std::fflush(stdout);
  std::thread watcher([&] {
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) > 0) {
    }
    server.stop();
  });
  server.run(std::chrono::minutes(10));
  watcher.detach();
}

}  // namespace tenon::bench
