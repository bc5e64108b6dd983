// A program in C++ that uses tenon/tenon.hpp. Its argument is the path of desk.tn.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <tenon/tenon.hpp>
#include <thread>
#include <vector>

struct Order {
  std::string item;
  std::int32_t count = 0;
  std::vector<std::string> tags;
};
template <>
struct tenon::native::Struct<Order> {
  static constexpr const char* name = "Order";
  static constexpr auto fields =
      std::make_tuple(field("item", &Order::item), field("count", &Order::count), field("tags", &Order::tags));
};

namespace {

using namespace tenon;
using std::chrono::seconds;

int checks = 0;

void check(bool condition, int line) {
  ++checks;
  if (condition) return;
  std::fprintf(stderr, "host.cpp:%d: this does not hold\n", line);
  std::exit(1);
}
#define CHECK(condition) check((condition), __LINE__)

/// What an exception of the class says; an empty text if none was thrown.
template <class Exception, class Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const Exception& exception) {
    return exception.what();
  }
  return {};
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

std::int32_t price(const std::string& item) {
  if (item == "gold") throw std::runtime_error("gold is not sold");
  return 7;
}

/// Calls in progress, on threads of their own or for ever.
struct Calls {
  std::vector<std::thread> threads;
  std::vector<host::DeferredCall> kept;
};

host::Options options_of_the_desk(Calls& calls) {
  host::Options options;
  options.add_extern("price", &price);
  options.add_extern(
      "slow_price", host::Options::Function([&calls](tenon_call* raw) {
        auto call = host::defer(raw);
        if (!call) return;
        if (host::view(tenon_as_text(raw, tenon_argument(raw, 0))) == "never") {
          return calls.kept.push_back(std::move(*call));
        }
        calls.threads.emplace_back([call = std::move(*call)]() mutable { call.finish(std::int32_t{9}); });
      }));
  options.set_model("mind", [](host::Generation generation, std::string_view request) {
    if (contains(std::string(request), "Bob")) return;  // and no answer
    generation.add("Hello, ");
    generation.finish("Hello, Ada!");
  });
  return options;
}

void calls(const host::Engine& engine, const host::Program& desk) {
  const Order tea{"tea", 3, {"green"}};
  CHECK(desk.call<std::int32_t>("total", tea) == 21);
  const auto doubled = desk.call<Order>("twice", tea);
  CHECK(doubled.count == 6 && doubled.tags == tea.tags);
  CHECK(desk.call<std::int32_t>("slow_total", tea) == 27);
  CHECK(desk.call<std::string>("greet", std::string("Ada")) == "Hello, Ada!");

  CHECK(contains(message_of<host::RunFailure>([&] { desk.call("total", Order{"gold", 1, {}}); }), "gold is not sold"));
  CHECK(contains(message_of<host::RunFailure>([&] { desk.call("greet", std::string("Bob")); }), "no answer"));
  CHECK(contains(message_of<host::RunFailure>([&] { desk.call("colour"); }), "Which colour?"));
  CHECK(contains(message_of<host::Error>([&] { desk.call("half", 1.5); }), "i32"));
  CHECK(contains(message_of<host::Error>([&] { desk.call("half", 1, 2); }), "fewer parameters"));
  CHECK(contains(message_of<host::Error>([&] { desk.call<std::string>("half", 1); }), "expected type"));
  CHECK(contains(message_of<host::Error>([&] { desk.call("hlf"); }), "did you mean `half`?"));
  CHECK(contains(message_of<host::Error>([&] { static_cast<void>(engine.load_text("x.tn", "fn main() { y }")); }),
                 "cannot find `y`"));
  try {
    static_cast<void>(engine.load_text("x.tn", "fn main() { y }"));
    CHECK(false);
  } catch (const host::Error& error) {
    CHECK(error.problems().size() == 1 && error.problems()[0].line == 1 && error.problems()[0].path == "x.tn");
  }
  CHECK(desk.warning_list().empty());
  const host::Description described = desk.description();
  const std::vector<tenon_callable> functions = described.callables(TENON_FUNCTIONS);
  CHECK(host::view(functions.at(0).name) == "total" && described.parameters(TENON_FUNCTIONS, 0).size() == 1);
  const std::size_t order = described.parameters(TENON_FUNCTIONS, 0)[0].type;
  CHECK(host::view(described.types().at(order).name) == "Order" && described.members(order).size() == 3);
}

void runs(const host::Engine& engine, const host::Program& desk) {
  const host::Run colour = desk.start("colour", "{}", host::Events::Yes);
  CHECK(!colour.name());
  CHECK(colour.wait(seconds{10}) == TENON_RUN_ASKS);
  CHECK(contains(colour.questions(), "Which colour?"));
  CHECK(colour.open_questions().size() == 1 && colour.open_questions()[0].question == "Which colour?");
  CHECK(!colour.outcome());
  colour.answer("", "red");
  CHECK(colour.wait_for_value() == "\"It is red.\"");
  std::string types;
  while (const auto event = engine.next_event(colour, seconds{0})) types += std::string(event->type()) + " ";
  CHECK(types == "prompt_started wait_for_input resume_with_input turn_end ");

  const host::Run counter = desk.start_agent("Counter");
  counter.prompt("one");
  CHECK(contains(message_of<host::Error>([&] { counter.prompt("two"); }), "in progress"));
  CHECK(counter.wait(seconds{10}) == TENON_RUN_READY);
  counter.prompt("two");
  CHECK(counter.wait(seconds{10}) == TENON_RUN_READY);
  CHECK(counter.outcome()->value() == "\"2: two\"");
  counter.cancel("enough");
  CHECK(counter.wait() == TENON_RUN_CANCELLED);
  const auto ended = counter.outcome();
  CHECK(ended->message() == "enough");
  CHECK(contains(message_of<host::RunFailure>([&] { static_cast<void>(ended->value_or_throw()); }), "enough"));

  const host::Run slow = desk.start("slow_total", R"({"order": {"item": "tea", "count": 1, "tags": []}})");
  CHECK(slow.wait(seconds{10}) == TENON_RUN_RETURNED);
}

