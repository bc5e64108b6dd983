// The floor: the cost of a client that uses only libcurl. It sends the same bytes as OpenAiModel and reads just enough
// of the answer to see that it is right.
//
//   bench_http_floor sequence URL COUNT          COUNT typed calls, one after the other
//   bench_http_floor loop URL ROUNDS             a conversation that grows by a call and its result per round
//   bench_http_floor many URL AGENTS CALLS       AGENTS at once, each CALLS calls one after the other
//   bench_http_floor once URL                    one call, to measure the time from process start to the first request
//
// Prints one line of JSON: the wall time and CPU time of the measured part, in seconds.
#include <curl/curl.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measuring.h"

namespace {

constexpr std::string_view head = R"({"model":"mock","messages":[{"role":"user","content":")";
constexpr std::string_view question = "Is the following statement true? Water is wet.";
constexpr std::string_view tail =
    R"("}],"max_tokens":1024,"temperature":0,"seed":0,"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}}}})";
constexpr std::string_view right_answer = R"({\"ok\":true})";

[[noreturn]] void stop(const std::string& what) {
  std::fprintf(stderr, "bench_http_floor: %s\n", what.c_str());
  std::exit(1);
}

std::size_t append_reply(char* bytes, std::size_t size, std::size_t count, void* reply) {
  static_cast<std::string*>(reply)->append(bytes, size * count);
  return size * count;
}

/// A handle with fixed options; only the body changes between calls.
class Caller {
 public:
  Caller(const std::string& url, curl_slist* headers) : easy_(curl_easy_init()) {
    curl_easy_setopt(easy_, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, append_reply);
    curl_easy_setopt(easy_, CURLOPT_WRITEDATA, &reply_);
    curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
  }
  ~Caller() { curl_easy_cleanup(easy_); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  [[nodiscard]] CURL* easy() const { return easy_; }

  void prepare(std::string_view prompt) {
    body_.assign(head);
    body_ += prompt;
    body_ += tail;
    reply_.clear();
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, body_.data());
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE, static_cast<long>(body_.size()));
  }
  void perform() const {
    if (curl_easy_perform(easy_) != CURLE_OK) stop("a call failed");
  }
  void check() const {
    if (reply_.find(right_answer) == std::string::npos) stop("a wrong reply: " + reply_);
  }

  std::size_t calls_left = 0;

 private:
  CURL* easy_;
  std::string body_;
  std::string reply_;
};

/// Wall time and CPU time since the last start; everything before it is warm-up.
class Stopwatch {
 public:
  Stopwatch() { start(); }
  void start() {
    cpu_begin_ = tenon::bench::cpu_seconds();
    begin_ = std::chrono::steady_clock::now();
  }
  void print() const {
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin_;
    std::printf("{\"wall_s\": %.6f, \"cpu_s\": %.6f, \"version\": \"libcurl %s\"}\n", wall.count(),
                tenon::bench::cpu_seconds() - cpu_begin_, curl_version_info(CURLVERSION_NOW)->version);
  }

 private:
  std::chrono::steady_clock::time_point begin_;
  double cpu_begin_ = 0;
};

void run_sequence(const std::string& url, curl_slist* headers, std::size_t count, Stopwatch& watch) {
  Caller caller(url, headers);
  caller.prepare(question);
  caller.perform();
  watch.start();
  for (std::size_t i = 0; i < count; ++i) {
    caller.prepare(question);
    caller.perform();
    caller.check();
  }
}

void run_loop(const std::string& url, curl_slist* headers, std::size_t rounds, Stopwatch& watch) {
  Caller caller(url, headers);
  caller.prepare(question);
  caller.perform();
  watch.start();
  std::string history(question);
  for (std::size_t i = 0; i < rounds; ++i) {
    caller.prepare(history);
    caller.perform();
    caller.check();
    history += R"(\nadd({\"a\":)" + std::to_string(i) + R"(,\"b\":1}))";
    history += R"(\nThe result is )" + std::to_string(i + 1) + ".";
  }
}

void run_many(const std::string& url, curl_slist* headers, std::size_t agents, std::size_t calls, Stopwatch& watch) {
  {
    Caller first(url, headers);
    first.prepare(question);
    first.perform();
  }
  watch.start();
  CURLM* multi = curl_multi_init();
  std::vector<std::unique_ptr<Caller>> callers;
  for (std::size_t i = 0; i < agents; ++i) {
    callers.push_back(std::make_unique<Caller>(url, headers));
    callers.back()->calls_left = calls;
    callers.back()->prepare(question);
    curl_multi_add_handle(multi, callers.back()->easy());
  }
  int running = 0;
  for (std::size_t live = agents; live > 0;) {
    curl_multi_perform(multi, &running);
    int queued = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &queued)) {
      Caller* caller = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &caller);
      if (message->data.result != CURLE_OK) stop("a call failed");
      caller->check();
      curl_multi_remove_handle(multi, caller->easy());
      if (--caller->calls_left > 0) {
        caller->prepare(question);
        curl_multi_add_handle(multi, caller->easy());
      } else {
        --live;
      }
    }
    if (live > 0) curl_multi_poll(multi, nullptr, 0, 100, nullptr);
  }
  callers.clear();
  curl_multi_cleanup(multi);
}

std::size_t number(const char* text) {
  std::size_t value = 0;
  const std::string_view view(text);
  std::from_chars(view.data(), view.data() + view.size(), value);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string job = argc > 1 ? argv[1] : "";
  if (argc < 3) stop("a job and a URL are needed");
  const std::string url = std::string(argv[2]) + "/chat/completions";
  curl_global_init(CURL_GLOBAL_DEFAULT);
  curl_slist* headers = curl_slist_append(nullptr, "Content-Type: application/json");
  headers = curl_slist_append(headers, "Authorization: Bearer bench");
  Stopwatch watch;
  if (job == "sequence" && argc == 4) {
    run_sequence(url, headers, number(argv[3]), watch);
  } else if (job == "loop" && argc == 4) {
    run_loop(url, headers, number(argv[3]), watch);
  } else if (job == "many" && argc == 5) {
    run_many(url, headers, number(argv[3]), number(argv[4]), watch);
  } else if (job == "once") {
    Caller caller(url, headers);
    caller.prepare(question);
    caller.perform();
    caller.check();
  } else {
    stop("no such job: " + job);
  }
  watch.print();
  curl_slist_free_all(headers);
}
