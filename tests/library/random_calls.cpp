// Calls tenon/tenon.h in random orders from three threads: whatever they do, each call returns with a status that the
// header has, errors come with a message, nothing hangs, and the sanitizers find nothing. Arguments: the program, the
// first seed, and how many seeds. A seed decides what each thread does; how their calls mix is up to the machine.
#include <tenon/tenon.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int thread_count = 3;
constexpr int steps = 120;            // of a thread, in a seed
constexpr unsigned seconds_max = 60;  // for a seed
constexpr std::size_t handles_max = 12;

std::string place;  // for messages
std::atomic<long> call_count = 0;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", place.c_str(), why.c_str());
  std::_Exit(1);
}

/// Checks what a function has returned, and frees its error.
tenon_status check(tenon_status status, tenon_error* error) {
  ++call_count;
  if (status < TENON_OK || status >= TENON_FORKED) give_up("status " + std::to_string(status));
  const bool has_failed = status != TENON_OK && status != TENON_NOT_YET;
  if (has_failed != (error != nullptr)) give_up("an error does not fit the status " + std::to_string(status));
  if (error == nullptr) return status;
  if (tenon_error_status(error) != status || tenon_error_message(error).length == 0) give_up("an error says nothing");
  if (status == TENON_INTERNAL) give_up(tenon_error_message(error).data);
  tenon_error_free(error);
  return status;
}

/// The same of a function that is called with a place for its error.
template <class Call>
tenon_status done(const Call& call) {
  tenon_error* error = nullptr;
  const tenon_status status = call(&error);
  return check(status, error);
}

