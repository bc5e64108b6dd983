// Tenon's side of the comparison with a bare libcurl client (floor/), and the endpoint that both use.
//
//   bench_http serve
//   bench_http SUBJECT sequence URL COUNT
//   bench_http SUBJECT loop URL ROUNDS
//   bench_http SUBJECT many URL AGENTS CALLS
//   bench_http SUBJECT once URL
//
// SUBJECT: `model`, the HTTP model alone, or `tenon`, programs in the runtime. Started in the repository's root.
// Prints one line of JSON: the wall time and CPU time of the measured part, in seconds.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "bench/http/mock_endpoint.h"
#include "bench/http/subject.h"
#include "bench/measuring.h"

namespace tenon::bench {
namespace {

std::size_t number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) stop(fmt::format("`{}` is not a number", text));
  return value;
}

std::unique_ptr<Subject> make_subject(std::string_view name, const std::string& url) {
  if (name == "model") return make_model_subject(url);
  if (name == "tenon") return make_tenon_subject(url, "bench/http/calls.tn");
  stop(fmt::format("there is no subject `{}`", name));
}

void run(std::string_view subject_name, std::string_view job, const std::string& url, int argc, char** argv) {
  auto begin = std::chrono::steady_clock::now();
  double cpu_begin = cpu_seconds();
  const auto subject = make_subject(subject_name, url);
  const auto start_watch = [&] {
    cpu_begin = cpu_seconds();
    begin = std::chrono::steady_clock::now();
  };
  if (job == "sequence" && argc == 1) {
    subject->run_sequence(number(argv[0]), start_watch);
  } else if (job == "loop" && argc == 1) {
    subject->run_loop(number(argv[0]), start_watch);
  } else if (job == "many" && argc == 2) {
    subject->run_many(number(argv[0]), number(argv[1]), start_watch);
  } else if (job == "once" && argc == 0) {
    subject->run_sequence(0, start_watch);  // the warm-up is one call
  } else {
    stop(fmt::format("there is no job `{}` of {} numbers", job, argc));
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  fmt::print("{{\"wall_s\": {:.6f}, \"cpu_s\": {:.6f}}}\n", wall.count(), cpu_seconds() - cpu_begin);
}

}  // namespace

}  // namespace tenon::bench

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "serve") {
    tenon::bench::run_mock_endpoint();
    return 0;
  }
  if (argc < 4) tenon::bench::stop("usage: bench_http serve | SUBJECT JOB URL [NUMBER…]");
  tenon::bench::run(argv[1], argv[2], argv[3], argc - 4, argv + 4);
}