/// A host of a store: runs that other processes may follow and continue.
void hosts(const char* desk, Calls& in_progress) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tenon-host-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  {
    host::Options options = options_of_the_desk(in_progress);
    options.set("store", (folder / "store.db").string());
    const host::Host shop(options, host::Host::Role::Host, {desk});
    shop.begin();
    const std::string run = shop.start("colour", {}, {"key", seconds{10}});
    CHECK(shop.start("colour", {}, {"key", seconds{10}}) == run);
    const host::Follower follower = shop.follow(run);
    CHECK(follower.descriptor() >= 0);
    std::optional<host::Event> event;
    do {
      CHECK(follower.next(event, seconds{10}) == host::Follower::State::Event);
    } while (event->type() != "wait_for_input");
    CHECK(follower.next(event, seconds{0}) == host::Follower::State::Nothing);
    CHECK(follower.state() == TENON_RUN_ASKS && !shop.outcome(run));
    CHECK(contains(message_of<host::Error>([&] { shop.answer(run, "", "3"); }), "string"));
    shop.answer(run, "", "\"red\"", {{}, seconds{10}});
    while (follower.next(event, seconds{10}) == host::Follower::State::Event) {
    }
    CHECK(contains(shop.run(run), "\"state\":\"done\"") && shop.outcome(run)->value() == "\"It is red.\"");
    CHECK(contains(shop.runs("done"), run.c_str()) && shop.runs("failed") == "[]" && shop.runs({}, run) == "[]");
    CHECK(contains(shop.owners(), "\"role\":\"host\"") && contains(shop.counts(), "\"done\":1"));
    CHECK(shop.pools_without_hosts() == "[]" && shop.release(10, seconds{10}) == 0);
    const std::string counter = shop.start("Counter");
    shop.prompt(counter, "\"one\"");
    const host::Follower turns = shop.follow(counter);
    do {
      CHECK(turns.next(event, seconds{10}) == host::Follower::State::Event);
    } while (event->type() != "turn_end");
    CHECK(contains(message_of<host::Error>([&] { shop.cancel_turn(counter, "enough"); }), "no turn"));
    shop.cancel(counter, "enough");
    CHECK(contains(shop.status(), "\"lease\":\"held\"") && contains(shop.describe(), "Counter"));
    CHECK(shop.serve("127.0.0.1") != 0);
    shop.stop(seconds{1});
  }
  std::filesystem::remove_all(folder);
}

/// A run that is recorded, read, forked, and replayed.
void recorded_runs(Calls& in_progress, const char* path, const std::string& store) {
  const host::Engine engine(options_of_the_desk(in_progress).set("store", store).set_worker({"/nonexistent"}));
  const host::Program desk = engine.load(path);
  const host::Run run = desk.start("colour", "{}", host::Events::Yes);
  CHECK(run.wait(seconds{10}) == TENON_RUN_ASKS && run.title() == "colour" && run.prompts() == "[]");
  run.answer("", "red");
  CHECK(run.wait_for_value() == "\"It is red.\"");
  const std::string name = *run.name();
  CHECK(contains(engine.artifacts(name, "calls"), "Which colour?"));
  CHECK(engine.replay(name).empty());
  const host::Program changed = engine.load_text("x.tn", R"(fn colour() -> String { ask<String>("Which colour?") })");
  CHECK(contains(engine.replay(name, &changed), "It is red."));
  CHECK(contains(engine.program_of(name).describe(), "colour"));
  const host::Run fork = engine.fork(name, 2);
  CHECK(fork.wait(seconds{10}) == TENON_RUN_ASKS);
  CHECK(engine.next_stops(4, seconds{0}).empty());
  const host::Program compiled = engine.compile(path);
  CHECK(compiled.tests() == "[]" && compiled.graph("dot").find("Counter") != std::string::npos);
  CHECK(contains(message_of<host::Error>([&] { static_cast<void>(compiled.run_test(0)); }), "no such test"));
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  Calls in_progress;
  {
    const host::Engine engine(options_of_the_desk(in_progress));
    const host::Program desk = engine.load(arguments[1]);
    CHECK(contains(desk.describe(), "slow_price") && desk.warnings() == "[]");
    calls(engine, desk);
    runs(engine, desk);
    CHECK(engine.descriptor() >= 0);

    const host::Run endless = desk.start("slow_total", R"({"order": {"item": "never", "count": 1, "tags": []}})");
    std::string why;
    std::thread waiter([&] { why = message_of<host::Error>([&] { endless.wait(); }); });
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    engine.stop(std::chrono::milliseconds{10});
    waiter.join();
    CHECK(why == "the engine was stopped");
    CHECK(message_of<host::Error>([&] { desk.call("colour"); }) == why);
    CHECK(message_of<host::Error>([&] { static_cast<void>(engine.next_event(host::forever)); }) == why);
  }
  hosts(arguments[1], in_progress);
  char folder[] = "/tmp/tenon-library-cpp-XXXXXX";
  CHECK(mkdtemp(folder) != nullptr);
  recorded_runs(in_progress, arguments[1], std::string(folder) + "/runs.db");
  std::filesystem::remove_all(folder);
  for (std::thread& thread : in_progress.threads) thread.join();
  CHECK(contains(message_of<host::Error>([] { host::Options().set("modl", "x"); }), "did you mean `model`?"));
  std::printf("%d checks passed\n", checks);
}