/// Handles that the threads share. One may use a handle while others do, and frees it when no other one does.
template <class Handle>
class Pool {
 public:
  explicit Pool(void (*free)(Handle*)) : free_(free) {}
  ~Pool() { clear(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// It is freed by the last one that uses it.
  std::shared_ptr<Handle> add(Handle* handle) {
    if (handle == nullptr) return nullptr;
    const std::shared_ptr<Handle> added(handle, free_);
    const std::scoped_lock lock(mutex_);
    if (handles_.size() < handles_max) handles_.push_back(added);
    return added;
  }
  /// Null at times, as the header allows it.
  std::shared_ptr<Handle> pick(std::mt19937& random) {
    const std::scoped_lock lock(mutex_);
    if (handles_.empty() || random() % 40 == 0) return nullptr;
    return handles_[random() % handles_.size()];
  }
  void drop_one(std::mt19937& random) {
    std::shared_ptr<Handle> dropped;  // freed without the lock
    const std::scoped_lock lock(mutex_);
    if (handles_.empty()) return;
    dropped.swap(handles_[random() % handles_.size()]);
    std::erase(handles_, nullptr);
  }
  void clear() {
    std::vector<std::shared_ptr<Handle>> dropped;
    const std::scoped_lock lock(mutex_);
    dropped.swap(handles_);
  }

 private:
  void (*free_)(Handle*);
  std::mutex mutex_;
  std::vector<std::shared_ptr<Handle>> handles_;
};

/// What the externs and the model of the host have begun, to be ended by any thread.
class Begun {
 public:
  void add(std::function<void()> end) {
    const std::scoped_lock lock(mutex_);
    ends_.push_back(std::move(end));
  }
  bool end_one() {
    std::function<void()> end;
    {
      const std::scoped_lock lock(mutex_);
      if (ends_.empty()) return false;
      end = std::move(ends_.back());
      ends_.pop_back();
    }
    end();
    return true;
  }

 private:
  std::mutex mutex_;
  std::vector<std::function<void()>> ends_;
};

Begun begun;

void price(tenon_call* call, void*) {
  tenon_put_i64(call, tenon_result(call), 7);
}

void slow_price(tenon_call* call, void*) {
  if (!tenon_defer(call)) return;
  begun.add([call] {
    if ((tenon_call_run(call) + static_cast<std::uint64_t>(call_count)) % 3 == 0) {
      tenon_fail(call, "it is not sold");
    } else if (tenon_may_begin(call)) {
      tenon_put_i64(call, tenon_result(call), 9);
    } else {
      tenon_fail_unavailable(call, "too late");
    }
    tenon_finish(call);
  });
}

void start_answer(void*, tenon_generation* generation, tenon_text request) {
  const bool is_short = request.length % 2 == 0;
  begun.add([generation, is_short] {
    tenon_generation_add(generation, tenon_text_of("\"bil"));
    if (tenon_generation_is_cancelled(generation) || is_short) {
      tenon_generation_finish(generation, tenon_text_of("\"billing\""));
    } else {
      tenon_generation_fail(generation, TENON_MODEL_REJECTED, tenon_text_of("no such model"));
    }
  });
}

/// With the program's externs and a model. `store` may be empty.
std::unique_ptr<tenon_options, decltype(&tenon_options_free)> make_options(const std::string& store) {
  std::unique_ptr<tenon_options, decltype(&tenon_options_free)> options(tenon_options_new(), tenon_options_free);
  static const tenon_model model = {sizeof(tenon_model), start_answer, [](void*, tenon_generation*) {}};
  tenon_options_add_extern(options.get(), "price", price, nullptr, nullptr);
  tenon_options_add_extern(options.get(), "slow_price", slow_price, nullptr, nullptr);
  tenon_options_set_model(options.get(), "host", &model, nullptr, nullptr);
  if (!store.empty())
    done([&](tenon_error** error) { return tenon_options_set(options.get(), "store", store.c_str(), error); });
  return options;
}

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
  using Random = std::mt19937;

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
    tenon_outcome_free(outcome);
    tenon_string_free(random() % 2 == 0 ? tenon_host_status(host) : tenon_host_describe(host));
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
    tenon_event_free(event);
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

/// One seed: an engine or two, and what the threads do with them.
class World {
 public:
  World(std::string file, std::string store)
      : file_(std::move(file)), store_(std::move(store)), hosts_(file_, store_ + ".hosts") {}

  void run(unsigned seed) {
    open_engine();
    std::mt19937 choices(seed);
    has_hosts_ = !store_.empty() && seed % 4 == 0;
    if (has_hosts_) hosts_.open(choices);
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < thread_count; ++thread) {
      threads.emplace_back([this, seed, thread] {
        std::mt19937 random(seed * thread_count + thread);
        for (int step = 0; step < steps; ++step) act(random);
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::mt19937 random(seed);
    // Handles and engines may be freed in any order.
    const std::vector<std::function<void()>> frees = {[&] { runs_.clear(); }, [&] { programs_.clear(); },
                                                      [&] { engines_.clear(); }, [&] { hosts_.clear(); }};
    for (std::size_t at = 0, first = random() % frees.size(); at < frees.size(); ++at) {
      frees[(first + at) % frees.size()]();
    }
    while (begun.end_one()) {
    }
    if (sent != replied) give_up("a request that was sent has no reply");
  }

 private:
  using Random = std::mt19937;

  void open_engine() {
    const auto options = make_options(store_);
    tenon_engine* engine = nullptr;
    done([&](tenon_error** error) { return tenon_engine_open(options.get(), &engine, error); });
    const auto opened = engines_.add(engine);
    load(opened.get(), nullptr);
  }

  void load(tenon_engine* engine, const char* text) {
    tenon_program* program = nullptr;
    tenon_error* error = nullptr;
    const tenon_status status = tenon_program_load(engine, file_.c_str(), text, &program, &error);
    check(status, error);
    programs_.add(program);
  }

  static std::uint32_t flags(Random& random) { return random() % 16; }

  void start(Random& random) {
    static const std::pair<const char*, const char*> functions[] = {
        {"total", R"({"order":{"item":"tea","count":3,"tags":[]}})"},
        {"slow_total", R"({"order":{"item":"tea","count":3,"tags":["a"]}})"},
        {"half", R"({"n":0})"},
        {"half", R"({"n":"x"})"},
        {"greet", R"({"name":"Ann"})"},
        {"classify", R"({"message":"my bill"})"},
        {"colour", "{}"},
        {"colour", "{"},
        {"none", "{}"}};
    const auto program = programs_.pick(random);
    const auto& [function, arguments] = functions[random() % std::size(functions)];
    tenon_run* run = nullptr;
    tenon_error* error = nullptr;
    const bool is_agent = random() % 4 == 0;
    const tenon_status status =
        is_agent ? tenon_run_start_agent(program.get(), random() % 8 == 0 ? "Nobody" : "Counter", flags(random), &run,
                                         &error)
                 : tenon_run_start(program.get(), function, tenon_text_of(arguments), flags(random), &run, &error);
    check(status, error);
    runs_.add(run);
  }

  void call(Random& random) {
    const auto program = programs_.pick(random);
    tenon_call* made = nullptr;
    const bool is_slow = random() % 2 == 0;
    if (done([&](tenon_error** error) {
          return tenon_call_new(program.get(), is_slow ? "slow_total" : "half", &made, error);
        }) != TENON_OK)
      return;
    const std::shared_ptr<tenon_call> call(made, tenon_call_free);
    if (random() % 5 != 0) {
      tenon_put_json(made, tenon_call_parameter(made, 0), is_slow ? R"({"item":"x","count":2,"tags":[]})" : "8");
    }
    tenon_run* run = nullptr;
    const auto way = random() % 4;
    if (way < 2) {
      const tenon_value* value = nullptr;
      tenon_outcome* outcome = nullptr;
      tenon_error* error = nullptr;
      const tenon_status status =
          tenon_call_make(made, random() % 3, &value, &outcome, random() % 3 == 0 ? nullptr : &run, &error);
      check(status, error);
      tenon_outcome_free(outcome);
    } else {
      tenon_run_state state = TENON_RUN_RUNNING;
      done([&](tenon_error** error) {
        return way == 2 ? tenon_call_start(made, flags(random), &run, error)
                        : tenon_call_begin(made, &run, &state, error);
      });
      const tenon_value* value = nullptr;
      if (run != nullptr) done([&](tenon_error** error) { return tenon_call_value(made, run, &value, error); });
    }
    runs_.add(run);
  }

  void use_run(Random& random) {
    const auto run = runs_.pick(random);
    if (random() % 8 == 0) tenon_run_interrupt(run.get());
    tenon_error* error = nullptr;
    tenon_string* text = nullptr;
    tenon_outcome* outcome = nullptr;
    tenon_run_state state = TENON_RUN_RUNNING;
    tenon_status status = TENON_OK;
    switch (random() % 10) {
      case 0:
      case 1:
        status = tenon_run_wait(run.get(), random() % 4, random() % 5 == 0 ? nullptr : &state, &error);
        break;
      case 2:
        status = tenon_run_questions(run.get(), &text, &error);
        break;
      case 3:
        status = tenon_run_prompts(run.get(), &text, &error);
        break;
      case 4:
        status = tenon_run_outcome(run.get(), &outcome, &error);
        break;
      case 5:
        status = tenon_run_answer(run.get(), random() % 4 == 0 ? "7.7" : nullptr, tenon_text_of("red"), &error);
        break;
      case 6:
        status = tenon_run_prompt(run.get(), tenon_text_of("hello"), &error);
        break;
      case 7:
        status = tenon_run_cancel(run.get(), "enough", &error);
        break;
      case 8:
        status = tenon_run_cancel_turn(run.get(), nullptr, &error);
        break;
      case 9:
        static_cast<void>(tenon_run_name(run.get()));
        static_cast<void>(tenon_run_title(run.get()));
        static_cast<void>(tenon_run_number(run.get()));
        break;
    }
    check(status, error);
    tenon_string_free(text);
    if (outcome != nullptr && tenon_outcome_state(outcome) == TENON_RUN_RUNNING) give_up("an outcome of a running run");
    tenon_outcome_free(outcome);
  }

  /// Of a stored run, or of one that is not stored.
  void use_record(Random& random) {
    const auto run = runs_.pick(random);
    const auto engine = engines_.pick(random);
    const char* const found = tenon_run_name(run.get());
    const std::string name = found == nullptr ? "nothing" : found;
    tenon_error* error = nullptr;
    tenon_string* text = nullptr;
    tenon_run* made = nullptr;
    tenon_status status = TENON_OK;
    switch (random() % 4) {
      case 0:
        status = tenon_run_fork(engine.get(), name.c_str(), random() % 6, nullptr, flags(random), &made, &error);
        break;
      case 1:
        status = tenon_run_replay(engine.get(), name.c_str(), nullptr, &text, &error);
        break;
      case 2:
        status = tenon_run_artifacts(engine.get(), name.c_str(), random() % 2 == 0 ? "hash" : "json", &text, &error);
        break;
      case 3:
        status = tenon_run_resume(engine.get(), name.c_str(), flags(random), &made, &error);
        break;
    }
    check(status, error);
    tenon_string_free(text);
    runs_.add(made);
  }

  void use_engine(Random& random) {
    const auto engine = engines_.pick(random);
    switch (random() % 8) {
      case 0:
      case 1:
      case 2: {
        tenon_event* event = nullptr;
        const auto run = random() % 2 == 0 ? runs_.pick(random) : nullptr;
        done([&](tenon_error** error) {
          return tenon_next_event(engine.get(), run.get(), random() % 3, &event, error);
        });
        tenon_event_free(event);
        break;
      }
      case 3:
      case 4: {
        tenon_stop stops[4];
        std::size_t count = 0;
        done([&](tenon_error** error) {
          return tenon_next_stops(engine.get(), random() % 2, stops, std::size(stops), &count, error);
        });
        if (count > std::size(stops)) give_up("more stops than were asked for");
        break;
      }
      case 5: {
        int descriptor = -1;
        done([&](tenon_error** error) { return tenon_engine_descriptor(engine.get(), &descriptor, error); });
        break;
      }
      case 6:
        load(engine.get(), random() % 2 == 0 ? "fn main() -> i32 { y }" : "fn half(n: i32) -> i32 { 9 / n }");
        break;
      case 7:
        if (random() % 8 == 0)
          done([&](tenon_error** error) { return tenon_engine_stop(engine.get(), random() % 3, error); });
        break;
    }
  }

  void act(Random& random) {
    if (has_hosts_ && random() % 2 == 0) return hosts_.act(random);
    switch (random() % 12) {
      case 0:
      case 1:
        return start(random);
      case 2:
      case 3:
        return call(random);
      case 4:
      case 5:
      case 6:
        return use_run(random);
      case 7:
        return use_engine(random);
      case 8:
        return use_record(random);
      case 9:
        begun.end_one();
        return;
      case 10:
        return random() % 3 == 0 ? programs_.drop_one(random) : runs_.drop_one(random);
      case 11:
        if (random() % 16 == 0) return open_engine();
        if (random() % 16 == 0) return engines_.drop_one(random);
        begun.end_one();
        return;
    }
  }

  const std::string file_;
  const std::string store_;
  Pool<tenon_engine> engines_{tenon_engine_free};
  Pool<tenon_program> programs_{tenon_program_free};
  Pool<tenon_run> runs_{tenon_run_free};
  Hosts hosts_;
  bool has_hosts_ = false;
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) {
    std::fprintf(stderr, "usage: %s PROGRAM FIRST_SEED SEEDS\n", arguments[0]);
    return 2;
  }
  const auto first = static_cast<unsigned>(std::strtoul(arguments[2], nullptr, 10));
  const auto seeds = static_cast<unsigned>(std::strtoul(arguments[3], nullptr, 10));
  char folder[] = "/tmp/tenon_calls_XXXXXX";
  if (::mkdtemp(folder) == nullptr) give_up("no folder can be made");
  for (unsigned seed = first; seed < first + seeds; ++seed) {
    place = "seed " + std::to_string(seed);
    ::alarm(seconds_max);  // a call that hangs ends the program
    // Every other seed has a store, which one engine at a time can own.
    const std::string store = std::string(folder) + "/" + std::to_string(seed) + ".store";
    World(arguments[1], seed % 2 == 0 ? store : "").run(seed);
  }
  ::alarm(0);
  const std::string remove = "rm -rf '" + std::string(folder) + "'";
  if (std::system(remove.c_str()) != 0) give_up("its folder cannot be removed");
  std::printf("%u seeds, %ld calls\n", seeds, call_count.load());
  return 0;
}
