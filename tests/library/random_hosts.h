#pragma once

// Random calls of hosts, their requests and their followers.
#include <tenon/tenon.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "random_options.h"
#include "random_programs.h"
#include "random_support.h"

namespace {

/// A follower and its host, which is freed after it. One thread at a time takes events.
struct Followed {
  Followed(std::shared_ptr<tenon_host> of, tenon_follower* made) : host(std::move(of)), follower(made) {}
  ~Followed() { tenon_follower_free(follower); }
  Followed(const Followed&) = delete;
  Followed& operator=(const Followed&) = delete;

  std::shared_ptr<tenon_host> host;
  tenon_follower* follower;
  std::mutex mutex;
};

std::atomic<long> sent = 0, replied = 0;

void take_reply(void*, tenon_text run, std::uint64_t, tenon_error* error) {
  ++replied;
  if (error == nullptr && run.length == 0) give_up("a reply names no run");
  if (error != nullptr) check(tenon_error_status(error), error);
}

/// The hosts of a seed, which share a store, and what the threads do with them.
class Hosts {
 public:
  Hosts(std::string file, std::string store) : file_(std::move(file)), store_(std::move(store)) {}

  void open(Random& random) {
    const auto options = make_options(store_);
    const char* const files[] = {file_.c_str()};
    tenon_host* host = nullptr;
    done([&](tenon_error** error) {
      return tenon_host_open(options.get(), random() % 4 == 0 ? TENON_GATEWAY : TENON_HOST, files, 1, &host, error);
    });
    const auto opened = hosts_.add(host);
    if (random() % 4 != 0) done([&](tenon_error** error) { return tenon_host_begin(opened.get(), error); });
  }

  void act(Random& random) {
    const auto host = hosts_.pick(random);
    switch (random() % 12) {
      case 0:
      case 1:
        return start(host.get(), random);
      case 2:
      case 3:
        return request(host.get(), random);
      case 4:
        return send(host.get(), random);
      case 5:
        return read(host.get(), random);
      case 6:
        return follow(host, random);
      case 7:
      case 8:
        return take_event(random);
      case 9:
        return manage(host.get(), random);
      case 10:
        return random() % 3 == 0 ? drop_follower(random) : static_cast<void>(begun.end_one());
      case 11:
        if (random() % 16 == 0) return open(random);
        if (random() % 24 == 0) return hosts_.drop_one(random);
        begun.end_one();
        return;
    }
  }

  void clear() {
    hosts_.clear();
    std::vector<std::shared_ptr<Followed>> dropped;
    const std::scoped_lock lock(mutex_);
    dropped.swap(followers_);
  }

 private:
  static const char* key(Random& random) { return random() % 3 == 0 ? (random() % 2 == 0 ? "one" : "two") : nullptr; }

  std::string name(Random& random) {
    const std::scoped_lock lock(mutex_);
    return names_.empty() || random() % 10 == 0 ? "nothing" : names_[random() % names_.size()];
  }

  void start(tenon_host* host, Random& random) {
    static const std::pair<const char*, const char*> functions[] = {
        {"slow_total", R"({"order":{"item":"tea","count":3,"tags":["a"]}})"},
        {"half", R"({"n":0})"},
        {"classify", R"({"message":"my bill"})"},
        {"colour", "{}"},
        {"Counter", "\"hello\""},
        {"Consultant", "\"hello\""},
        {"mixed", all_values},
        {"attempted", all_values},
        {"none", "{}"}};
    const auto& [function, arguments] = functions[random() % std::size(functions)];
    tenon_string* run = nullptr;
    done([&](tenon_error** error) {
      return tenon_host_start(host, function, tenon_text_of(arguments), key(random), random() % 50, &run, error);
    });
    if (run == nullptr) return;
    const std::scoped_lock lock(mutex_);
    names_.emplace_back(tenon_string_text(run).data);
    tenon_string_free(run);
  }

  void request(tenon_host* host, Random& random) {
    const std::string run = name(random);
    const std::uint64_t timeout = random() % 10;
    done([&](tenon_error** error) {
      switch (random() % 4) {
        case 0:
          return tenon_host_prompt(host, run.c_str(), tenon_text_of("\"more\""), key(random), timeout, error);
        case 1:
          return tenon_host_answer(host, run.c_str(), random() % 4 == 0 ? "7.7" : nullptr, tenon_text_of("\"red\""),
                                   key(random), timeout, error);
        case 2:
          return tenon_host_cancel(host, run.c_str(), "enough", key(random), timeout, error);
        default:
          return tenon_host_cancel_turn(host, run.c_str(), nullptr, key(random), timeout, error);
      }
    });
  }

