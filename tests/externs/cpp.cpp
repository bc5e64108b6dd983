// The C++ layer: user-defined values, exceptions, signatures from types.
#include <stdexcept>
#include <tenon/extern.hpp>

namespace {

struct Order {
  std::int64_t id = 0;
  double price = 0;
  std::vector<std::string> tags;
  std::optional<std::string> note;
};

enum class Mood { Good, Bad };
enum class Team { Billing, Tech };

}  // namespace

template <>
struct tenon::native::Struct<Order> {
  static constexpr const char* name = "Order";
  static constexpr auto fields = std::make_tuple(field("id", &Order::id), field("price", &Order::price),
                                                 field("tags", &Order::tags), field("note", &Order::note));
};
template <>
struct tenon::native::Enum<Mood> {
  static constexpr const char* name = "PlainMood";
  static constexpr Case<Mood> cases[] = {{Mood::Good, "Good"}, {Mood::Bad, "Bad"}};
};
template <>
struct tenon::native::Enum<Team> {
  static constexpr const char* name = "String";
  static constexpr Case<Team> cases[] = {{Team::Billing, "billing"}, {Team::Tech, "tech"}};
};

namespace {

std::vector<Order> raise(std::vector<Order> orders, double factor) {
  for (Order& order : orders) {
    order.price *= factor;
    order.tags.push_back("raised");
    if (!order.note) order.note = "none before";
  }
  return orders;
}
TENON_FUNCTION(raise)

Mood opposite(Mood mood) {
  return mood == Mood::Good ? Mood::Bad : Mood::Good;
}
TENON_FUNCTION(opposite)

Team other_team(Team team) {
  return team == Team::Tech ? Team::Billing : Team::Tech;
}
TENON_FUNCTION(other_team)

std::map<std::string, std::int64_t> count_words(const std::vector<std::string>& words) {
  std::map<std::string, std::int64_t> counts;
  for (const std::string& word : words) ++counts[word];
  return counts;
}
TENON_FUNCTION(count_words)

std::tuple<std::int32_t, bool> swap_pair(const std::tuple<bool, std::int32_t>& pair) {
  return {std::get<1>(pair), std::get<0>(pair)};
}
TENON_FUNCTION(swap_pair)

void nothing_at_all(std::string_view) {}
TENON_FUNCTION(nothing_at_all)

std::string with_key(tenon::native::Call call, const std::string& text) {
  return text + "@" + std::string(call.effect_key());
}
TENON_FUNCTION(with_key)

std::int64_t throw_out(std::int64_t) {
  throw std::invalid_argument("no number will do");
}
TENON_FUNCTION(throw_out)

std::vector<double> scale(const std::vector<double>& numbers) {
  std::vector<double> twice;
  for (const double number : numbers) twice.push_back(number * 2);
  return twice;
}
TENON_FUNCTION_AS(scale_all, scale)

}  // namespace

// Without the layer: what an unwrapped C++ library does.
TENON_EXTERN(throws_through_c) {
  static_cast<void>(call);
  throw std::runtime_error("thrown through the C interface");
}
extern "C" TENON_EXPORT std::int32_t throws_through_libffi() {
  throw std::runtime_error("thrown through libffi");
}
TENON_EXPORT std::int32_t mangled_name(std::int32_t x);
std::int32_t mangled_name(std::int32_t x) {
  return x;
}
