#include "bench/postgres/hosts/command_rates.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>

#include "bench/measuring.h"

namespace tenon::bench {
namespace {

/// Commands that are awaited at the same time. More than are in progress at 5,000 a second when each takes 20 ms.
constexpr std::size_t senders = 256;
constexpr std::chrono::seconds reply_max{60};
constexpr double p99_goal_ms = 20;

class Load {
 public:
  Load(const Gateway& gateway, int rate, double seconds)
      : gateway_(gateway), interval_(1.0 / rate), count_(static_cast<std::size_t>(rate * seconds)) {}

  nlohmann::ordered_json measure() {
    const double own = cpu_seconds();
    const double owner = seconds_of_owner();
    const double database = gateway_.database.seconds();
    begin_ = Clock::now();
    std::vector<std::thread> threads;
    for (std::size_t at = 0; at < senders; ++at) threads.emplace_back([this] { send_all(); });
    for (std::thread& thread : threads) thread.join();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    return {{"commands", count_},
            {"refused", refused_.load()},
            {"commands_per_second", static_cast<double>(times_.size()) / seconds},
            {"p50_ms", percentile(times_, 0.5)},
            {"p99_ms", percentile(times_, 0.99)},
            {"cores_of_the_gateway", (cpu_seconds() - own) / seconds},
            {"cores_of_the_owner", (seconds_of_owner() - owner) / seconds},
            {"cores_of_the_server", (gateway_.database.seconds() - database) / seconds}};
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] double seconds_of_owner() const {
    const auto found = find_process_times(gateway_.owner);
    return found ? found->seconds : 0;
  }

  void send_all() {
    std::vector<double> times;
    for (std::size_t at = next_++; at < count_; at = next_++) {
      const auto due = begin_ + std::chrono::duration_cast<Clock::duration>(interval_ * static_cast<double>(at));
      std::this_thread::sleep_until(due);
      const std::string& run = gateway_.conversations[at % gateway_.conversations.size()];
      try {
        gateway_.host.prompt(run, '"' + std::string(200, 'x') + std::to_string(at) + '"', {.timeout = reply_max});
        times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - due).count());
      } catch (const std::exception& error) {
        if (refused_++ == 0) std::fprintf(stderr, "refused: %s\n", error.what());
      }
    }
    const std::scoped_lock lock(mutex_);
    times_.insert(times_.end(), times.begin(), times.end());
  }

  const Gateway& gateway_;
  const std::chrono::duration<double> interval_;
  const std::size_t count_;
  Clock::time_point begin_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> refused_{0};
  std::mutex mutex_;
  std::vector<double> times_;
};

}  // namespace

nlohmann::ordered_json measure_command_rates(const Gateway& gateway, const std::vector<int>& rates, double seconds) {
  nlohmann::ordered_json results;
  int held = 0;
  for (const int rate : rates) {
    const auto one = Load(gateway, rate, seconds).measure();
    const double p99 = one["p99_ms"];
    if (p99 <= p99_goal_ms && one["refused"] == 0) held = rate;
    std::printf("%5d commands/s through a gateway: %6.0f /s   p50 %8.1f ms   p99 %8.1f ms   cores %.2f + %.2f + %.2f\n",
                rate, one["commands_per_second"].get<double>(), one["p50_ms"].get<double>(), p99,
                one["cores_of_the_gateway"].get<double>(), one["cores_of_the_owner"].get<double>(),
                one["cores_of_the_server"].get<double>());
    std::fflush(stdout);
    results[std::to_string(rate) + " a second"] = one;
  }
  results["highest_rate_with_p99_within_20_ms"] = held;
  return results;
}

}  // namespace tenon::bench
