// bench_python_floor: the calls of bench/python/calls.py from C++, with tenon/tenon.hpp. Started in the repository's
// root. Prints JSON: microseconds for each, the best of several rounds.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <tenon/tenon.hpp>
#include <tuple>

namespace {

struct Order {
  std::string item;
  std::int32_t count = 0;
  double price = 0;
  bool rush = false;
};

constexpr int rounds = 7;
constexpr std::int32_t calls = 10'000;

template <class Call>
double best(Call call) {
  double found = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const auto begun = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - begun;
    found = std::min(found, passed.count() / calls);
  }
  return found;
}

std::int32_t number(std::int32_t n) {
  return n;
}

}  // namespace

template <>
struct tenon::native::Struct<Order> {
  static constexpr const char* name = "Order";
  static constexpr auto fields = std::make_tuple(field("item", &Order::item), field("count", &Order::count),
                                                 field("price", &Order::price), field("rush", &Order::rush));
};

int main() {
  tenon::host::Options options;
  options.add_extern("number", &number).add_extern("later", &number);
  const tenon::host::Engine engine(options);
  const tenon::host::Program program = engine.load("bench/python/calls.tn");
  const double add = best([&] {
    for (std::int32_t at = 0; at < calls; ++at) static_cast<void>(program.call<std::int32_t>("add", at, 2));
  });
  const Order order{"tea", 3, 1.5, true};
  const double same = best([&] {
    for (std::int32_t at = 0; at < calls; ++at) static_cast<void>(program.call<Order>("same", order));
  });
  const double loop = best([&] { static_cast<void>(program.call<std::int32_t>("counted", calls)); });
  const double externs = best([&] { static_cast<void>(program.call<std::int32_t>("numbers", calls)); });
  std::printf("{\"add\": %.3f, \"same\": %.3f, \"caller_thread\": %.3f}\n", add, same, externs - loop);
}
