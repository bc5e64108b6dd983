// Calls tenon/tenon.h in random orders from three threads: whatever they do, each call returns with a status that the
// header has, errors come with a message, nothing hangs, and the sanitizers find nothing. All functions of the headers
// are called. Arguments: the program, the first seed, how many seeds, and the folder of the source code. A seed decides
// what each thread does; how their calls mix is up to the machine.
#include <tenon/tenon.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "random_hosts.h"
#include "random_names.h"
#include "random_options.h"
#include "random_programs.h"
#include "random_support.h"

namespace {

constexpr int thread_count = 3;
constexpr int steps = 120;            // of a thread, in a seed
constexpr unsigned seconds_max = 60;  // for a seed

/// One seed: an engine or two, and what the threads do with them.
class World {
 public:
  World(std::string file, std::string store)
      : file_(std::move(file)), store_(std::move(store)), hosts_(file_, store_ + ".hosts") {}

  void run(unsigned seed) {
    open_engine();
    Random choices(seed);
    has_hosts_ = !store_.empty() && seed % 4 == 0;
    if (has_hosts_) hosts_.open(choices);
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < thread_count; ++thread) {
      threads.emplace_back([this, seed, thread] {
        Random random(seed * thread_count + thread);
        for (int step = 0; step < steps; ++step) act(random);
      });
    }
    for (std::thread& thread : threads) thread.join();
    Random random(seed);
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
  void open_engine() {
    const auto options = make_options(store_);
    tenon_engine* engine = nullptr;
    done([&](tenon_error** error) { return tenon_engine_open(options.get(), &engine, error); });
    const auto opened = engines_.add(engine);
    load(opened.get(), nullptr);
  }

  void compile(tenon_engine* engine, const char* text) {
    tenon_program* program = nullptr;
    done([&](tenon_error** error) { return tenon_program_compile(engine, file_.c_str(), text, &program, error); });
    programs_.add(program);
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
        {"mixed", all_values},
        {"attempted", all_values},
        {"consulted", R"({"question":"Why?"})"},
        {"none", "{}"}};
    const auto program = programs_.pick(random);
    const auto& [function, arguments] = functions[random() % std::size(functions)];
    tenon_run* run = nullptr;
    tenon_error* error = nullptr;
    const bool is_agent = random() % 4 == 0;
    const tenon_status status =
        is_agent ? tenon_run_start_agent(program.get(), random() % 8 == 0 ? "Nobody" : "Consultant", flags(random),
                                         &run, &error)
                 : tenon_run_start(program.get(), function, tenon_text_of(arguments), flags(random), &run, &error);
    check(status, error);
    runs_.add(run);
  }

  void call(Random& random) {
    static const std::pair<const char*, const char*> functions[] = {
        {"slow_total", R"({"item":"x","count":2,"tags":[]})"}, {"half", "8"}, {"mixed", all_value}};
    const auto program = programs_.pick(random);
    tenon_call* made = nullptr;
    const auto& [function, argument] = functions[random() % std::size(functions)];
    if (done([&](tenon_error** error) { return tenon_call_new(program.get(), function, &made, error); }) != TENON_OK)
      return;
    const std::shared_ptr<tenon_call> call(made, tenon_call_free);
    if (random() % 8 == 0) write_anything(made, tenon_call_parameter(made, 0), random, 0);
    if (random() % 5 != 0) tenon_put_json(made, tenon_call_parameter(made, 0), argument);
    tenon_run* run = nullptr;
    const auto way = random() % 4;
    if (way < 2) {
      const tenon_value* value = nullptr;
      tenon_outcome* outcome = nullptr;
      tenon_error* error = nullptr;
      const tenon_status status =
          tenon_call_make(made, random() % 3, &value, &outcome, random() % 3 == 0 ? nullptr : &run, &error);
      check(status, error);
      if (value != nullptr) read_value(made, value, random, 0);
      free_outcome(outcome);
    } else {
      tenon_run_state state = TENON_RUN_RUNNING;
      done([&](tenon_error** error) {
        return way == 2 ? tenon_call_start(made, flags(random), &run, error)
                        : tenon_call_begin(made, &run, &state, error);
      });
      const tenon_value* value = nullptr;
      if (run != nullptr) done([&](tenon_error** error) { return tenon_call_value(made, run, &value, error); });
      if (value != nullptr) read_value(made, value, random, 0);
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
    switch (random() % 11) {
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
        take_questions(run.get());
        break;
      case 10:
        static_cast<void>(tenon_run_name(run.get()));
        static_cast<void>(tenon_run_title(run.get()));
        static_cast<void>(tenon_run_number(run.get()));
        break;
    }
    check(status, error);
    tenon_string_free(text);
    free_outcome(outcome);
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
    tenon_program* program = nullptr;
    tenon_status status = TENON_OK;
    switch (random() % 6) {
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
      case 4:
        status = tenon_program_of_run(engine.get(), name.c_str(), &program, &error);
        break;
      case 5:
        status = tenon_store_runs(make_options(store_).get(), nullptr, found, random() % 5, &text, &error);
        break;
    }
    check(status, error);
    tenon_string_free(text);
    runs_.add(made);
    programs_.add(program);
  }

  void use_engine(Random& random) {
    const auto engine = engines_.pick(random);
    if (random() % 4 == 0) tenon_engine_interrupt(engine.get());
    switch (random() % 9) {
      case 0:
      case 1:
      case 2: {
        tenon_event* event = nullptr;
        const auto run = random() % 2 == 0 ? runs_.pick(random) : nullptr;
        done([&](tenon_error** error) {
          return tenon_next_event(engine.get(), run.get(), random() % 3, &event, error);
        });
        free_event(event);
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
        if (random() % 2 == 0) return compile(engine.get(), random() % 8 == 0 ? "fn main() -> i32 { y }" : nullptr);
        load(engine.get(), random() % 2 == 0 ? "fn main() -> i32 { y }" : "fn half(n: i32) -> i32 { 9 / n }");
        break;
      case 7:
        done([&](tenon_error** error) { return tenon_engine_start_thread(engine.get(), error); });
        break;
      case 8:
        if (random() % 8 == 0)
          done([&](tenon_error** error) { return tenon_engine_stop(engine.get(), random() % 3, error); });
        break;
    }
  }

  void act(Random& random) {
    if (has_hosts_ && random() % 2 == 0) return hosts_.act(random);
    switch (random() % 13) {
      case 12: {
        const auto program = programs_.pick(random);
        return use_program(program.get(), random);
      }
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
  if (count < 5) {
    std::fprintf(stderr, "usage: %s PROGRAM FIRST_SEED SEEDS SOURCE_FOLDER\n", arguments[0]);
    return 2;
  }
  check_that_all_functions_are_called(arguments[4]);
  if (tenon_abi() < TENON_ABI || *tenon_version() == '\0') give_up("libtenon has no version");
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