  void send(tenon_host* host, Random& random) {
    const std::string run = name(random);
    const bool is_start = random() % 2 == 0;
    const tenon_request request = {sizeof(tenon_request),
                                   is_start ? TENON_START : static_cast<tenon_request_kind>(random() % 6),
                                   is_start ? "Counter" : run.c_str(),
                                   nullptr,
                                   tenon_text_of("\"red\""),
                                   key(random)};
    const tenon_status status =
        done([&](tenon_error** error) { return tenon_host_send(host, &request, take_reply, nullptr, error); });
    if (status == TENON_OK) ++sent;
  }

  void read(tenon_host* host, Random& random) {
    const std::string run = name(random);
    tenon_string* text = nullptr;
    tenon_outcome* outcome = nullptr;
    done([&](tenon_error** error) {
      switch (random() % 6) {
        case 0:
          return tenon_host_run(host, run.c_str(), &text, error);
        case 1:
          return tenon_host_runs(host, nullptr, nullptr, random() % 5, &text, error);
        case 2:
          return tenon_host_outcome(host, run.c_str(), &outcome, error);
        case 3:
          return tenon_host_owners(host, &text, error);
        case 4:
          return tenon_host_counts(host, &text, error);
        default:
          return tenon_host_pools_without_hosts(host, &text, error);
      }
    });
    tenon_string_free(text);
    free_outcome(outcome);
    switch (random() % 3) {
      case 0:
        return tenon_string_free(tenon_host_status(host));
      case 1:
        return tenon_string_free(tenon_host_describe(host));
      default:
        return tenon_string_free(tenon_host_placements(host));
    }
  }

  void follow(const std::shared_ptr<tenon_host>& host, Random& random) {
    const std::string run = name(random);
    tenon_follower* made = nullptr;
    done([&](tenon_error** error) { return tenon_host_follow(host.get(), run.c_str(), random() % 4, &made, error); });
    if (made == nullptr) return;
    auto followed = std::make_shared<Followed>(host, made);
    const std::scoped_lock lock(mutex_);
    if (followers_.size() < handles_max) followers_.push_back(std::move(followed));
  }

  void take_event(Random& random) {
    std::shared_ptr<Followed> followed;
    {
      const std::scoped_lock lock(mutex_);
      if (followers_.empty()) return;
      followed = followers_[random() % followers_.size()];
    }
    if (random() % 4 == 0) tenon_follower_interrupt(followed->follower);
    const std::scoped_lock lock(followed->mutex);
    tenon_event* event = nullptr;
    done([&](tenon_error** error) { return tenon_follower_next(followed->follower, random() % 3, &event, error); });
    free_event(event);
    tenon_run_state state = TENON_RUN_RUNNING;
    done([&](tenon_error** error) { return tenon_follower_state(followed->follower, &state, error); });
    static_cast<void>(tenon_follower_descriptor(followed->follower));
  }

  void drop_follower(Random& random) {
    std::shared_ptr<Followed> dropped;  // freed without the lock
    const std::scoped_lock lock(mutex_);
    if (followers_.empty()) return;
    dropped.swap(followers_[random() % followers_.size()]);
    std::erase(followers_, nullptr);
  }

  static void manage(tenon_host* host, Random& random) {
    std::size_t released = 0;
    std::uint16_t port = 0;
    done([&](tenon_error** error) {
      switch (random() % 16) {
        case 0:
          return tenon_host_stop(host, random() % 3, error);
        case 1:
          return tenon_host_serve(host, "127.0.0.1", 0, nullptr, &port, error);
        case 2:
        case 3:
          return tenon_host_begin(host, error);
        default:
          return tenon_host_release(host, random() % 3, random() % 5, &released, error);
      }
    });
  }

  const std::string file_;
  const std::string store_;
  Pool<tenon_host> hosts_{tenon_host_free};
  std::mutex mutex_;
  std::vector<std::string> names_;  ///< of runs
  std::vector<std::shared_ptr<Followed>> followers_;
};

}  // namespace
